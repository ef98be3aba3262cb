import CDTDatastore
import CDTJSON
import CDTPlatform
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// What the server has besides databases.
struct ServerEndpoints: Sendable {
  let exchange: Exchange

  func respond(to name: String) async throws -> Response {
    let rest = exchange.path.segments.dropFirst()
    switch (name, rest.count) {
    case ("_up", 0): return try get { Reply.json(["status": "ok", "seeds": [:]]) }
    case ("_session", 0): return try await SessionEndpoint(exchange: exchange).respond()
    case ("_uuids", 0): return try uuids()
    case ("_all_dbs", 0): return try await allDatabases()
    case ("_dbs_info", 0): return try await databasesInfo()
    case ("_active_tasks", 0): return try await activeTasks()
    case ("_metrics", 0): return try metrics()
    default:
      if let error = CouchError.unsupportedResource(ofServer: exchange.path.segments) { throw error }
      guard exchange.method == .put, rest.isEmpty else { throw CouchError.noDatabase }
      throw CouchError(
        400, "illegal_database_name", "Name: '\(name.prefix(100))'. No database of this server begins with _."
      )
    }
  }

  func welcome() throws -> Response {
    try get {
      Reply.json([
        "couchdb": "Welcome", "version": "3.5.2", "uuid": .string(exchange.server.uuid),
        "features": ["cdtdatastore"],
        "vendor": ["name": "CDTDatastore for Swift", "version": .string(Version.current)],
      ])
    }
  }

  private func get(_ reply: () throws -> Response) throws -> Response {
    guard exchange.method == .get || exchange.method == .head else {
      throw exchange.methodNotAllowed("GET,HEAD")
    }
    return try reply()
  }

  private func uuids() throws -> Response {
    try get {
      let count = try exchange.parameters.count("count") ?? 1
      guard count <= 1_000 else {
        throw CouchError.badRequest("count parameter too large")
      }
      let ids = (0..<count).map { _ in JSONValue.string(RandomID.digits()) }
      return Reply.json(
        ["uuids": .array(ids)], headers: [.cacheControl: "must-revalidate, no-cache", .pragma: "no-cache"])
    }
  }

  // MARK: Databases

  private func allDatabases() async throws -> Response {
    try exchange.identity.checkServerAdmin()
    guard exchange.method == .get || exchange.method == .head else {
      throw exchange.methodNotAllowed("GET,HEAD")
    }
    let names = try await page(exchange.databases.names())
    return Reply.value(.array(names.map { .string($0) }))
  }

  private func page(_ names: [String]) throws -> [String] {
    try ListOptions(exchange.parameters).page(of: names.sorted())
  }

  private func databasesInfo() async throws -> Response {
    try exchange.identity.checkServerAdmin()
    var names: [String]
    switch exchange.method {
    case .get, .head: names = try await page(exchange.databases.names())
    case .post:
      guard case .array(let keys)? = try await exchange.jsonObject()["keys"] else {
        throw CouchError.badRequest("`keys` member must exist.")
      }
      names = keys.compactMap(\.stringValue)
      guard names.count == keys.count, names.count <= 100 else {
        throw CouchError.badRequest("`keys` must be an array of at most 100 names.")
      }
    default: throw exchange.methodNotAllowed("GET,HEAD,POST")
    }
    var rows: [JSONValue] = []
    for name in names {
      do {
        let database = try await exchange.databases.database(named: name)
        rows.append(["key": .string(name), "info": .object(try await DatabaseEndpoints.info(database))])
      } catch let error as CouchError where error == .noDatabase {
        rows.append(["key": .string(name), "error": "not_found"])
      }
    }
    return Reply.value(.array(rows))
  }

  private func metrics() throws -> Response {
    try exchange.checkAdmin()
    return try get {
      let server = exchange.server
      let text = server.metrics.text(
        openDatabases: exchange.databases.openNames.count, tasks: server.tasks.json.count)
      return Reply.bytes(ByteBuffer(string: text), type: "text/plain; version=0.0.4; charset=utf-8")
    }
  }

  private func activeTasks() async throws -> Response {
    try exchange.checkAdmin()
    return try get { Reply.value(.array(exchange.server.tasks.json)) }
  }
}
