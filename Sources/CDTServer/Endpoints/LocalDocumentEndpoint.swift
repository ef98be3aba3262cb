import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// A local document, which replicators keep checkpoints in.
struct LocalDocumentEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess
  let id: String

  func respond() async throws -> Response {
    try LocalDocumentInput.checkID(id)
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
      return Reply.json(LocalDocumentInput.reply(id, 0))
    default: throw exchange.methodNotAllowed("DELETE,GET,HEAD,PUT")
    }
  }

  /// Saves the document that was sent as the body of a request.
  func save(_ bytes: ByteBuffer) async throws -> Response {
    let input = try bytes.withUnsafeReadableBytes { bytes throws(CouchError) in
      try LocalDocumentInput(id: id, bytes, exchange.limits)
    }
    try await access.database.writes.write { try input.save(in: $0) }
    return Reply.json(
      input.reply, input.isDeletion ? .ok : .created,
      headers: [.location: exchange.url(access.database.name, LocalDocumentInput.prefix + id)])
  }

  static func text(_ id: String, _ document: LocalDocument) -> [UInt8] {
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
  static func row(
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
    return Array(row.utf8Text.dropLast()) + Array(#","doc":"#.utf8) + text(id, document) + [UInt8(ascii: "}")]
  }
}

/// The local documents of a database: `_local_docs`.
struct LocalDocsEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess

  func respond() async throws -> Response {
    let options = try await exchange.listOptions()
    return Reply.text(try await access.database.store.read { try Self.list(options, $0) })
  }

  /// `{"queries": [{…}, …]}`: several lists in one.
  func respondToQueries() async throws -> Response {
    let queries = try await exchange.listQueries()
    let lists = try await access.database.store.read { transaction in
      try queries.map { try Self.list($0, transaction) }
    }
    return Reply.text(
      Array(#"{"results":["#.utf8) + lists.joined(separator: Array(",\n".utf8)) + Array("]}".utf8))
  }

  private static func list(_ options: ListOptions, _ transaction: ReadTransaction) throws -> [UInt8] {
    let rows: [[UInt8]]
    if let keys = options.wantedKeys {
      rows = try keys.map { key in
        let known = try key.stringValue.flatMap {
          try LocalDocumentEndpoint.row($0, withDocument: options.includesDocuments, transaction)
        }
        return known ?? AllDocsRequest.missingRow(key)
      }
    } else {
      let names = try transaction.localDocumentIDs().filter { !DatabaseSettings.isReserved($0) }
        .map { LocalDocumentInput.prefix + $0 }
      rows = try options.page(of: names).compactMap {
        try LocalDocumentEndpoint.row($0, withDocument: options.includesDocuments, transaction)
      }
    }
    return Array(#"{"total_rows":null,"offset":null,"rows":["#.utf8)
      + rows.joined(separator: Array(",\n".utf8)) + Array("]}".utf8)
  }
}
