/// Sorts by an integer in linear time, a byte at a time from the last; equal ones keep their order.
enum RadixSort {
  /// Below this many elements comparing them costs less.
  private static let fewElements = 256

  static func sorted<Element>(_ elements: [Element], by key: (Element) -> UInt64) -> [Element] {
    guard elements.count > fewElements else { return elements.sorted { key($0) < key($1) } }
    var counts = [Int](repeating: 0, count: 8 * 256)
    for element in elements {
      var rest = key(element)
      for byte in 0..<8 {
        counts[byte * 256 + Int(rest & 0xFF)] += 1
        rest >>= 8
      }
    }
    var sorted = elements
    var other = elements
    for byte in 0..<8 {
      let shift = UInt64(8 * byte)
      let first = Int(key(elements[0]) >> shift & 0xFF)
      // A byte that all share changes nothing.
      if counts[byte * 256 + first] == elements.count { continue }
      var places = [Int](repeating: 0, count: 256)
      for value in 1..<256 { places[value] = places[value - 1] + counts[byte * 256 + value - 1] }
      for element in sorted {
        let value = Int(key(element) >> shift & 0xFF)
        other[places[value]] = element
        places[value] += 1
      }
      swap(&sorted, &other)
    }
    return sorted
  }
}
