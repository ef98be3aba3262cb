/// Sorts by an integer in linear time, a byte at a time from the last; equal ones keep their order.
enum RadixSort {
  /// - Parameter room: What the elements are moved through; it has as many afterwards, of no meaning, and spares the next
  ///   sort making it.
  static func sort<Element>(
    _ elements: inout [Element], room: inout [Element], by key: (Element) -> UInt64
  ) {
    guard let first = elements.first.map(key) else { return }
    var counts = [Int](repeating: 0, count: 8 * 256)
    for element in elements {
      var rest = key(element)
      for byte in 0..<8 {
        counts[byte * 256 + Int(rest & 0xFF)] += 1
        rest >>= 8
      }
    }
    for byte in 0..<8 {
      let shift = UInt64(8 * byte)
      // A byte that all share changes nothing.
      if counts[byte * 256 + Int(first >> shift & 0xFF)] == elements.count { continue }
      if room.count != elements.count { room = elements }
      var places = [Int](repeating: 0, count: 256)
      for value in 1..<256 { places[value] = places[value - 1] + counts[byte * 256 + value - 1] }
      for element in elements {
        let value = Int(key(element) >> shift & 0xFF)
        room[places[value]] = element
        places[value] += 1
      }
      swap(&elements, &room)
    }
  }
}
