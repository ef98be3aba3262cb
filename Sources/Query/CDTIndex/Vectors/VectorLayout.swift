/// The layout of the rows of an index of vectors.
///
/// A row has the entries of documents with neighbouring numbers, as many as fill about a page: a pass over the index steps over few rows,
/// and a write changes a page. The key of a row is the number of the block of documents times 256, plus the part: the position of the
/// vector among those of its document.
///
/// | bytes of an entry | |
/// |---|---|
/// | 1 | the slot: the position of the document in its block |
/// | 8 | the norm of the vector; infinity if the vector has no usable code |
/// | 4 | the scale of the codes |
/// | 4 | the error: at least the distance of the unit vector from the codes times the scale |
/// | 1 for each number | the codes of the unit vector, −127 to 127 |
package struct VectorLayout: Sendable {
  /// The number of elements of a vector.
  let length: Int
  /// The number of documents of a block.
  let slots: Int
  /// The size of an entry in bytes.
  package let entrySize: Int

  static let header = 17
  /// The maximum number of vectors of a document; a document with more is in the overflow of the index.
  static let maximumParts = 256

  package init(length: Int) {
    self.length = length
    entrySize = Self.header + length
    var slots = 1
    for pages in 1...8 {
      // What SQLite stores in so many pages, also if they are encrypted: https://sqlite.org/fileformat2.html#b_tree_pages
      let room = 4_029 + (pages - 1) * 4_064
      slots = max(1, room / entrySize)
      if slots * entrySize * 10 >= room * 9 { break }
    }
    self.slots = slots
  }

  /// The key of the row of a document's first vector, and the slot; `nil` for a number that is too large for a key.
  func place(of number: Int64) -> (key: Int64, slot: UInt8)? {
    let (block, slot) = number.quotientAndRemainder(dividingBy: Int64(slots))
    guard number >= 0, block < 1 << 54 else { return nil }
    return (block * Int64(Self.maximumParts), UInt8(truncatingIfNeeded: slot))
  }

  /// The number of the document of an entry.
  func number(key: Int64, slot: UInt8) -> Int64 { (key >> 8) &* Int64(slots) &+ Int64(slot) }

  /// Throws if a row has another size than its entries.
  func check(_ row: UnsafeRawBufferPointer) throws(IndexDamage) {
    guard row.count % entrySize == 0 else { throw .unreadable("a row of vectors has a wrong size") }
  }
}
