/// A set of sequences, a bit for each: sequences are whole numbers from 1 up to the number of writes.
struct SequenceSet {
  /// Bits are kept in pages, so that a few sequences of a large store take little room.
  private static let pageBits: Int64 = 1 << 15

  private var pages: [Int64: [UInt64]] = [:]
  private var page: [UInt64] = []
  private var pageNumber: Int64 = -1

  /// Adds a sequence.
  ///
  /// - Returns: Whether it is new.
  mutating func insert(_ sequence: Int64) -> Bool {
    let number = sequence / Self.pageBits
    if number != pageNumber { turn(to: number) }
    let bit = Int(sequence % Self.pageBits)
    guard bit >= 0 else { return true }
    let mask: UInt64 = 1 << UInt64(bit & 63)
    guard page[bit >> 6] & mask == 0 else { return false }
    page[bit >> 6] |= mask
    return true
  }

  private mutating func turn(to number: Int64) {
    if pageNumber >= 0 { pages[pageNumber] = page }
    page = pages.removeValue(forKey: number) ?? Array(repeating: 0, count: Int(Self.pageBits / 64))
    pageNumber = number
  }
}
