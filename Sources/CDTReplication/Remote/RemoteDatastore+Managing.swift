import CDTJSON

// What `cdtquery` does to databases at a server.
extension RemoteDatastore {
  /// Creates the database.
  package func createDatabase() async throws {
    let reply = try await connection.send(.init(.PUT, "", json: []))
    guard [201, 202].contains(reply.status) else { throw await reply.failure() }
    _ = try await reply.json()
  }

  /// Deletes the database.
  package func deleteDatabase() async throws {
    let reply = try await connection.send(.init(.DELETE, "", json: []))
    guard [200, 202].contains(reply.status) else { throw await reply.failure() }
    _ = try await reply.json()
  }

  /// Creates an index, unless the server refuses its fields.
  ///
  /// - Returns: The id of the design document in which CouchDB keeps it.
  @discardableResult
  package func createIndex(on fields: [String]) async throws -> String? {
    let names = fields.map { JSONValue.string($0) }
    let reply = try await connection.send(.init(.POST, "/_index", ["index": ["fields": .array(names)]]))
    guard [200, 201, 400].contains(reply.status) else { throw await reply.failure() }
    return try await reply.json()["id"]?.stringValue
  }
}
