import JSON

/// Something that a query's SQL functions take as a pointer: it is made for one run of one statement.
package class QueryObject {
  /// How many times a function was asked of a document.
  final var calls = 0
  /// Where a document is whose columns are NULL: see ``QuerySQL/cachedJoin(_:)``.
  final var documents: DocumentCache?

  /// The type that guards the pointer in SQL; each class has its own, so that a pointer is what it is taken for.
  class var pointerType: StaticString { "cdt-query-object" }
}

/// A clause for `cdt_match`, and the failure that ended the statement, if one did.
package final class MatchObject: QueryObject {
  override class var pointerType: StaticString { "cdt-match-object" }

  private let ready: MatchProgram?
  private let clause: Clause
  private let text: TextProgram?
  private lazy var deferred = MatchProgram(clause, text: text)
  /// Whether it has to be given the document's id and revision, too.
  let readsDocumentFields: Bool
  var failure: (match: MatchFailure, document: FailedDocument)?

  /// What is known of a document on which a match was given up.
  enum FailedDocument {
    case id(String)
    case sequence(Int64)
  }

  /// - Parameter isDeferred: Whether the clause is compiled only for the first document: those that are not in an index
  ///   yet come last, and a limit is often reached before.
  init(_ clause: Clause, text: TextProgram?, isDeferred: Bool) {
    self.clause = clause
    self.text = text
    ready = isDeferred ? nil : MatchProgram(clause, text: text)
    readsDocumentFields = clause.readsDocumentFields
  }

  @inline(__always)
  func withProgram<R>(_ body: (MatchProgram) -> R) -> R {
    if let ready { return body(ready) }
    return body(deferred)
  }
}

/// A clause, ready to be asked of documents.
final class MatchProgram {
  let matcher: Matcher
  private let required: RequiredText?

  init(_ clause: Clause, text: TextProgram?) {
    matcher = Matcher(clause, text: text)
    required = RequiredText(of: clause)
  }

  /// Whether a document can't match, as its text lacks bytes that it would hold.
  @inline(__always)
  func rules(out body: UnsafeRawBufferPointer) -> Bool {
    guard let required else { return false }
    return !required.isIn(body)
  }
}

/// A sort for `cdt_order`, and for `cdt_tag` and `cdt_value` of a document's fields.
package final class SortObject: QueryObject {
  override class var pointerType: StaticString { "cdt-sort-object" }

  let sort: SortOrder
  private var key = OrderKey()
  /// How many of the smallest keys are wanted; 0 is all of them.
  private let wanted: Int
  /// The smallest keys that were met, in order.
  private var least: [OrderKey] = []

  init(_ sort: SortOrder, wanted: Int = 0) {
    self.sort = sort
    self.wanted = wanted
    least.reserveCapacity(wanted + 1)
  }

  /// Makes the bytes that put a document in its place.
  ///
  /// - Returns: Whether the document may be among the wanted ones: fewer have been met that come before it.
  func meet(_ bytes: JSONBytes, id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer) -> Bool {
    calls += 1
    sort.write(bytes, id: id, revision: revision, to: &key)
    guard wanted > 0 else { return true }
    if least.count == wanted, let last = least.last {
      // Of equal keys the id decides, which is not looked at here.
      if last < key { return false }
      if key == last { return true }
      least.removeLast()
    }
    least.insert(key, at: least.firstIndex { key < $0 } ?? least.count)
    return true
  }

  /// Gives the bytes of the document that was met last to `body`.
  func withKey(_ body: (UnsafeRawBufferPointer) -> Void) {
    key.bytes.withUnsafeBytes(body)
  }

  /// The key that an index would have for the field: the one that puts the document in its place.
  func key(of field: Int, in body: JSONBytes) -> IndexKey {
    guard sort.fields.indices.contains(field) else { return .nothing }
    let values = FieldValues(of: sort.fields[field].path, in: body)
    let keys = values.offsets.map { IndexKey(body, at: $0) }
    return (sort.fields[field].isDescending ? keys.max() : keys.min()) ?? .nothing
  }
}

/// The members of `$in`, for `cdt_tag` and `cdt_value` by position.
package final class KeySet: QueryObject {
  let keys: [IndexKey]

  init(_ keys: [IndexKey]) {
    self.keys = keys
  }
}
