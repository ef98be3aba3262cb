import CDTDatastore
import CDTJSON
import CouchDB

/// A local document that a client sends. As at CouchDB, its revision is the one that it names plus 1, and is not checked.
struct LocalDocumentInput: Sendable {
  /// The id without `_local/`.
  let id: String
  /// `nil` for a deletion.
  private let document: LocalDocument?

  /// What the ids begin with, as clients write them.
  static let prefix = "_local/"

  /// Throws ``CouchError`` with status 400 if no local document of a client can have the id.
  static func checkID(_ id: String) throws(CouchError) {
    guard !id.isEmpty else { throw CouchError(400, "illegal_docid", "Document id must not be empty") }
    guard !DatabaseSettings.isReserved(id) else {
      throw CouchError(
        400, "illegal_docid", "The id of a local document must not begin with a control character")
    }
  }

  init(id: String, _ bytes: UnsafeRawBufferPointer, _ limits: ServerConfiguration.Limits) throws(CouchError) {
    try Self.checkID(id)
    guard bytes.count <= limits.documentLength else { throw .tooLarge(limits.documentLength) }
    let object: JSONObject
    do throws(JSONError) {
      object = try JSONObject(parsing: bytes)
    } catch {
      throw error.code == .notAnObject ? .documentNotAnObject : .invalidJSON(error)
    }
    let revision = try Self.revision(after: object["_rev"])
    self.id = id
    document =
      object["_deleted"] == true
      ? nil
      : LocalDocument(body: object.filter { !ReservedMember.isReserved($0.key) }, revision: revision)
  }

  private static func revision(after sent: JSONValue?) throws(CouchError) -> Int {
    guard let sent, sent != .null else { return 1 }
    guard case .string(let text) = sent, let known = LocalDocument.revision(text), known < .max else {
      throw .invalidRevision
    }
    return known + 1
  }

  var isDeletion: Bool { document == nil }

  func save(in transaction: WriteTransaction) throws {
    if let document {
      try transaction.setLocalDocument(document, withID: id)
    } else {
      try transaction.setLocalDocument(nil, withID: id)
    }
  }

  /// What the client is told when the document is saved.
  var reply: JSONObject { Self.reply(id, document?.revision ?? 0) }

  static func reply(_ id: String, _ revision: Int) -> JSONObject {
    ["ok": true, "id": .string(prefix + id), "rev": .string("0-\(revision)")]
  }
}
