import CDTServerTestSupport
import CDTTestSupport
import CloudantSync
import Foundation
import Synchronization
import Testing

/// CDTDatastore's names for replication.
@Suite struct OldReplicationTests {
  @available(*, deprecated) private final class Listener: CDTReplicatorDelegate {
    private let heard = Mutex<[CDTReplicatorState]>([])
    private let progress = Mutex(0)
    private let (ends, ended) = AsyncStream<String>.makeStream()

    var states: [CDTReplicatorState] { heard.withLock { $0 } }
    var processed: Int { progress.withLock { $0 } }

    /// Waits for the end.
    func end() async -> String? {
      for await end in ends { return end }
      return nil
    }

    func replicatorDidChangeState(_ replicator: CDTReplicator) {
      heard.withLock { $0.append(replicator.state) }
    }
    func replicatorDidChangeProgress(_ replicator: CDTReplicator) {
      progress.withLock { $0 = replicator.changesProcessed }
    }
    func replicatorDidComplete(_ replicator: CDTReplicator) { ended.yield("complete") }
    func replicatorDidError(_ replicator: CDTReplicator, info: any Error) { ended.yield("\(info)") }
  }

  @available(*, deprecated) private static func withStores(
    _ body: (
      _ server: RunningServer, _ remote: Datastore, _ local: Datastore, _ factory: CDTReplicatorFactory
    )
      async throws -> Void
  ) async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let served = try DatastoreManager(directory: "\(directory)/served")
    let remote = try await served.datastore(named: "tasks")
    let manager = try DatastoreManager(directory: "\(directory)/local")
    let local = try await manager.datastore(named: "tasks")
    try await withServer(of: served) { server in
      try await body(server, remote, local, CDTReplicatorFactory(datastoreManager: manager))
    }
  }

  @available(*, deprecated) @Test func `a pull and a push end with complete`() async throws {
    try await Self.withStores { server, remote, local, factory in
      let url = try #require(URL(string: "\(server.url)/tasks"))
      for number in 0..<5 {
        try await remote.createDocument(from: DocumentDraft(id: "doc\(number)", body: [:]))
      }
      let listener = Listener()
      let pull = CDTPullReplication(source: url, target: local)
      pull.optionalHeaders = ["X-App": "tasks"]
      let replicator = try factory.oneWay(pull)
      #expect(replicator.state == .pending)
      replicator.delegate = listener
      try replicator.start()
      #expect(await listener.end() == "complete")
      #expect(listener.states == [.started, .complete])
      #expect(replicator.changesProcessed == 5)
      #expect(listener.processed == 5)
      #expect(try await local.read { try $0.documentCount() } == 5)
      #expect(throws: ReplicationError.self) { try replicator.start() }

      try await local.createDocument(from: DocumentDraft(id: "mine", body: ["pushed": true]))
      try await local.createDocument(from: DocumentDraft(id: "not mine", body: [:]))
      let push = CDTPushReplication(source: local, target: url)
      push.filterParams = ["member": "pushed"]
      push.filter = { revision, parameters in revision.body[parameters["member"] ?? ""] as? Bool == true }
      let second = Listener()
      let pusher = try factory.oneWay(push)
      pusher.delegate = second
      try pusher.start()
      #expect(await second.end() == "complete")
      #expect(try await remote.read { try $0.documentCount() } == 6)
    }
  }

  @available(*, deprecated) @Test func `a failure is reported, and a malformed URL is refused`() async throws
  {
    try await Self.withStores { server, _, local, factory in
      let missing = try #require(URL(string: "\(server.url)/missing"))
      let listener = Listener()
      let replicator = try factory.oneWay(CDTPullReplication(source: missing, target: local))
      replicator.delegate = listener
      try replicator.start()
      #expect(await listener.end()?.contains("does not exist") == true)
      #expect(replicator.state == .error)
      #expect((replicator.error as? ReplicationError)?.code == .notFound)
      let file = CDTPullReplication(source: URL(filePath: "/tmp"), target: local)
      #expect(throws: ReplicationError.self) { try factory.oneWay(file) }
    }
  }

  @available(*, deprecated) @Test func `descriptions of replications print no credentials`() async throws {
    try await Self.withStores { server, _, local, _ in
      let url = try #require(URL(string: "\(server.url)/tasks"))
      let secret = try #require(
        URL(string: "\(server.url.replacingOccurrences(of: "//", with: "//ana:p%40ss@"))/tasks"))
      let pull = CDTPullReplication(source: secret, target: local)
      let push = CDTPushReplication(source: local, target: secret)
      #expect((pull.source, push.target) == (url, url))
      #expect(
        [pull.username, pull.password, push.username, push.password] == ["ana", "p@ss", "ana", "p@ss"])
      pull.source = secret
      #expect(pull.source == url)
      pull.IAMAPIKey = "secret-key"
      pull.optionalHeaders = ["X-Token": "secret-token"]
      pull.addInterceptor(CDTSessionCookieInterceptor(username: "ana", password: "p@ss"))
      let values: [Any] = [
        pull, push, CDTSessionCookieInterceptor(username: "ana", password: "p@ss"),
        CDTIAMSessionCookieInterceptor(apiKey: "secret-key"),
      ]
      for value in values {
        var text = "\(value) \(String(reflecting: value)) "
        dump(value, to: &text)
        #expect(!text.contains("p@ss") && !text.contains("p%40ss") && !text.contains("secret"), "\(text)")
      }
    }
  }
}
