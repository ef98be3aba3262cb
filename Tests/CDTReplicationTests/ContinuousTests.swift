import CDTDatastore
import CDTTestSupport
import Foundation
import Glibc
import Synchronization
import Testing

@testable import CDTRemote
@testable import CDTReplication

/// Replications that run for long, and many of them.
@Suite(.serialized) struct ContinuousTests {
  private static let count = 100

  /// Runs `body` with the URL of a database at a server in a process of its own, and the server's port.
  private static func withServerProgram(_ body: (_ url: String, _ port: Int) async throws -> Void)
    async throws
  {
    try await withTemporaryDirectory(inMemory: true) { directory in
      try withExtendedLifetime(try DatastoreManager(directory: "\(directory)/served")) {
        _ = try $0.datastore(named: "db")
      }
      let run = try CommandRun(
        #"exec "$0" serve served --bind 127.0.0.1:0"#, [], in: directory)
      var port: Int?
      for _ in 0..<500 where port == nil {
        try await Task.sleep(for: .milliseconds(20))
        port = try run.text("err").split(separator: "\n").first?.split(separator: ":").last.flatMap {
          Int($0)
        }
      }
      try await body("http://127.0.0.1:\(try #require(port))/db", port ?? 0)
      run.process.send(SIGTERM)
      #expect(await run.ended() == 0)
    }
  }

  /// The connections of this process to a port.
  private static func connections(to port: Int) throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/net/tcp", encoding: .utf8)
    let suffix = ":" + String(port, radix: 16, uppercase: true)
    return text.split(separator: "\n").count { line in
      let fields = line.split(separator: " ")
      return fields.count > 3 && fields[2].hasSuffix(suffix) && fields[3] == "01"
    }
  }

