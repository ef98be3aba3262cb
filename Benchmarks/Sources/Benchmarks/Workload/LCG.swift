/// A linear congruential generator, from which every document and parameter is drawn: the same seed, the same bytes.
struct LCG {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// The next 32 bits.
  private mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state >> 32
  }

  /// A number from 0 up to but not including `bound`.
  mutating func below(_ bound: Int) -> Int {
    Int((next() &* UInt64(bound)) >> 32)
  }

  mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[below(choices.count)]
  }

  /// Numbers from 0 up to but not including `bound`, none of them twice.
  mutating func distinct(_ count: Int, below bound: Int) -> [Int] {
    var numbers: [Int] = []
    var seen: Set<Int> = []
    while numbers.count < min(count, bound) {
      let number = below(bound)
      if seen.insert(number).inserted { numbers.append(number) }
    }
    return numbers
  }
}
