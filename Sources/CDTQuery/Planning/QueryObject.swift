import JSON

/// Something that a query's SQL functions take as a pointer: it is made for one run of one statement.
package class QueryObject {
  /// The type that guards the pointer in SQL; each class has its own, so that a pointer is what it is taken for.
  class var pointerType: StaticString { "cdt-query-object" }
}

/// A clause for `cdt_match`, and the failure that ended the statement, if one did.
package final class MatchObject: QueryObject {
  override class var pointerType: StaticString { "cdt-match-object" }

  let matcher: Matcher
  let required: RequiredText?
  /// Whether it has to be given the document's id and revision, too.
  let readsDocumentFields: Bool
  var failure: (match: MatchFailure, document: FailedDocument)?

  /// What is known of a document on which a match was given up.
  enum FailedDocument {
    case id(String)
    case sequence(Int64)
  }

  init(_ clause: Clause, text: TextProgram?) {
    readsDocumentFields = clause.readsDocumentFields
    matcher = Matcher(clause, text: text)
    required = RequiredText(of: clause)
  }
}

/// A sort for `cdt_order`, and for `cdt_tag` and `cdt_value` of a document's fields.
package final class SortObject: QueryObject {
  let sort: SortOrder

  init(_ sort: SortOrder) {
    self.sort = sort
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
