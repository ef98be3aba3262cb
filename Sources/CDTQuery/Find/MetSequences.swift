/// Which sequences were met not long ago: a table in which one pushes another out, so that it never grows.
///
/// A ``DocumentCache`` takes in what is met a second time, so that passing over many documents once costs it neither time
/// nor memory.
struct MetSequences {
  /// For each value of a sequence's lower bits, the next bits of the one that was met last, and one more than them.
  private var tags: [UInt16] = []

  private static let bits: Int64 = 18

  /// Notes a sequence.
  ///
  /// - Returns: Whether it was noted before and not pushed out since.
  @inline(__always)
  mutating func meet(_ sequence: Int64) -> Bool {
    if tags.isEmpty { tags = Array(repeating: 0, count: 1 << Self.bits) }
    let place = Int(sequence & (1 << Self.bits - 1))
    // Sequences that differ only above bit 33 are taken for one another, which admits one too early.
    let tag = UInt16(truncatingIfNeeded: (sequence >> Self.bits) & 0x7FFF + 1)
    if tags[place] == tag { return true }
    tags[place] = tag
    return false
  }
}
