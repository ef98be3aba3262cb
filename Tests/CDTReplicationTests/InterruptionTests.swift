import CDTDatastore
import CDTReplication
import CDTTestSupport
import Foundation
import Synchronization
import Testing

/// Replications that are killed, and networks that come and go.
@Suite struct InterruptionTests {
  private static func expectSame(_ left: Datastore, _ right: Datastore, _ comment: String) throws {
    #expect(try StoreContent(of: left).differences(from: StoreContent(of: right)) == [], "\(comment)")
    for store in [left, right] { #expect(try store.checkIntegrity().map(\.message) == [], "\(comment)") }
  }

  @Test func `a replication that is killed at any moment is finished by the next one`() async throws {
    let seed = testSeed(4_000)
    var random = SeededGenerator(seed: seed)
    try await withServedStore { served in
      try await withTemporaryDirectory(inMemory: true) { directory in
        let path = "\(directory)/stores/killed"
        let ids = RandomHistory.ids(seed: seed, count: 40)
        func open() throws -> (DatastoreManager, Datastore) {
          let manager = try DatastoreManager(directory: "\(directory)/stores")
          return (manager, try manager.datastore(named: "killed"))
        }
        func program() throws -> BuiltProgram {
          try BuiltProgram(
            "cdtquery", ["replicate", path, served.url, "--both", "--quiet"], hidesErrors: true)
        }
        for round in 0..<8 {
          try withExtendedLifetime(try open()) { opened in
            var (one, other) = (
              RandomHistory(seed: seed &+ UInt64(round), ids: ids),
              RandomHistory(seed: seed &+ UInt64(round) &+ 1_000_000, ids: ids)
            )
            try one.change(opened.1, times: 60)
            try other.change(served.remote, times: 60)
          }
          for _ in 0..<3 {
            let killed = try program()
            try await Task.sleep(for: .milliseconds(Int.random(in: 0..<150, using: &random)))
            _ = killed.kill()
          }
        }
        let (status, _) = try await program().ended()
        #expect(status == 0)
        try withExtendedLifetime(try open()) { opened in
          try Self.expectSame(opened.1, served.remote, "seed \(seed)")
        }
      }
    }
  }

  @Test func `writers on both sides of a network that is cut ten times agree in the end`() async throws {
    let seed = testSeed(5_000)
    try await withServedStore { served in
      let proxy = try await FaultyProxy(to: served.server.port, seed: seed, .some(5))
      var replication = Replication(.both, with: try RemoteDatabase("http://127.0.0.1:\(proxy.port)/db"))
      replication.isContinuous = true
      replication.retries.firstPause = .milliseconds(5)
      replication.retries.longestPause = .milliseconds(50)
      let replicator = Replicator(replication, of: served.local)
      let running = Task { try await replicator.replicate() }
      let writes = Atomic(0)
      let writing = Task {
        for (store, seed) in [(served.local, seed), (served.remote, seed + 1)] {
          var history = RandomHistory(seed: seed)
          for _ in 0..<100 {
            try await Task.sleep(for: .milliseconds(5))
            try history.change(store, times: 1)
            writes.add(1, ordering: .relaxed)
          }
        }
      }
      for cut in 1...10 {
        try await eventually("more is written") { writes.load(ordering: .relaxed) >= cut * 20 }
        proxy.cutAll()
      }
      try await writing.value
      replicator.stop()
      _ = try await running.value
      await proxy.close()
      // What was written last may have had no time to travel.
      try await served.replicate(.both)
      try Self.expectSame(served.local, served.remote, "seed \(seed)")
    }
  }
}
