import CDTDatastore
import CDTReplication
import CDTTestSupport
import Foundation
import Logging
import Testing

/// The log of a replication, and the lag that it reports.
@Suite(.timeLimit(.usual)) struct ReplicationLogTests {
  @Test func `each batch and the end of a run are logged`() async throws {
    let log = KeptLog()
    try await withServedStore { served in
      for number in 0..<5 {
        try await served.local.createDocument(
          from: DocumentDraft(id: "doc\(number)", body: ["secret": "red"]))
      }
      try await served.replicate(.push) {
        $0.batchSize = 2
        $0.logger = log.logger
      }
    }
    let lines = log.text.split(separator: "\n")
    let batches = lines.filter { $0.hasPrefix("batch ") }
    #expect(batches.count == 3, "\(log.text)")
    for (line, documents) in zip(batches, [2, 2, 1]) {
      for member in [
        #""documents": \#(documents)"#, #""written": \#(documents)"#, #""direction": push"#,
        #""store": local"#,
        #""rejected": 0"#, #""sequence": "#, #""bytes": "#, #""milliseconds": "#,
      ] {
        #expect(line.contains(member), "\(member): \(line)")
      }
    }
    let end = try #require(lines.last)
    #expect(end.hasPrefix("end ") && end.contains(#""pushed": 5"#) && !end.contains("error"), "\(end)")
    #expect(!log.text.contains("red") && !log.text.contains("doc1"))
  }

  @Test func `failures and what ends a run are logged, without secrets`() async throws {
    let log = KeptLog()
    let secrets = [
      ServedUser.password, Data("\(ServedUser.name):\(ServedUser.password)".utf8).base64EncodedString(),
      "AuthSession",
    ]
    try await withServedUser { served, _ in
      try await served.local.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let host = "127.0.0.1:\(served.server.port)"
      let url = "http://\(ServedUser.name):\(ServedUser.password)@\(host)/db"
      var replication = Replication(.push, with: try RemoteDatabase(url))
      replication.logger = log.logger
      try await Replicator(replication, of: served.local).replicate()
      // A wrong password.
      replication.peer = .remote(
        try RemoteDatabase("http://\(host)/db", credentials: .session("ana", "wrong-\(ServedUser.password)")))
      await #expect(throws: ReplicationError.self) {
        try await Replicator(replication, of: served.local).replicate()
      }
    }
    let broken = try await ScriptedServer { _ in .init(status: 503, body: #"{"reason":"\#(secrets[0])"}"#) }
    try await withStores { store, _ in
      let url = broken.url.replacingOccurrences(
        of: "//", with: "//\(ServedUser.name):\(ServedUser.password)@")
      var replication = Replication(.push, with: try RemoteDatabase("\(url)/db"))
      replication.logger = log.logger
      replication.retries.firstPause = .milliseconds(1)
      replication.retries.maximumAttempts = 3
      await #expect(throws: ReplicationError.self) {
        try await Replicator(replication, of: store).replicate()
      }
    }
    await broken.close()
    let lines = log.text.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("retry ") && $0.contains(#""failures": "#) } == 2, "\(log.text)")
    #expect(lines.count { $0.hasPrefix("end ") && $0.contains(#""error": "#) } == 2)
    #expect(lines.count { $0.hasPrefix("batch ") } == 1)
    for secret in secrets { #expect(!log.text.contains(secret), "\(log.text)") }
  }

  @Test func `a replication knows what is left, and when the target last had everything`() async throws {
    try await withStores { source, target in
      for number in 0..<5 {
        try await source.createDocument(from: DocumentDraft(id: "doc\(number)", body: [:]))
      }
      var replication = Replication(.push, with: target)
      replication.batchSize = 2
      replication.isContinuous = true
      let replicator = Replicator(replication, of: source)
      var all: [ReplicationStatus] = []
      for try await status in replicator.run() {
        all.append(status)
        if status.state == .idle { replicator.stop() }
      }
      let idle = try #require(all.first { $0.state == .idle })
      #expect(idle.behind == 0 && idle.lag() == .zero)
      let last = try #require(all.last)
      #expect(last.state == .stopped)
      #expect(last.result.pushed.lastSequence == "5")
      let caughtUp = try #require(last.caughtUp)
      #expect(last.lag(at: caughtUp.addingTimeInterval(2.5)) == .seconds(2.5))
      #expect(ReplicationStatus().lag() == nil)
      #expect(all.allSatisfy { $0.total <= 5 })
    }
  }
}
