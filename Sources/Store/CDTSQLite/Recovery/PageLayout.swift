/// The layout of a page with rows or keys: whether its cells fill their area.
///
/// Zeros at the end of such a page are in the place of cells, which then no longer have their sizes.
///
/// Source: https://sqlite.org/fileformat2.html, B-tree Pages.
enum PageLayout {
  /// - Parameter page: A page without its reserved bytes.
  /// - Returns: Also `true` for a page of another kind, such as one on which a row continues, but `false` for zeros.
  static func isWhole(_ page: [UInt8], isFirst: Bool) -> Bool {
    let start = isFirst ? 100 : 0
    guard start + 12 <= page.count, page.contains(where: { $0 != 0 }) else { return false }
    let isInterior: Bool
    switch page[start] {
    case 0x02, 0x05: isInterior = true
    case 0x0A, 0x0D: isInterior = false
    default: return !isFirst
    }
    let pointers = start + (isInterior ? 12 : 8)
    let count = page.bigEndian16(at: start + 3)
    let content = page.bigEndian16(at: start + 5)
    let firstCell = content == 0 ? 65_536 : content
    guard pointers + 2 * count <= firstCell, firstCell <= page.count else {
      return isContinuation(page, start)
    }
    var used = Int(page[start + 7])
    for cell in 0..<count {
      let size = size(of: page.bigEndian16(at: pointers + 2 * cell), in: page, kind: page[start])
      guard let size else { return isContinuation(page, start) }
      used += size
    }
    // Blocks are in the order of their offsets.
    var (block, last) = (page.bigEndian16(at: start + 1), 0)
    while block > last, block + 4 <= page.count {
      used += page.bigEndian16(at: block + 2)
      (last, block) = (block, page.bigEndian16(at: block))
    }
    return used == page.count - firstCell || isContinuation(page, start)
  }

  /// A page on which a row continues, or that maps others, begins with a page's number or with a kind from 1 to 5, and may
  /// look like one with cells.
  private static func isContinuation(_ page: [UInt8], _ start: Int) -> Bool {
    start == 0 && page[start] == 0x02 || start == 0 && page[start] == 0x05
  }

  /// The size of a cell at an offset; `nil` if it is not within the page.
  private static func size(of offset: Int, in page: [UInt8], kind: UInt8) -> Int? {
    var reader = RawReader(page, at: offset)
    if kind == 0x02 || kind == 0x05 { reader.skip(4) }
    guard let number = reader.varint() else { return nil }
    if kind == 0x05 { return reader.position - offset }
    if kind == 0x0D, reader.varint() == nil { return nil }
    let usable = page.count
    let most = kind == 0x0D ? usable - 35 : (usable - 12) * 64 / 255 - 23
    guard number >= 0, number <= Int64(Int32.max) else { return nil }
    let header = reader.position - offset
    let length = Int(number)
    guard length > most else { return max(4, header + length) }
    let least = (usable - 12) * 32 / 255 - 23
    let local = least + (length - least) % (usable - 4)
    return header + (local <= most ? local : least) + 4
  }
}
