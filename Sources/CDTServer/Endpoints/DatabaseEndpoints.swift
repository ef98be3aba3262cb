import CDTDatastore
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird

/// A database as a whole.
struct DatabaseEndpoints: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess

  static func create(_ name: String, _ exchange: Exchange) async throws -> Response {
    try exchange.checkAdmin()
    if exchange.parameters.flag("partitioned") {
      throw CouchError.unsupported("A partitioned database", instead: "a database without partitions")
    }
    try await exchange.databases.create(name)
    return Reply.json(Reply.ok, .created, headers: [.location: exchange.url(name)])
  }

  func respond() async throws -> Response {
    switch exchange.method {
    case .get, .head: return Reply.json(try await Self.info(access.database))
    case .post: return try await post()
    case .delete:
      try exchange.checkAdmin()
      if let revision = exchange.parameters["rev"] {
        throw CouchError.badRequest(
          "You tried to DELETE a database with a ?rev=\(revision.prefix(50)) parameter. Did you mean to DELETE a document instead?"
        )
      }
      try await exchange.databases.delete(access.database.name)
      return Reply.json(Reply.ok)
    default: throw exchange.methodNotAllowed("DELETE,GET,HEAD,POST,PUT")
    }
  }

  static func info(_ database: Database) async throws -> JSONObject {
    let size = try await database.store.sizeOnDisk()
    let (count, deleted, sequence, free) = try await database.store.read { transaction in
      let count = try transaction.documentCount()
      return (
        count, try transaction.allDocumentCount() - count, try transaction.lastSequence(),
        try transaction.freeBytes()
      )
    }
    let used = max(0, size - free)
    return [
      "db_name": .string(database.name), "update_seq": .string(database.text(of: sequence)), "purge_seq": "0",
      "instance_start_time": .string(database.created),
      "doc_count": .int(Int64(count)), "doc_del_count": .int(Int64(deleted)),
      "sizes": ["file": .int(size), "external": .int(used), "active": .int(used)],
      "props": [:], "cluster": ["q": 1, "n": 1, "w": 1, "r": 1], "disk_format_version": 8,
      "compact_running": .bool(database.isCompacting),
    ]
  }

  /// Saves a document whose id is in it, or is made here.
  private func post() async throws -> Response {
    try access.checkWrite()
    let bytes = try await exchange.jsonBody(limit: exchange.limits.requestLength)
    let object = try bytes.withUnsafeReadableBytes { try DocumentInput.object($0) }
    if case .string(let id)? = object.reserved.last(where: { $0.name == "_id" })?.value,
      let id = id.afterBytePrefix(LocalDocumentInput.prefix)
    {
      return try await LocalDocumentEndpoint(exchange: exchange, access: access, id: id).save(bytes)
    }
    let input = try DocumentInput(object)
    let id = input.document.id ?? DocumentID.make()
    return try await DocumentEndpoint(exchange: exchange, access: access, id: id).save(input)
  }
}
