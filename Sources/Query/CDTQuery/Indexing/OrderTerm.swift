/// A term of an order that the rows of an index have: a field of the index, or the document's id.
package struct OrderTerm: Sendable, Hashable {
  /// The position of the index's field; `nil` is the id.
  let field: Int?
  let isDescending: Bool
}
