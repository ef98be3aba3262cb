/// A term of an order that the rows of an index have: a field of the index, or the document's id.
package struct OrderTerm: Sendable, Hashable {
  /// The position of the index's field; `nil` is the id.
  package let field: Int?
  package let isDescending: Bool

  package init(field: Int?, isDescending: Bool) {
    (self.field, self.isDescending) = (field, isDescending)
  }
}

extension SortOrder {
  /// The order of an index whose documents have one row each: its fields, then the id.
  init(of definition: IndexDefinition) {
    self.init(
      fields: definition.fields.map { Field(path: $0.fieldPath, isDescending: $0.isDescending) },
      collation: definition.collation)
  }
}
