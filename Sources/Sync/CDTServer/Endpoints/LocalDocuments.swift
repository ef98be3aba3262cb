import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// Local documents, which replicators keep checkpoints in.
extension RequestContext {
  /// The id of the local document that the path names.
  private var localID: String { names["local"] ?? "" }

  func localDocument() async throws -> Response {
    let id = localID
    try LocalDocumentInput.checkID(id)
    guard let document = try await database.readDocuments({ try $0.localDocumentEntry(withID: id) }) else {
      throw CouchError.missing
    }
    return Reply.text(Self.localDocumentText(id, document))
  }

  func putLocalDocument() async throws -> Response {
    try LocalDocumentInput.checkID(localID)
    return try await saveLocalDocument(localID, await body(limit: limits.documentLength))
  }

  func deleteLocalDocument() async throws -> Response {
    let id = localID
    try LocalDocumentInput.checkID(id)
    let isThere = try await database.writeWithoutRollback { transaction in
      guard try transaction.localDocument(withID: id) != nil else { return false }
      try transaction.setLocalDocument(nil, withID: id)
      return true
    }
    guard isThere else { throw CouchError.missing }
    return Reply.json(LocalDocumentInput.reply(id, 0))
  }

  /// Saves the document that was sent as the body of a request.
  func saveLocalDocument(_ id: String, _ bytes: ByteBuffer) async throws -> Response {
    let input = try bytes.withUnsafeReadableBytes { bytes throws(CouchError) in
      try LocalDocumentInput(id: id, bytes, limits)
    }
    try await database.writeWithoutRollback { try input.save(in: $0) }
    return Reply.json(
      input.reply, input.isDeletion ? .ok : .created,
      headers: [.location: url(try database.name, LocalDocumentInput.prefix + id)])
  }

  /// Copies a local document, to another local one or to a document.
  func copyLocalDocument() async throws -> Response {
    let (target, named) = try destination()
    let id = localID
    guard let source = try await database.readDocuments({ try $0.localDocumentEntry(withID: id) }) else {
      throw CouchError.missing
    }
    if let local = target.afterBytePrefix(LocalDocumentInput.prefix) {
      return try await saveCopy(source.body, asLocal: String(local))
    }
    let bytes = ByteBuffer(bytes: source.body.utf8Text)
    var input = try bytes.withUnsafeReadableBytes { try DocumentInput($0) }
    input.revisionID = named
    return try await save(input, id: target)
  }

  /// Saves the body of a document as a local one.
  func saveCopy(_ body: JSONObject, asLocal id: String) async throws -> Response {
    try await saveLocalDocument(id, ByteBuffer(bytes: body.utf8Text))
  }

  private static func localDocumentText(_ id: String, _ document: LocalDocument) -> [UInt8] {
    var json: JSONObject = [
      "_id": .string(LocalDocumentInput.prefix + id), "_rev": .string("0-\(max(1, document.revision))"),
    ]
    for (key, value) in document.body { json[key] = value }
    return json.utf8Text
  }

  /// A local document in a list.
  ///
  /// - Parameter key: The id as clients write it.
  /// - Returns: `nil` if there is none.
  static func localDocumentRow(
    _ key: String, withDocument: Bool, _ transaction: ReadTransaction
  ) throws -> [UInt8]? {
    guard let id = key.afterBytePrefix(LocalDocumentInput.prefix), !DatabaseSettings.isReserved(id),
      let document = try transaction.localDocumentEntry(withID: id)
    else { return nil }
    let name = JSONValue.string(key)
    let row: JSONObject = [
      "id": name, "key": name, "value": ["rev": .string("0-\(max(1, document.revision))")],
    ]
    guard withDocument else { return row.utf8Text }
    return Array(row.utf8Text.dropLast()) + Array(#","doc":"#.utf8) + localDocumentText(id, document) + [
      UInt8(ascii: "}")
    ]
  }

  // MARK: Lists

  /// Answers `_local_docs`.
  func localDocuments() async throws -> Response {
    let options = try await listOptions()
    return Reply.text(try await database.read { try Self.list(options, $0) })
  }

  /// Answers `{"queries": [{…}, …]}`: several lists in one.
  func localDocumentsQueries() async throws -> Response {
    let queries = try await listQueries()
    let lists = try await database.read { transaction in try queries.map { try Self.list($0, transaction) } }
    return Reply.text(
      Array(#"{"results":["#.utf8) + lists.joined(separator: Array(",\n".utf8)) + Array("]}".utf8))
  }

  private static func list(_ options: ListOptions, _ transaction: ReadTransaction) throws -> [UInt8] {
    let rows: [[UInt8]]
    if let keys = options.wantedKeys {
      rows = try keys.map { key in
        let known = try key.stringValue.flatMap {
          try localDocumentRow($0, withDocument: options.includesDocuments, transaction)
        }
        return known ?? AllDocsRequest.missingRow(key)
      }
    } else {
      let names = try transaction.localDocumentIDs().filter { !DatabaseSettings.isReserved($0) }
        .map { LocalDocumentInput.prefix + $0 }
      rows = try options.page(of: names).compactMap {
        try localDocumentRow($0, withDocument: options.includesDocuments, transaction)
      }
    }
    return Array(#"{"total_rows":null,"offset":null,"rows":["#.utf8)
      + rows.joined(separator: Array(",\n".utf8)) + Array("]}".utf8)
  }
}

/// A local document that a client sends. As at CouchDB, its revision is the one that it names plus 1, and is not checked.
struct LocalDocumentInput: Sendable {
  /// The id without `_local/`.
  let id: String
  /// `nil` for a deletion.
  private let document: LocalDocument?

  /// The prefix of the ids, as clients write them.
  static let prefix = "_local/"

  /// Throws `CouchError` with status 400 if no local document of a client can have the id.
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

  /// The reply when the document is saved.
  var reply: JSONObject { Self.reply(id, document?.revision ?? 0) }

  static func reply(_ id: String, _ revision: Int) -> JSONObject {
    ["ok": true, "id": .string(prefix + id), "rev": .string("0-\(revision)")]
  }
}

extension NormalizedObject {
  /// The id of a local document, without `_local/`; `nil` for another document.
  var localID: String? {
    guard case .string(let id)? = reserved.last(where: { $0.name == "_id" })?.value else { return nil }
    return id.afterBytePrefix(LocalDocumentInput.prefix)
  }
}
