/// Numbers of conjuncts, a bit for each of the first 64. Others are in no set: an index decides none of them, and they are
/// left to the matcher.
struct ConjunctSet: Sendable, Equatable {
  private var bits: UInt64 = 0

  init() {}

  init(_ number: Int) {
    insert(number)
  }

  init(upTo count: Int) {
    for number in 0..<min(count, UInt64.bitWidth) { insert(number) }
  }

  var count: Int { bits.nonzeroBitCount }

  func contains(_ number: Int) -> Bool { number < UInt64.bitWidth && bits & 1 << UInt64(number) != 0 }

  mutating func insert(_ number: Int) {
    if number < UInt64.bitWidth { bits |= 1 << UInt64(number) }
  }

  mutating func formUnion(_ other: ConjunctSet) { bits |= other.bits }

  func union(_ other: ConjunctSet) -> ConjunctSet {
    var union = self
    union.formUnion(other)
    return union
  }

  mutating func formIntersection(_ other: ConjunctSet) { bits &= other.bits }

  func isSubset(of other: ConjunctSet) -> Bool { bits & ~other.bits == 0 }
}
