import Foundation
import Testing

/// The law of ``ReadingDoorTests`` with more seeds: twelve in `make test-more PARTS=random`, and with `FUZZ_SECONDS`, which `make fuzz` sets,
/// as many as there is time for.
@Suite(.serialized) struct ReadingDoorLawTests {
  @Test func `every door answers as one of the visible documents`() async throws {
    let environment = ProcessInfo.processInfo.environment
    let start = ContinuousClock.now
    let first = environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? 100
    var seed = first
    if let seconds = environment["FUZZ_SECONDS"].flatMap({ Double($0) }) {
      repeat {
        try await ReadingDoorTests.run(seed: seed, rounds: 4, requests: 60)
        seed += 1
      } while ContinuousClock.now - start < .seconds(seconds)
      print("\(seed - first) histories of the doors of reading")
    } else {
      for seed in first..<first + 12 { try await ReadingDoorTests.run(seed: seed, rounds: 3, requests: 50) }
    }
  }
}
