package import CDTJSON
package import CDTQuery
import CDTReplication
import CouchDB

// The operations of `cdtquery` on databases at a server.
extension RemoteDatastore {
  /// Creates the database.
  package func createDatabase() async throws {
    let reply = try await connection.send(.init(.PUT, "", json: []))
    guard [201, 202].contains(reply.status) else { throw await reply.failure() }
    _ = try await reply.json()
  }

  /// Creates the database if it does not exist.
  package func createDatabaseIfMissing() async throws {
    do {
      try await checkDatabase()
    } catch let error as ReplicationError where error.code == .notFound {
      do {
        try await createDatabase()
      } catch let error as ReplicationError where error.status == 412 {
        // Another client has created it.
      }
    }
  }

  /// Checks that the database exists and may be read.
  package func checkDatabase() async throws {
    try await retries.run { _ = try await connection.send(.init(""), expecting: 200).json() }
  }

  /// Deletes the database.
  package func deleteDatabase() async throws {
    let reply = try await connection.send(.init(.DELETE, "", json: []))
    guard [200, 202].contains(reply.status) else { throw await reply.failure() }
    _ = try await reply.json()
  }

  /// Calls a closure with each document, by id, as the server sends it: with `_attachments`, if it has any, and their
  /// content in Base64.
  ///
  /// - Parameter onLoss: Called for each document whose attachments the server can't send. It comes without them.
  /// - Complexity: A request for each document with attachments, which is in memory as a whole.
  package func forEachWithAttachments(
    onLoss: (IntegrityFinding) throws -> Void, _ body: (JSONObject) throws -> Void
  ) async throws {
    try await reader.readAll(needed: { nil }) { page in
      for document in page {
        var document = document
        if document["_attachments"] != nil, let id = document["_id"]?.stringValue {
          do {
            guard let whole = try await documentWithAttachments(id) else { continue }
            document = whole
          } catch let error as ReplicationError where [404, 500].contains(error.status) {
            guard var object = document.objectValue else { throw error }
            try onLoss(IntegrityFinding(.attachment, documentID: id, error.message))
            object["_attachments"] = nil
            document = .object(object)
          }
        }
        guard case .object(let object) = document else {
          throw ReplicationError(.invalidReply, "the server sent a document that is not an object")
        }
        try body(object)
      }
    }
  }

  /// - Returns: `nil` if the document has been deleted.
  private func documentWithAttachments(_ id: String) async throws -> JSONValue? {
    try await retries.run {
      let reply = try await connection.send(.init("\(RemoteConnection.path(id))?attachments=true"))
      if reply.status == 404 {
        // A server that has lost an attachment may say so with the same status.
        let refusal = await reply.refusal()
        guard ["missing", "deleted"].contains(refusal.reason) else {
          throw ReplicationError(refusal, "GET \(database.url)/\(id)", pause: nil)
        }
        return nil
      }
      guard reply.status == 200 else { throw await reply.failure() }
      return try await reply.json(limit: 1 << 30)
    }
  }

  /// The indexes as the server describes them.
  package func indexes() async throws -> [JSONObject] {
    let reply = try await connection.send(.init("/_index"), expecting: 200)
    guard let indexes = try await reply.json()["indexes"]?.arrayValue else {
      throw ReplicationError(.invalidReply, "the server's reply has no array indexes")
    }
    return indexes.compactMap(\.objectValue)
  }

  /// Creates an index.
  ///
  /// - Parameter json: The definition, as of `IndexDefinition`.
  /// - Returns: Its name, the id of the design document in which CouchDB keeps it, and a warning of our server.
  @discardableResult
  package func createIndex(
    _ json: JSONObject
  ) async throws -> (name: String, id: String, warning: String?) {
    var request: JSONObject = [
      "index": .object(DesignDocument.couchDB(json)), "type": json["type"] ?? "json",
    ]
    request["name"] = json["name"]
    let reply = try await connection.send(.init(.POST, "/_index", request), expecting: 200, 201).json()
    guard let name = reply["name"]?.stringValue, let id = reply["id"]?.stringValue else {
      throw ReplicationError(.invalidReply, "POST \(database.url)/_index: the reply has no name or no id")
    }
    return (name, id, reply["warning"]?.stringValue)
  }

  /// Deletes the index with a name.
  ///
  /// - Throws: `QueryError` with the code `.unknownIndex` if there is none.
  package func deleteIndex(named name: String) async throws {
    let indexes = try await indexes().filter { $0["ddoc"]?.stringValue != nil }
    guard let index = indexes.first(where: { $0["name"]?.stringValue?.hasSameBytes(as: name) == true }),
      let document = index["ddoc"]?.stringValue, let type = index["type"]?.stringValue
    else {
      throw QueryError.unknownIndex(name, known: indexes.compactMap { $0["name"]?.stringValue }, at: "")
    }
    let path = "/_index\(RemoteConnection.path(document))/\(type)/\(PercentCoding.encode(name))"
    let reply = try await connection.send(.init(.DELETE, path, json: []))
    guard reply.status == 200 else { throw await reply.failure() }
    _ = try await reply.json()
  }
}
