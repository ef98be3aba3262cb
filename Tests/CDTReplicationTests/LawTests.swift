import CDTDatastore
import CDTReplication
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// After replicating in both directions, both ends have the same.
@Suite struct LawTests {
  private static func expectSame(
    _ left: Datastore, _ right: Datastore, _ comment: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let differences = try StoreContent(of: left).differences(from: StoreContent(of: right))
    #expect(differences == [], "\(comment)", sourceLocation: sourceLocation)
    for store in [left, right] {
      let findings = try store.checkIntegrity().map(\.message)
      #expect(findings == [], "\(comment)", sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: 0..<100) func `two stores are equal afterwards`(_ number: UInt64) async throws {
    let seed = testSeed(number)
    try await withStores { left, right in
      var (one, other) = (RandomHistory(seed: seed), RandomHistory(seed: seed + 1_000_000))
      for round in 0..<3 {
        try one.change(left, times: 20)
        try other.change(right, times: 20)
        var replication = Replication(.both, with: right)
        replication.batchSize = [1, 3, 1_000][round]
        let result = try await Replicator(replication, of: left).replicate()
        #expect(result.rejected == [], "seed \(seed)")
        try Self.expectSame(left, right, "seed \(seed), round \(round)")
      }
    }
  }

  @Test(arguments: 0..<40) func `a store and one behind a server are equal afterwards`(_ number: UInt64)
    async throws
  {
    let seed = testSeed(number + 1_000)
    try await withServedStore { served in
      var (one, other) = (RandomHistory(seed: seed), RandomHistory(seed: seed + 1_000_000))
      for round in 0..<3 {
        try one.change(served.local, times: 20)
        try other.change(served.remote, times: 20)
        let result = try await served.replicate(.both) { $0.batchSize = [2, 7, 1_000][round] }
        #expect(result.rejected == [], "seed \(seed)")
        try Self.expectSame(served.local, served.remote, "seed \(seed), round \(round)")
      }
    }
  }

  @Test(arguments: 0..<160) func `a store and one behind a bad network are equal afterwards`(
    _ number: UInt64
  ) async throws {
    let seed = testSeed(number + 2_000)
    try await withServedStore { served in
      let proxy = try await FaultyProxy(to: served.server.port, seed: seed, faults: 30)
      var (one, other) = (RandomHistory(seed: seed), RandomHistory(seed: seed + 1_000_000))
      for round in 0..<2 {
        try one.change(served.local, times: 20)
        try other.change(served.remote, times: 20)
        try await served.replicate(.both) { replication in
          replication.peer = .remote(try RemoteDatabase("http://127.0.0.1:\(proxy.port)/db"))
          replication.batchSize = Int(seed % 5) * 5 + 3
          replication.retries.maximumAttempts = 100
        }
        try Self.expectSame(served.local, served.remote, "seed \(seed), round \(round)")
      }
      await proxy.close()
    }
  }
}
