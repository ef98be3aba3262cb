import CDTDatastore
import CDTReplication
import CDTTestSupport
import Foundation
import Testing

/// After replicating in both directions, both ends have the same: whatever was changed before and meanwhile, and however
/// often the network fails.
@Suite struct LawTests {
  /// Runs four histories, one after the other, as each has many files open and all cases run beside each other.
  private static func check(_ network: ReplicationHistory.Network, _ first: UInt64) async throws {
    for seed in first..<first + 4 {
      let problems = try await ReplicationHistory(seed: seed, network: network).run()
      #expect(problems == [], "\(network), seed \(seed)")
    }
  }

  @Test func `two stores that merge conflicts by fields on their own make the same revisions`() async throws {
    var (random, both) = (SeededGenerator(seed: 3), 0)
    let ids = (0..<12).map { "doc\($0)" }
    try await withStores { left, right in
      for round in 0..<20 {
        for store in [left, right] {
          for _ in 0..<15 {
            let id = ids[Int.random(in: 0..<12, using: &random)]
            let field = "f\(Int.random(in: 0..<5, using: &random))"
            let value = JSONValue.array([.int(Int64.random(in: 0..<3, using: &random))])
            try await store.write { transaction in
              guard var document = try? transaction.document(withID: id) else {
                return _ = try transaction.createDocument(from: DocumentDraft(id: id, body: [field: value]))
              }
              document.body[field] = value
              _ = try transaction.updateDocument(from: document)
            }
          }
          var history = RandomHistory(seed: random.next(), ids: ids)
          try history.change(store, times: 5)
        }
        let replication = Replication(.both, with: right)
        _ = try await Replicator(replication, of: left).replicate()
        #expect(try StoreContent(of: left).differences(from: StoreContent(of: right)) == [])
        for id in try await left.read({ try $0.conflictedDocumentIDs() }) {
          // A store has the content of an ancestor only if it was written there, or replicated then.
          var merged: [DocumentRevision] = []
          for store in [left, right] {
            let result = try await store.write {
              try $0.resolveConflicts(for: id, by: RandomHistory.merge)
            }
            if let revision = result?.revision { merged.append(revision) }
          }
          if merged.count == 2 { both += 1 }
          #expect(
            merged.allSatisfy { $0.revisionID == merged[0].revisionID && $0.body == merged[0].body })
        }
        _ = try await Replicator(replication, of: left).replicate()
        #expect(
          try StoreContent(of: left).differences(from: StoreContent(of: right)) == [], "round \(round)")
      }
    }
    #expect(both > 20, "\(both)")
  }

  @Test(arguments: 0..<10) func `a store and one behind a server are equal afterwards`(_ number: UInt64)
    async throws
  {
    try await Self.check(.server, number * 4 + 1_000)
  }

  @Test(arguments: 0..<40) func `a store and one behind a bad network are equal afterwards`(
    _ number: UInt64
  ) async throws {
    try await Self.check(.faulty, number * 4 + 2_000)
  }
}

/// The long run of the law, which `make fuzz-replication SECONDS=… SEED=…` starts.
@Suite struct ReplicationFuzzTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seconds = environment["REPLICATION_SECONDS"].flatMap { Double($0) }

  @Test(.enabled(if: seconds != nil)) func `no history fails for as long as one looks`() async throws {
    let seconds = Self.seconds ?? 0
    let seed = Self.environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000_000)
    let start = ContinuousClock.now
    var (round, said): (UInt64, ContinuousClock.Instant) = (0, start)
    Self.say("looking for \(seconds) seconds from seed \(seed)")
    repeat {
      for network in ReplicationHistory.Network.allCases {
        let history = ReplicationHistory(seed: seed &+ round, network: network)
        var problems: [String]
        do {
          problems = try await history.run()
        } catch {
          problems = ["\(error)"]
        }
        guard problems.isEmpty else {
          let (shortest, found) = await history.shrunk(problems)
          Self.say("\(shortest)\n\(found.joined(separator: "\n"))")
          Issue.record(
            "a failure, shrunk above; again: make fuzz-replication SECONDS=60 SEED=\(seed &+ round)")
          return
        }
      }
      round += 1
      if ContinuousClock.now - said > .seconds(10) {
        said = .now
        Self.say("\(round) rounds; next seed \(seed &+ round)")
      }
    } while ContinuousClock.now - start < .seconds(seconds)
    Self.say("nothing found in \(round) rounds of each network from seed \(seed)")
  }

  private static func say(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
  }
}
