/// A set of conjunct positions, a bitmap of the first 64. Further conjuncts are in no set, so indexes don't decide
/// them and the matcher does.
package struct ConjunctSet: Sendable, Equatable {
  private var bits: UInt64 = 0

  /// The positions below it can be in a set.
  static let capacity = UInt64.bitWidth

  init() {}

  init(_ number: Int) {
    insert(number)
  }

  init(upTo count: Int) {
    for number in 0..<min(count, Self.capacity) { insert(number) }
  }

  package var count: Int { bits.nonzeroBitCount }

  /// Whether it has a number below `end`.
  func hasMember(below end: Int) -> Bool { bits.trailingZeroBitCount < min(end, Self.capacity) }

  func contains(_ number: Int) -> Bool { number < Self.capacity && bits & 1 << UInt64(number) != 0 }

  mutating func insert(_ number: Int) {
    if number < Self.capacity { bits |= 1 << UInt64(number) }
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
