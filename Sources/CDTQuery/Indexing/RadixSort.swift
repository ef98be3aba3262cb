/// Sorts by an integer in linear time, a byte at a time from the last; equal ones keep their order.
enum RadixSort {
  static func sorted<Element>(_ elements: [Element], by key: (Element) -> UInt64) -> [Element] {
    guard let first = elements.first.map(key) else { return [] }
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
      // A byte that all share changes nothing.
      if counts[byte * 256 + Int(first >> shift & 0xFF)] == elements.count { continue }
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