  /// The files of this process in a directory.
  private static func openFiles(in directory: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?
        .hasPrefix(directory) == true
    }
  }

  private static func wait(_ what: String, for condition: () async throws -> Bool) async throws {
    for _ in 0..<3_000 {
      if try await condition() { return }
      try await Task.sleep(for: .milliseconds(100))
    }
    Issue.record("\(what): not within five minutes")
  }

  @Test func `a hundred continuous replications in one process exchange writes, and leave nothing`()
    async throws
  {
    try await Self.withServerProgram { url, port in
      try await withTemporaryDirectory(inMemory: true) { directory in
        let manager = try DatastoreManager(directory: directory)
        let store = try await manager.datastore(named: "local")
        try await store.createDocument(from: DocumentDraft(id: "first", body: [:]))
        let replicators = try (0..<Self.count).map { number in
          let filter = ReplicationFilter.documentIDs(["push\(number)", "pull\(number)"])
          var replication = Replication(.both, with: try RemoteDatabase(url), filter: filter)
          replication.isContinuous = true
          replication.concurrentRequests = 1
          return Replicator(replication, of: store)
        }
        let remote = RemoteDatastore(try RemoteDatabase(url))
        let runs = replicators.map { replicator in Task { try await replicator.replicate() } }
        for number in 0..<Self.count {
          try await store.createDocument(from: DocumentDraft(id: "push\(number)", body: [:]))
        }
        try await Self.wait("pushes") { try await remote.changes().documents.count == Self.count }
        // Another store writes to the server.
        let other = try await manager.datastore(named: "other")
        try await other.write { transaction in
          for number in 0..<Self.count {
            try transaction.createDocument(from: DocumentDraft(id: "pull\(number)", body: [:]))
          }
        }
        try await Replicator(Replication(.push, with: try RemoteDatabase(url)), of: other).replicate()
        try await Self.wait("pulls") { try await store.read { try $0.documentCount() } == 2 * Self.count + 1 }
        let files = try Self.openFiles(in: directory)
        for replicator in replicators { replicator.stop() }
        for run in runs {
          let result = try await run.value
          #expect(result.pulled.revisionsWritten == 1 && result.pushed.revisionsWritten == 1)
          #expect(result.rejected == [])
        }
        // One is that of `remote`.
        try await Self.wait("connections") { try Self.connections(to: port) <= 1 }
        #expect(try Self.openFiles(in: directory) <= files)
        withExtendedLifetime(remote) {}
      }
    }
  }

  /// The memory of a process in kilobytes.
  private static func memory(of process: Int32) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
  }

  /// A peer that is silent sends a heartbeat every fifteen seconds, 5,760 in a day. Here it ends the request instead.
  @Test func `a day of idling does not need more memory`() async throws {
    let server = try await ScriptedServer { request in
      let path = request.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
      if path.contains("/_local/") { return .init(status: 404) }
      return .init(
        body: path.contains("/_changes")
          ? #"{"results":[],"last_seq":"1-x","pending":0}"# : #"{"db_name":"db","instance_start_time":"0"}"#)
    }
    try await withTemporaryDirectory(inMemory: true) { directory in
      let run = try CommandRun(
        #"exec "$0" replicate "$1" stores/idle --create --continuous"#, ["\(server.url)/db"], in: directory)
      let process = run.process.id
      try await Self.wait("the first rounds") { server.count >= 1_000 }
      let before = try Self.memory(of: process)
      let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
      try await Self.wait("a day") { server.count >= 1_000 + 5_760 }
      let growth = try Self.memory(of: process) - before
      #expect(growth < 1_024, "\(growth) KB")
      #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count <= files + 4)
      run.process.send(SIGTERM)
      #expect(await run.ended() == 0)
    }
    await server.close()
  }

  @Test(.timeLimit(.usual))
  func `a replication whose request for changes failed is idle as soon as the server answers again`()
    async throws
  {
    try await withServedStore { served in
      let hasFailed = Mutex(false)
      var database = try served.database()
      database.interceptors = [
        HTTPInterceptor { request in
          guard request.url.contains("feed=longpoll"), !hasFailed.withLock({ $0 }) else { return }
          hasFailed.withLock { $0 = true }
          throw ReplicationError(.unreachable, "it was restarted", isTransient: true)
        }
      ]
      var replication = Replication(.pull, with: database)
      replication.isContinuous = true
      replication.retries.firstPause = .milliseconds(200)
      let replicator = Replicator(replication, of: served.local)
      var hasWaited = false
      for try await status in replicator.run() {
        if case .waiting = status.state { hasWaited = true }
        if status.state == .idle, hasWaited { replicator.stop() }
      }
      #expect(hasWaited)
    }
  }

  @Test(.timeLimit(.usual))
  func `a continuous replication outlives a database that is replaced again and again`() async throws {
    let replacements = Mutex(0)
    let server = try await ScriptedServer { request in
      let path = request.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
      let number = replacements.withLock { count in
        if path.hasSuffix("/_ensure_full_commit"), count < 12 { count += 1 }
        return count
      }
      if path.contains("/_local/") { return .init(status: request.hasPrefix("GET") ? 404 : 201) }
      if path.hasSuffix("/_revs_diff") {
        return .init(body: #"{"doc":{"missing":["1-c4103f122d27677c9db144cae1394a66"]}}"#)
      }
      if path.hasSuffix("/_bulk_docs") { return .init(status: 201, body: "[]") }
      return .init(body: #"{"db_name":"db","instance_start_time":"\#(1 + number)"}"#)
    }
    try await withStores { store, _ in
      try await store.createDocument(from: DocumentDraft(id: "doc", body: [:]))
      var replication = Replication(.push, with: try RemoteDatabase("\(server.url)/db"))
      replication.isContinuous = true
      let replicator = Replicator(replication, of: store)
      for try await status in replicator.run() where status.state == .idle { replicator.stop() }
    }
    #expect(replacements.withLock { $0 } == 12)
    await server.close()
  }
}
