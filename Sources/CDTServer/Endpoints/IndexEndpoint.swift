import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird

/// The indexes of a database: `_index`.
///
/// An index has one name here. CouchDB's has the name of a design document besides, which is the same here.
struct IndexEndpoint: Sendable {
  let exchange: Exchange
  let access: DatabaseAccess

  private var store: Datastore { access.database.store }

  /// - Parameter rest: The path after `_index`.
  func respond(_ rest: [String]) async throws -> Response {
    switch (exchange.method, rest.count) {
    case (.get, 0), (.head, 0): return try await list()
    case (.post, 0): return try await create()
    // `_index/_design/name/json/name`, or without `_design`.
    case (.delete, 3), (.delete, 4): return try await delete(rest)
    case (.post, 1) where rest[0] == "_bulk_delete": return try await deleteMany()
    default: throw exchange.methodNotAllowed("DELETE,GET,POST")
    }
  }

  private func list() async throws -> Response {
    let indexes = try await store.listIndexes()
    let all = [IndexJSON.allDocuments] + indexes.map(IndexJSON.of)
    return Reply.json([
      "total_rows": .int(Int64(all.count)), "indexes": .array(all.map { .object($0) }),
    ])
  }

  private func create() async throws -> Response {
    try exchange.checkWritable()
    try access.checkAdmin()
    let wanted = try IndexRequest(try await exchange.jsonObject())
    let before = try await store.listIndexes().map(\.name)
    let name = try await exchange.server.tasks.run("indexer", on: access.database.name) { report in
      try await store.ensureIndexed(wanted.fields, name: wanted.name, type: wanted.type) {
        report($0.done, $0.total)
      }
    }
    return Reply.json([
      "result": before.contains(name) ? "exists" : "created", "id": .string("_design/\(name)"),
      "name": .string(name),
    ])
  }

  private func delete(_ rest: [String]) async throws -> Response {
    try exchange.checkWritable()
    try access.checkAdmin()
    let parts = rest[0] == "_design" ? Array(rest.dropFirst()) : rest
    guard parts.count == 3, let name = parts.last, try await remove(name) else {
      throw CouchError(404, "not_found", "Index not found")
    }
    return Reply.json(Reply.ok)
  }

  private func deleteMany() async throws -> Response {
    try exchange.checkWritable()
    try access.checkAdmin()
    guard case .array(let names)? = try await exchange.jsonObject()["docids"] else {
      throw CouchError.badRequest("`docids` must be an array.")
    }
    var (done, failed): ([JSONValue], [JSONValue]) = ([], [])
    for value in names {
      let name = value.stringValue.map {
        $0.afterBytePrefix(DocumentID.designPrefix) ?? $0
      }
      if let name, try await remove(name) {
        done.append(["id": value, "ok": true])
      } else {
        failed.append(["id": value, "error": "not_found"])
      }
    }
    return Reply.json(["success": .array(done), "fail": .array(failed)])
  }

  /// - Returns: Whether there was an index of this name.
  private func remove(_ name: String) async throws -> Bool {
    do {
      try await store.deleteIndex(named: name)
      return true
    } catch let error as QueryError where error.code == .unknownIndex {
      return false
    }
  }
}

/// Indexes as CouchDB describes them.
enum IndexJSON {
  static let allDocuments: JSONObject = [
    "ddoc": nil, "name": "_all_docs", "type": "special", "def": ["fields": [["_id": "asc"]]],
  ]

  static func of(_ index: IndexInfo) -> JSONObject {
    [
      "ddoc": .string("_design/\(index.name)"), "name": .string(index.name),
      "type": .string(index.type.rawValue), "partitioned": false,
      "def": ["fields": .array(index.fields.map { [$0.path: .string($0.isDescending ? "desc" : "asc")] })],
    ]
  }
}

/// The body of a request for an index.
struct IndexRequest: Sendable {
  let fields: [SortField]
  let name: String?
  let type: IndexType

  init(_ body: JSONObject) throws {
    guard case .object(let index)? = body["index"] else {
      throw CouchError(400, "missing_required_key", "Missing required key: index")
    }
    for member in ["name", "ddoc", "type"] {
      guard let value = body[member], value.stringValue == nil else { continue }
      throw CouchError(400, "invalid_string", "\(member): must be a string, not \(value.text.prefix(100))")
    }
    switch body["type"]?.stringValue {
    case nil, "json": type = .json
    case "text": type = .text
    case let other?:
      throw CouchError(400, "invalid_index", "The type \(other.prefix(50)) is unknown: use json or text.")
    }
    if index["partial_filter_selector"] != nil {
      throw CouchError.unsupported(
        "partial_filter_selector", instead: "an index on the same fields without it")
    }
    guard case .array(let fields)? = index["fields"] else {
      throw CouchError(400, "invalid_index", "`fields` must be an array of names or {name: direction}.")
    }
    self.fields = try SortField.fields(
      fields.map { field in
        // Text indexes of CouchDB have {"name": …, "type": …}.
        if case .object(let object) = field, let name = object["name"], object["type"] != nil { return name }
        return field
      }, at: "index.fields")
    name = body["name"]?.stringValue ?? body["ddoc"]?.stringValue
  }
}
