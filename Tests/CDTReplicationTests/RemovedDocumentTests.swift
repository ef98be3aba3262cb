import CDTDatastore
import CDTJSON
import CDTReplication
import CDTTestSupport
import Synchronization
import Testing

/// Documents that a server no longer shows to the user.
@Suite(.timeLimit(.usual)) struct RemovedDocumentTests {
  /// A server with rows of changes and revisions.
  private final class Source: Sendable {
    struct State {
      var rows: [JSONValue] = []
      var revisions: [String: JSONObject] = [:]
      var locals: [String: String] = [:]
    }

    let state = Mutex(State())

    func set(_ rows: [JSONValue]) { state.withLock { $0.rows = rows } }

    func add(_ id: String, _ history: [String], _ members: JSONObject) {
      var json: JSONObject = [
        "_id": .string(id), "_rev": .string(history[0]),
        "_revisions": [
          "start": .int(Int64(history.count)),
          "ids": .array(history.map { .string(String($0.dropFirst(2))) }),
        ],
      ]
      for (name, value) in members { json[name] = value }
      state.withLock { [json] in $0.revisions["\(id) \(history[0])"] = json }
    }

    func reply(_ request: String) -> ScriptedServer.Reply {
      let line = String(request.prefix { $0 != "\r\n" })
      let path = line.split(separator: " ").dropFirst().first.map(String.init) ?? ""
      let body = request.split(separator: "\r\n\r\n", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
      return state.withLock { state in
        if path.contains("/_local/") {
          guard line.hasPrefix("PUT") else {
            return state.locals[path].map { .init(body: $0) } ?? .init(status: 404)
          }
          state.locals[path] = body
          return .init(status: 201)
        }
        if path.contains("/_changes") {
          if path.contains("filter=_doc_ids") { return .init(body: #"{"results":[],"last_seq":0}"#) }
          func number(_ name: String) -> Int64? {
            path.split(whereSeparator: { "?&".contains($0) }).first { $0.hasPrefix("\(name)=") }
              .flatMap { Int64($0.dropFirst(name.utf8.count + 1)) }
          }
          let since = number("since") ?? 0
          let rows = state.rows.filter { $0["seq"]?.intValue ?? 0 > since }.prefix(
            Int(number("limit") ?? 100))
          let last = rows.last?["seq"] ?? .int(since)
          return .init(body: JSONObject([("results", .array(Array(rows))), ("last_seq", last)]).text)
        }
        if path.contains("/_bulk_get") {
          let wanted = (try? JSONObject(parsing: body))?["docs"]?.arrayValue ?? []
          let parts = wanted.map { document -> String in
            let key = "\(document["id"]?.stringValue ?? "") \(document["rev"]?.stringValue ?? "")"
            return "--b\r\nContent-Type: application/json\r\n\r\n\(state.revisions[key]?.text ?? "")\r\n"
          }
          return .init(contentType: "multipart/mixed; boundary=b", body: parts.joined() + "--b--")
        }
        return .init(
          body: path.contains("_revs_diff") ? "{}" : #"{"db_name":"db","instance_start_time":"0"}"#)
      }
    }
  }

  private static func row(_ sequence: Int64, _ id: String, _ revision: String, removed: Bool = false)
    -> JSONValue
  {
    var row: JSONObject = ["seq": .int(sequence), "id": .string(id), "changes": [["rev": .string(revision)]]]
    if removed { row["removed"] = true }
    return .object(row)
  }

  /// Runs `body` with a server, a store that has pulled the documents a and b from it, and a function that pulls.
  private static func withPulledStore(
    _ body: (Source, Datastore, (Replication.Direction) async throws -> ReplicationResult, ScriptedServer)
      async throws -> Void
  ) async throws {
    let source = Source()
    let server = try await ScriptedServer { source.reply($0) }
    try await withStores { store, _ in
      func replicate(_ direction: Replication.Direction = .pull) async throws -> ReplicationResult {
        var replication = Replication(direction, with: try RemoteDatabase("\(server.url)/db"))
        replication.batchSize = 1
        return try await Replicator(replication, of: store).replicate()
      }
      try await store.ensureIndexed(["n"])
      for id in ["a", "b"] { source.add(id, ["1-\(id)"], ["n": 1]) }
      source.set([row(1, "a", "1-a"), row(2, "b", "1-b")])
      #expect(try await replicate().pulled.revisionsWritten == 2)
      try await body(source, store, replicate, server)
      #expect(try store.checkIndexes() == [])
      #expect(try await store.checkIntegrity() == [])
    }
    await server.close()
  }

  @Test func `a document that left is removed, and fetched again when it is shown again`() async throws {
    try await Self.withPulledStore { source, store, replicate, server in
      var live = try store.live(["n": 1]).makeAsyncIterator()
      #expect(try await live.next()?.results.map(\.id) == ["a", "b"])
      let last = try await store.read { try $0.lastSequence() }
      source.add("a", ["2-a", "1-a"], ["_removed": true])
      source.set([Self.row(2, "b", "1-b"), Self.row(3, "a", "2-a", removed: true)])
      let counts = try await replicate(.pull).pulled
      #expect(counts.removed == 1 && counts.rejectedCount == 0 && counts.revisionsWritten == 0)
      #expect(try await store.read { try $0.allDocumentIDs() } == ["b"])
      #expect(try await store.count(["n": 1]) == 1)
      #expect(try await live.next()?.results.map(\.id) == ["b"])
      #expect(try await store.changes(since: last).documents.map(\.isDeleted) == [true])
      // Nothing of it is sent.
      let sent = server.count
      #expect(try await replicate(.push).pushed.revisionsWritten == 0)
      #expect(
        server.requests.dropFirst(sent).allSatisfy { !$0.contains(#""a""#) && !$0.contains("0000000000") })
      // Again from the beginning, as the server begins for a user whose documents may have become more.
      for (sequence, history) in [(4, ["2-a", "1-a"]), (6, ["1-a"])] as [(Int64, [String])] {
        source.add("a", history, ["n": 1, "_removed": false])
        source.set([Self.row(sequence, "a", history[0])])
        #expect(try await replicate(.pull).pulled.revisionsWritten == 1)
        #expect(try await store.document(withID: "a").revisionID.description == history[0])
        source.add("a", history, ["_removed": true])
        source.set([Self.row(sequence + 1, "a", history[0], removed: true)])
        #expect(try await replicate(.pull).pulled.removed == 1)
        #expect(try await store.read { try $0.allDocumentIDs() } == ["b"])
      }
      // Once is enough.
      source.set([Self.row(8, "a", "1-a", removed: true), Self.row(9, "x", "1-x", removed: true)])
      let again = try await replicate(.pull).pulled
      #expect(again.removed == 0 && again.rejectedCount == 0 && again.missing == 0)
    }
  }

  @Test func `a document that comes and leaves in one run is removed`() async throws {
    try await Self.withPulledStore { source, store, replicate, _ in
      source.add("c", ["1-c"], ["n": 1])
      source.set([Self.row(3, "c", "1-c"), Self.row(4, "c", "1-c", removed: true), Self.row(5, "d", "1-d")])
      // It leaves while it is read.
      source.add("d", ["1-d"], ["_removed": true])
      let counts = try await replicate(.pull).pulled
      #expect(counts.rejectedCount == 0)
      let ids = try await store.read { try $0.allDocumentIDs() }
      // The server has shown c with its body, to which no removal was served.
      #expect(ids == ["a", "b", "c"])
      source.add("c", ["1-c"], ["_removed": true])
      source.set([Self.row(6, "c", "1-c", removed: true)])
      #expect(try await replicate(.pull).pulled.removed == 1)
    }
  }

  @Test func `a document with changes that the server does not know is kept and listed`() async throws {
    try await Self.withPulledStore { source, store, replicate, _ in
      let edited = try await store.updateDocument(withID: "a") { $0.body["n"] = 2 }
      source.add("a", ["2-a", "1-a"], ["_removed": true])
      source.add("b", ["2-b", "1-b"], ["_removed": true])
      source.set([Self.row(3, "a", "2-a", removed: true), Self.row(4, "b", "2-b", removed: true)])
      let counts = try await replicate(.pull).pulled
      #expect(counts.removed == 1 && counts.rejected.map(\.id) == ["a"])
      #expect(counts.rejected.first?.reason.contains("kept here as it has changes") == true)
      #expect(try await store.document(withID: "a") == edited)
      #expect(throws: DatastoreError.self) { try store.document(withID: "b") }
      // Once the change has arrived there, it is in the history.
      source.add("a", ["3-a", edited.revisionID.description, "1-a"], ["_removed": true])
      source.set([Self.row(5, "a", "3-a", removed: true)])
      #expect(try await replicate(.pull).pulled.removed == 1)
    }
  }
}
