import CDTDatastore
import CDTReplication
import CDTTestSupport
import Foundation
import Testing

/// What is sent again after a failure, and what is not.
///
/// One after the other, as each has many files open.
@Suite(.serialized) struct ResendingTests {
  private static func edit(_ served: ServedStore, seed: UInt64, times: Int) throws {
    let ids = RandomHistory.ids(seed: seed, count: 20)
    var (one, other) = (RandomHistory(seed: seed, ids: ids), RandomHistory(seed: seed &+ 1_000_000, ids: ids))
    try one.change(served.local, times: times)
    try other.change(served.remote, times: times)
  }

  private static func replicate(_ served: ServedStore, through proxy: FaultyProxy) async throws {
    let result = try await served.replicate(.both) { replication in
      replication.peer = .remote(try RemoteDatabase("http://127.0.0.1:\(proxy.port)/db"))
      replication.batchSize = 7
    }
    #expect(result.rejected == [])
  }

  private static func expectSame(_ served: ServedStore, _ comment: String) throws {
    #expect(
      try StoreContent(of: served.local).differences(from: StoreContent(of: served.remote)) == [],
      "\(comment)")
  }

  @Test(arguments: 0..<20) func `after one failure only what it concerned is sent again, once`(
    _ number: UInt64
  ) async throws {
    let seed = testSeed(6_000 + number)
    try await withServedStore { served in
      try Self.edit(served, seed: seed, times: 30)
      let proxy = try await FaultyProxy(to: served.server.port, seed: seed, .one(1 + Int(number) % 20))
      try await Self.replicate(served, through: proxy)
      try Self.expectSame(served, "seed \(seed)")
      #expect(proxy.disturbed == 1)
      #expect(proxy.transfers.unexcused() == [], "seed \(seed)")
      #expect(proxy.transfers.counts.values.max() ?? 0 <= 2, "seed \(seed)")
      await proxy.close()
    }
  }

  @Test(arguments: [FaultyProxy.Fault.none, .duplicate, .late, .delay])
  func `requests that arrive twice, late or in another order send nothing again`(
    _ fault: FaultyProxy.Fault
  ) async throws {
    let seed = testSeed(7_000)
    try await withServedStore { served in
      let proxy = try await FaultyProxy(to: served.server.port, seed: seed, .all(fault))
      for round in 0..<2 {
        try Self.edit(served, seed: seed &+ UInt64(round), times: 10)
        try await Self.replicate(served, through: proxy)
        try Self.expectSame(served, "seed \(seed)")
      }
      #expect(proxy.transfers.unexcused() == [], "seed \(seed)")
      await proxy.close()
    }
  }

  @Test func `after a kill nothing is sent more than twice`() async throws {
    let seed = testSeed(8_000)
    var random = SeededGenerator(seed: seed)
    try await withServedStore { served in
      try await withTemporaryDirectory(inMemory: true) { directory in
        let proxy = try await FaultyProxy(to: served.server.port, seed: seed, .all(.none))
        func program() throws -> BuiltProgram {
          try BuiltProgram(
            "cdtquery",
            [
              "replicate", "\(directory)/stores/killed", "http://127.0.0.1:\(proxy.port)/db", "--both",
              "--quiet",
            ],
            hidesErrors: true)
        }
        for round in 0..<4 {
          let seed = seed &+ UInt64(round)
          try withExtendedLifetime(try DatastoreManager(directory: "\(directory)/stores")) { manager in
            var history = RandomHistory(seed: seed, ids: RandomHistory.ids(seed: seed, count: 40))
            try history.change(try manager.datastore(named: "killed"), times: 80)
            try history.change(served.remote, times: 80)
          }
          proxy.transfers = TransferLog()
          let killed = try program()
          try await Task.sleep(for: .milliseconds(Int.random(in: 30..<150, using: &random)))
          _ = killed.kill()
          #expect(try await program().ended().status == 0)
          let often = proxy.transfers.counts.filter { $0.value > 2 }
          #expect(often.isEmpty, "seed \(seed): \(often)")
          try withExtendedLifetime(try DatastoreManager(directory: "\(directory)/stores")) { manager in
            let content = try StoreContent(of: try manager.datastore(named: "killed"))
            #expect(content.differences(from: try StoreContent(of: served.remote)) == [], "seed \(seed)")
          }
        }
        await proxy.close()
      }
    }
  }
}
