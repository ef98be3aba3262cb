import CDTRandomDocuments
import Foundation
import Testing

/// The long run of the first law, which `make fuzz SECONDS=… SEED=…` starts.
@Suite struct FuzzTests {
  private static let environment = ProcessInfo.processInfo.environment
  static let seconds = environment["FUZZ_SECONDS"].flatMap { Double($0) }

  @Test(.enabled(if: seconds != nil)) func `no query is answered differently for as long as one looks`()
    throws
  {
    let seconds = Self.seconds ?? 0
    let seed = Self.environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000_000)
    let start = ContinuousClock.now
    let isOver = { ContinuousClock.now - start >= .seconds(seconds) }
    var tally = Fuzz.Tally()
    var said = start
    var round: UInt64 = 0
    Self.say("looking for \(seconds) seconds from seed \(seed)")
    repeat {
      var random = RandomDocuments(seed: seed &+ round)
      for _ in 0..<200 {
        if let failure = try Fuzz.compareWithOracle(&random) {
          Self.say("seed \(seed &+ round): \(failure)")
          Issue.record("\(failure)")
          return
        }
      }
      if let report = try Fuzz.round(seed: seed &+ round, steps: 150, tally: &tally, isOver: isOver) {
        Self.say("\(report)")
        Issue.record("a disagreement, shrunk above; again: make fuzz SECONDS=60 SEED=\(seed &+ round)")
        return
      }
      round += 1
      if ContinuousClock.now - said > .seconds(10) {
        said = .now
        let passed = Int((said - start) / .seconds(1))
        Self.say(
          "\(passed) s: \(round) rounds, \(tally.steps) steps, \(tally.queries) queries; next seed \(seed &+ round)"
        )
      }
    } while !isOver()
    Self.say(
      "nothing found in \(round) rounds, \(tally.steps) steps, \(tally.queries) queries from seed \(seed)")
  }

  private static func say(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
  }
}
