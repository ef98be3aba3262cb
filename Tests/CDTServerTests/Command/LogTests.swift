import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Logging
import Synchronization
import Testing

@testable import CDTServer
@testable import cdtquery

/// The log of a server.
@Suite(.timeLimit(.usual)) struct LogTests {
  /// Keeps what is logged.
  final class Recorder: LogHandler, Sendable {
    struct Entry: Sendable {
      let level: Logger.Level
      let message: String
      let metadata: [String: String]
    }

    private let entries = Mutex<[Entry]>([])
    let level: Logger.Level

    init(_ level: Logger.Level) { self.level = level }

    var logLevel: Logger.Level {
      get { level }
      set {}
    }
    var metadata: Logger.Metadata {
      get { [:] }
      set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { nil }
      set {}
    }

    func log(event: LogEvent) {
      let metadata = (event.metadata ?? [:]).mapValues(\.description)
      entries.withLock {
        $0.append(Entry(level: event.level, message: event.message.description, metadata: metadata))
      }
    }

    var everything: [Entry] { entries.withLock { $0 } }

    func all(_ message: String) -> [Entry] { entries.withLock { $0.filter { $0.message == message } } }

    /// Waits for entries, as a reply is logged after the client has it.
    func wait(for message: String, count: Int) async throws -> [Entry] {
      try await eventually("\(message) is logged \(count) times") { all(message).count >= count }
      return all(message)
    }
  }

  private func withLog(
    _ level: Logger.Level, _ configure: (inout ServerConfiguration) throws -> Void = { _ in },
    _ body: (RunningServer, Recorder) async throws -> Void
  ) async throws {
    let recorder = Recorder(level)
    let manager = try DatastoreManager.inMemory()
    _ = try await manager.datastore(named: "db")
    let logger = Logger(label: "test") { _ in recorder }
    try await withServer(of: manager, logger: logger, configure) { try await body($0, recorder) }
  }

  @Test func `each request is a line with its status, its length and its id`() async throws {
    try await withLog(.info) { server, log in
      _ = try await server.put("/db/a", ["secret": 1])
      let reply = try await server.send("GET", "/db/a?rev=1-x", headers: [("X-Couch-Request-ID", "mine")])
      #expect(reply.status == 404)
      let entries = try await log.wait(for: "request", count: 2)
      #expect(entries[0].metadata["method"] == "PUT")
      #expect(entries[0].metadata["path"] == "/db/a")
      #expect(entries[0].metadata["status"] == "201")
      #expect(entries[1].metadata["path"] == "/db/a")
      #expect(entries[1].metadata["status"] == "404")
      #expect(entries[1].metadata["request"] == "mine")
      #expect(entries[1].metadata["bytes"] == "\(reply.body.count)")
      #expect(entries.allSatisfy { Double($0.metadata["milliseconds"] ?? "").map { $0 >= 0 } == true })
      #expect(!entries.contains { "\($0)".contains("secret") })
      // A reply without a body.
      #expect(try await server.send("HEAD", "/db/a").headers["content-length"] != "0")
      #expect(try await log.wait(for: "request", count: 3)[2].metadata["bytes"] == "0")
    }
  }

  @Test func `requests are not logged at the level notice`() async throws {
    try await withLog(.notice) { server, log in
      _ = try await server.get("/db")
      #expect(log.all("request").isEmpty)
    }
  }

  @Test func `a refusal because of the load is not logged as an error`() async throws {
    try await withLog(.notice) {
      $0.limits.queryTime = .zero
    } _: { server, log in
      #expect(try await server.post("/db/_find", ["selector": [:]]).status == 503)
      let entry = try #require(try await log.wait(for: "request refused", count: 1).first)
      #expect(entry.level == .notice)
      #expect(log.all("request failed").isEmpty)
    }
  }

  @Test func `the files of a damaged store are named in the log alone`() async throws {
    let directory = try ServerDirectory()
    let manager = try DatastoreManager(directory: directory.path)
    _ = try await manager.datastore(named: "db")
    try await manager.closeDatastore(named: "db")
    try directory.write(String(repeating: "no database ", count: 1_000), to: "db/db.sync")
    let recorder = Recorder(.notice)
    try await withServer(of: manager, logger: Logger(label: "test") { _ in recorder }) { server in
      for path in ["/db", "/_dbs_info"] {
        let reply = try await server.get(path)
        #expect(reply.text.contains(#""reason":"The server can't do this now; the reason is in its log.""#))
        #expect(!reply.text.contains(directory.path))
      }
      let entries = try await recorder.wait(for: "request failed", count: 2)
      #expect(entries.allSatisfy { $0.metadata["error"]?.contains("\(directory.path)/db/db.sync") == true })
    }
  }

  @Test func `a slow query is logged with its plan`() async throws {
    try await withLog(.notice) {
      $0.slowQuery = .zero
    } _: { server, log in
      _ = try await server.post("/db/_find", ["selector": ["age": ["$gt": 5]]])
      let entry = try #require(try await log.wait(for: "slow query", count: 1).first)
      #expect(entry.metadata["database"] == "db")
      #expect(entry.metadata["selector"] == #"{"age":{"$gt":5}}"#)
      #expect(entry.metadata["plan"]?.contains("every document") == true, "\(entry.metadata)")
    }
  }

  @Test func `a login that fails is logged with its name and its client, without the password`() async throws
  {
    let directory = try ServerDirectory()
    try directory.write("correct horse", to: "password")
    _ = try ToolRun.of(["user", "add", "users.json", "mike", "--password-file", "password"], in: directory)
    try await withLog(.info) {
      $0.usersFile = "\(directory.path)/users.json"
    } _: { server, log in
      let basic = Data("mike:wrong".utf8).base64EncodedString()
      _ = try await server.send("GET", "/db", headers: [("Authorization", "Basic \(basic)")])
      _ = try await server.post("/_session", ["name": "eve\n", "password": "wrong"])
      let entries = try await log.wait(for: "login failed", count: 2)
      #expect(entries.map { $0.metadata["user"] } == ["mike", "eve\n"])
      #expect(entries.allSatisfy { $0.metadata["client"] == "127.0.0.1" && $0.level == .notice })
      #expect(!entries.contains { "\($0)".contains("wrong") })
      // The file has no admin, which is said when the server starts.
      #expect(log.all("no user is an admin of the server").count == 1)
      let right = Data("mike:correct horse".utf8).base64EncodedString()
      _ = try await server.send("GET", "/", headers: [("Authorization", "Basic \(right)")])
      _ = try await log.wait(for: "request", count: 3)
      #expect(log.all("request").contains { $0.metadata["user"] == "mike" })
    }
  }

  @Test func `the start names design documents with functions that are not enforced`() async throws {
    let recorder = Recorder(.warning)
    let manager = try DatastoreManager.inMemory()
    let store = try await manager.datastore(named: "db")
    try await store.createDocument(
      from: DocumentDraft(id: "_design/app", body: ["validate_doc_update": "function () {}"]))
    try await store.createDocument(
      from: DocumentDraft(id: "_design/views", body: ["views": ["a": ["map": "function () {}"]]]))
    try await store.createDocument(from: DocumentDraft(id: "_design/rules", body: ["read": []]))
    try await withServer(of: manager, logger: Logger(label: "test") { _ in recorder }, { _ in }) { _ in
      let entries = try await recorder.wait(for: "a design document is not enforced", count: 2)
      #expect(entries.map { $0.metadata["database"] } == ["db", "db"])
      #expect(entries.map { $0.metadata["document"] } == ["_design/app", "_design/rules"])
      #expect(
        entries.map { $0.metadata["reason"] } == [
          "stored and not enforced: `validate_doc_update`; see docs/moving-from-couchdb.md",
          "stored and not enforced: `read`; see docs/moving-from-couchdb.md",
        ])
    }
  }

  @Test func `a line can't be forged, and is JSON if that is wanted`() {
    let metadata: Logger.Metadata = [
      "user": "eve\n2026-11-26T00:00:00Z info", "status": .stringConvertible(200), "path": "/a", "empty": "",
      "milliseconds": .stringConvertible(0.5), "list": ["x", "y"],
    ]
    let event = LogEvent(
      level: .notice, message: "login failed", error: nil, metadata: metadata, source: "test", file: "",
      function: "",
      line: 0)
    let text = LogLines(.text).line(of: event)
    #expect(!text.dropLast().contains("\n"))
    #expect(
      text.hasSuffix(
        #" notice login failed empty="" list=["x","y"] milliseconds=0.5 path=/a status=200 user="eve\n2026-11-26T00:00:00Z info""#
          + "\n"), "\(text)")
    let json = try? JSONObject(parsing: LogLines(.json).line(of: event))
    #expect(json?["level"] == "notice")
    #expect(json?["message"] == "login failed")
    #expect(json?["status"] == 200)
    #expect(json?["user"] == "eve\n2026-11-26T00:00:00Z info")
  }

  @Test func `options other than levels, formats and times are refused`() throws {
    let directory = try ServerDirectory()
    for (option, value) in [
      ("--log-level", "loud"), ("--log-format", "xml"), ("--slow-query", "2"), ("--slow-query", "-1s"),
    ] {
      let run = try ToolRun.of(["serve", "people", "\(option)=\(value)"], in: directory)
      #expect(run.status == 64, "\(option)")
      #expect(run.errors.contains(option))
    }
  }
}
