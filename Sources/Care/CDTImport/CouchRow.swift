import CDTDatastore
import CDTJSON
import CDTPlatform

/// A row of CouchDB's `_all_docs` or `_changes`, which has a document in it.
///
/// ```
/// {"id": "a", "key": "a", "value": {"rev": "1-x"}, "doc": {"_id": "a", …}}
/// {"seq": "5-g1AAA", "id": "a", "changes": [{"rev": "1-x"}], "doc": {"_id": "a", …}}
/// ```
enum CouchRow {
  /// The offset of the document.
  case document(Int)
  /// The document was deleted, or does not exist.
  case deleted
  /// The reply was read without its documents.
  case withoutDocument
  /// The last line of a continuous `_changes`: `{"last_seq": …, "pending": 0}`.
  case end

  private static let members: Set<String> = [
    "id", "key", "value", "doc", "seq", "changes", "deleted", "error", "last_seq",
    "pending",
  ]

  /// - Parameter text: The compact text of an object.
  /// - Returns: `nil` if it is not such a row.
  init?(_ text: JSONBytes) {
    var found: [String: Int] = [:]
    var iterator = text.members(at: 0)
    while let member = iterator.next() {
      guard member.keyEnd - member.keyStart <= 8 else { return nil }
      let name = text.string(at: member.keyStart - 1)
      guard Self.members.contains(name) else { return nil }
      found[name] = member.value
    }
    if found["last_seq"] != nil, found.count == (found["pending"] == nil ? 1 : 2) {
      self = .end
      return
    }
    let isChange =
      found["seq"] != nil && found["id"] != nil && found["changes"].map { text.kind(at: $0) } == .array
    let revision = found["value"].flatMap { text.member(spelled: Array("rev".utf8), at: $0) }
    let hasDocument = found["doc"].map { text.kind(at: $0) } == .object
    let isRow = found["id"] != nil && found["key"] != nil && (revision != nil || hasDocument)
    let isMissing = found.count == 2 && found["key"] != nil && found["error"] != nil
    guard isChange || isRow || isMissing else { return nil }
    if let document = found["doc"], text.kind(at: document) == .object {
      self = .document(document)
    } else {
      let mark =
        found["deleted"] ?? found["value"].flatMap { text.member(spelled: Array("deleted".utf8), at: $0) }
      let isDeleted = isMissing || mark.map { text.kind(at: $0) } == .true
      self = isDeleted ? .deleted : .withoutDocument
    }
  }
}
