/// A set of document numbers as a bitmap. Numbers go from 1 up to the number of writes.
package struct NumberSet {
  /// Bits are stored in pages, so that a few numbers of a large store need little memory.
  private static let pageBits: Int64 = 1 << 15

  private var pages: [Int64: [UInt64]] = [:]
  /// The page used last, which is often used again.
  private var page: [UInt64] = []
  private var pageNumber: Int64 = -1
  package private(set) var count = 0

  package init() {}

  package var isEmpty: Bool { count == 0 }

  /// Adds a number.
  ///
  /// - Returns: Whether the number is new.
  package mutating func insert(_ number: Int64) -> Bool {
    guard number >= 0 else { return true }
    turn(to: number / Self.pageBits)
    let (word, mask) = Self.place(of: number)
    guard page[word] & mask == 0 else { return false }
    page[word] |= mask
    count += 1
    return true
  }

  package func contains(_ number: Int64) -> Bool {
    guard number >= 0 else { return false }
    let wanted = number / Self.pageBits
    let (word, mask) = Self.place(of: number)
    if wanted == pageNumber { return page[word] & mask != 0 }
    return pages[wanted].map { $0[word] & mask != 0 } ?? false
  }

  /// The numbers of any of some sets.
  package static func union(_ sets: [NumberSet]) -> NumberSet {
    var all = NumberSet()
    for set in sets { set.forEach { _ = all.insert($0) } }
    return all
  }

  /// The numbers that all of some sets have.
  package static func intersection(_ sets: [NumberSet]) -> NumberSet {
    var common = NumberSet()
    sets.first?.forEach { number in
      if sets.dropFirst().allSatisfy({ $0.contains(number) }) { _ = common.insert(number) }
    }
    return common
  }

  /// Calls `body` with each number, in no particular order.
  package func forEach(_ body: (Int64) -> Void) {
    for (number, words) in pages.merging(pageNumber >= 0 ? [pageNumber: page] : [:], uniquingKeysWith: { $1 })
    {
      for (word, bits) in words.enumerated() {
        var rest = bits
        while rest != 0 {
          body(number * Self.pageBits + Int64(word << 6 + rest.trailingZeroBitCount))
          rest &= rest - 1
        }
      }
    }
  }

  private static func place(of number: Int64) -> (word: Int, mask: UInt64) {
    let bit = Int(number % pageBits)
    return (bit >> 6, 1 << UInt64(bit & 63))
  }

  private mutating func turn(to number: Int64) {
    guard number != pageNumber else { return }
    if pageNumber >= 0 { pages[pageNumber] = page }
    page = pages.removeValue(forKey: number) ?? Array(repeating: 0, count: Int(Self.pageBits / 64))
    pageNumber = number
  }
}
