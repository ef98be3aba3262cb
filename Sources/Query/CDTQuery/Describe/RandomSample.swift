/// A uniform random sample of a sequence whose length is not known: each element has the same chance.
package struct RandomSample<Element> {
  private let count: Int
  private var state: UInt64
  private var seen = 0
  private var kept: [(position: Int, element: Element)] = []

  /// - Parameters:
  ///   - count: The number of elements to keep.
  ///   - seed: The same seed gives the same sample of the same sequence.
  package init(of count: Int, seed: UInt64) {
    self.count = count
    state = seed
  }

  /// Adds the next element, which is made only if it is kept for now.
  package mutating func add(_ element: () -> Element) {
    defer { seen += 1 }
    guard kept.count >= count else { return kept.append((seen, element())) }
    let place = random(below: seen + 1)
    if place < count { kept[place] = (seen, element()) }
  }

  /// The sample, in the order of the sequence.
  package var elements: [Element] { kept.sorted { $0.position < $1.position }.map(\.element) }

  /// A number of SplitMix64, whose remainder is as good as random while the limit is far below 2⁶⁴.
  private mutating func random(below limit: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Int(DistinctCounter.mixed(state) % UInt64(limit))
  }
}
