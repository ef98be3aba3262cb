import Foundation

/// Numbers drawn from a seed that a failing test can print; SplitMix64, so that the seed says everything about a run.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// The seed of a test with random input: always the same in `make test` and `make test-more`, so that a failure is one's own; another each time
/// in `make fuzz`. A failing test prints it.
package func testSeed(_ fixed: UInt64) -> UInt64 {
  ProcessInfo.processInfo.environment["FUZZ_SECONDS"] == nil ? fixed : .random(in: 0..<(.max))
}
