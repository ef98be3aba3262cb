/// Which sequences were met in earlier snapshots: a table in which one pushes another out, so that it never grows.
///
/// A ``DocumentCache`` takes in what is met in a second snapshot, so that passing over many documents once costs it
/// neither time nor memory, even where an index has several rows for each.
struct MetSequences {
  /// For each value of a sequence's lower bits, of the sequence that was met last: its next bits, which are never all 0
  /// as one is added, and the number of the snapshot.
  private var tags: [UInt32] = []
  private var snapshot: UInt32 = 0

  private static let bits: Int64 = 18

  mutating func beginSnapshot() {
    snapshot = (snapshot + 1) & 0xFFFF
  }

  /// Notes a sequence.
  ///
  /// - Returns: Whether it was noted in an earlier snapshot and not pushed out since.
  @inline(__always)
  mutating func meet(_ sequence: Int64) -> Bool {
    if tags.isEmpty { tags = Array(repeating: 0, count: 1 << Self.bits) }
    let place = Int(sequence & (1 << Self.bits - 1))
    // Sequences that differ only above bit 33 are taken for one another, which admits one too early.
    let tag = UInt32(truncatingIfNeeded: (sequence >> Self.bits) & 0x7FFF + 1) << 16
    let known = tags[place]
    if known & 0xFFFF_0000 == tag { return known != tag | snapshot }
    tags[place] = tag | snapshot
    return false
  }
}
