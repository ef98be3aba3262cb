/// Numbers of conjuncts. There are seldom as many as 64, which are bits of one word.
struct ConjunctSet: Sendable, Equatable {
  private var first: UInt64 = 0
  /// What is beyond the first 64, 64 to an element; the last is never 0, so that equal sets are equal.
  private var others: [UInt64] = []

  init() {}

  init(_ number: Int) {
    insert(number)
  }

  init(upTo count: Int) {
    for number in 0..<count { insert(number) }
  }

  var count: Int { others.reduce(first.nonzeroBitCount) { $0 + $1.nonzeroBitCount } }

  func contains(_ number: Int) -> Bool {
    if number < 64 { return first & 1 << UInt64(number) != 0 }
    let element = number / 64 - 1
    return others.indices.contains(element) && others[element] & 1 << UInt64(number % 64) != 0
  }

  mutating func insert(_ number: Int) {
    if number < 64 {
      first |= 1 << UInt64(number)
      return
    }
    let element = number / 64 - 1
    while others.count <= element { others.append(0) }
    others[element] |= 1 << UInt64(number % 64)
  }

  mutating func formUnion(_ other: ConjunctSet) {
    first |= other.first
    for (element, bits) in other.others.enumerated() {
      if element < others.count { others[element] |= bits } else { others.append(bits) }
    }
  }

  mutating func formIntersection(_ other: ConjunctSet) {
    first &= other.first
    others = zip(others, other.others).map { $0 & $1 }
    while others.last == 0 { others.removeLast() }
  }

  func union(_ other: ConjunctSet) -> ConjunctSet {
    var union = self
    union.formUnion(other)
    return union
  }

  func isSubset(of other: ConjunctSet) -> Bool {
    other.union(self) == other
  }
}
