import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// A local document, which replicators keep checkpoints in. As at CouchDB, its revision is not checked.
struct LocalDocumentEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess
  let id: String

  /// What the ids begin with, as clients write them.
  static let prefix = "_local/"

  private func checkID() throws(CouchError) {
    guard !id.isEmpty, !DatabaseSettings.isReserved(id) else {
      throw CouchError(400, "illegal_docid", "Only reserved document ids may start with a control character.")
    }
  }

  func respond() async throws -> Response {
    try checkID()
    let (store, id) = (access.database.store, id)
    switch exchange.method {
    case .get, .head:
      guard let document = try await store.read({ try $0.localDocumentEntry(withID: id) }) else {
        throw CouchError.missing
      }
      return Reply.text(Self.text(id, document))
    case .put:
      try access.checkWrite()
      return try await save(try await exchange.body(limit: exchange.limits.documentLength))
    case .delete:
      try access.checkWrite()
      let isThere = try await access.database.writes.write { transaction in
        guard try transaction.localDocument(withID: id) != nil else { return false }
        try transaction.setLocalDocument(nil, withID: id)
        return true
      }
      guard isThere else { throw CouchError.missing }
      return reply(0, .ok)
    default: throw exchange.methodNotAllowed("DELETE,GET,HEAD,PUT")
    }
  }

  /// Saves the document that was sent as the body of a request.
  func save(_ bytes: ByteBuffer) async throws -> Response {
    try checkID()
    guard bytes.readableBytes <= exchange.limits.documentLength else {
      throw CouchError.tooLarge(exchange.limits.documentLength)
    }
    guard case .object(let object) = try bytes.json() else {
      throw CouchError.badRequest("Document must be a JSON object")
    }
    let (id, revision) = (id, try Self.revision(after: object["_rev"]))
    let document = LocalDocument(
      body: JSONObject(object.filter { !$0.key.hasBytePrefix("_") }), revision: revision)
    try await access.database.writes.write { try $0.setLocalDocument(document, withID: id) }
    return reply(revision, .created)
  }

  private static func revision(after sent: JSONValue?) throws -> Int {
    guard let sent, sent != .null else { return 1 }
    guard case .string(let text) = sent, let known = LocalDocument.revision(text), known < .max else {
      throw CouchError.invalidRevision
    }
    return known + 1
  }

  private func reply(_ revision: Int, _ status: HTTPResponse.Status) -> Response {
    Reply.json(
      ["ok": true, "id": .string("\(Self.prefix)\(id)"), "rev": .string("0-\(revision)")], status,
      headers: [.location: exchange.url(access.database.name, "\(Self.prefix)\(id)")])
  }

  static func text(_ id: String, _ document: LocalDocument) -> [UInt8] {
    var json: JSONObject = [
      "_id": .string("\(prefix)\(id)"), "_rev": .string("0-\(max(1, document.revision))"),
    ]
    for (key, value) in document.body { json[key] = value }
    return json.utf8Text
  }
}

/// The local documents of a database: `_local_docs`.
struct LocalDocsEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess

  func respond() async throws -> Response {
    let options = try await exchange.listOptions()
    let rows = try await access.database.store.read { transaction in
      let names = try transaction.localDocumentIDs().filter { !DatabaseSettings.isReserved($0) }
        .map { LocalDocumentEndpoint.prefix + $0 }
      return try options.page(of: names).compactMap { key -> JSONValue? in
        guard let id = key.afterBytePrefix(LocalDocumentEndpoint.prefix),
          let document = try transaction.localDocumentEntry(withID: id)
        else { return nil }
        let name = JSONValue.string(key)
        var row: JSONObject = [
          "id": name, "key": name, "value": ["rev": .string("0-\(max(1, document.revision))")],
        ]
        if options.includesDocuments {
          row["doc"] = try JSONValue(parsing: LocalDocumentEndpoint.text(id, document))
        }
        return .object(row)
      }
    }
    return Reply.json(["total_rows": nil, "offset": nil, "rows": .array(rows)])
  }
}
