import CDTTestSupport
import Foundation
import Testing

/// The law of patterns with many seeds: some thousand in `make test-more PARTS=random`, and with `FUZZ_SECONDS`, which `make fuzz` sets, as
/// many as there is time for.
@Suite struct PatternLawTests {
  @Test func `both engines decide random patterns alike`() {
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["FUZZ_SECONDS"].flatMap { Double($0) }
    let first = environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? testSeed(1_000)
    let start = ContinuousClock.now
    var tally = PatternLaw.Tally()
    while seconds.map({ ContinuousClock.now - start < .seconds($0) }) ?? (tally.patterns < 20_000) {
      if let difference = PatternLaw.check(seed: first &+ UInt64(tally.patterns), &tally) {
        Issue.record("\(difference)")
        return
      }
    }
    print("patterns: \(tally)")
  }
}
