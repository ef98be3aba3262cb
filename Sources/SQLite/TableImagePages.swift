import CSQLite

/// A record on a page, and on a page above the leaves the page of what comes before it.
struct TableImageCell {
  let bytes: [UInt8]
  var child: UInt32 = 0
}

/// One level of a tree while it is made: the page that takes cells.
struct TableImageLevel {
  let isLeaf: Bool
  /// The number of the page, or 0 while there is none.
  var page = 0
  var cells = 0
  /// Where its cells begin: they are laid from the end of the page to its beginning.
  var content = 0
  /// The cell for which the page had no room.
  var deferred: TableImageCell?

  init(isLeaf: Bool) {
    self.isLeaf = isLeaf
  }

  /// How much of the page comes before the places of the cells.
  var headerLength: Int { isLeaf ? 8 : 12 }
}

/// The pages of a ``TableImage``.
///
/// This is one of the few places with pointers. Memory is SQLite's, which takes it over in the end. Every write lies in
/// the page that ``add()`` has given: what a cell takes is compared with what is left before it is placed.
struct TableImagePages: ~Copyable {
  private static let pageSize = 65_536
  private var base: UnsafeMutableRawPointer?
  private var capacity: Int
  private var count = 0
  private let limit: Int
  /// Whether memory has run out. Then nothing is placed any more, and what was placed is gone.
  private(set) var hasRunOut = false

  /// - Parameters:
  ///   - size: About how many bytes are to be placed.
  ///   - limit: How much memory may be taken.
  init(size: Int, limit: Int) {
    self.limit = limit
    capacity = size / Self.pageSize + 4
    base = capacity * Self.pageSize <= limit ? sqlite3_malloc64(UInt64(capacity * Self.pageSize)) : nil
    hasRunOut = base == nil
    // The first page has the schema.
    _ = add()
  }

  deinit { sqlite3_free(base) }

  // MARK: Cells

  /// The longest record that lies on one page.
  static let mostLocal = (pageSize - 12) * 64 / 255 - 23

  /// How much of a record lies on its page; the rest goes to pages of its own.
  static func local(of length: Int) -> Int {
    if length <= mostLocal { return length }
    let least = (pageSize - 12) * 32 / 255 - 23
    let filling = least + (length - least) % (pageSize - 4)
    return filling <= mostLocal ? filling : least
  }

  /// Takes room for a cell on a level's page, and opens a page where there is none.
  ///
  /// - Returns: Where the cell is to be written, all of it; `nil` when the page is full.
  @inline(__always)
  mutating func room(for length: Int, in level: inout TableImageLevel) -> UnsafeMutableRawPointer? {
    if level.page == 0 { open(&level) }
    guard let page = page(level.page),
      level.content - length >= level.headerLength + 2 * (level.cells + 1)
    else { return nil }
    level.content -= length
    Self.store(UInt16(truncatingIfNeeded: level.content), at: page + level.headerLength + 2 * level.cells)
    level.cells += 1
    return page + level.content
  }

  /// Places a cell; false when the page is full.
  mutating func place(_ cell: TableImageCell, in level: inout TableImageLevel) -> Bool {
    let prefix = level.isLeaf ? [] : Self.bytes(of: cell.child)
    guard let target = room(for: prefix.count + cell.bytes.count, in: &level) else { return hasRunOut }
    UnsafeMutableRawBufferPointer(start: target, count: prefix.count + cell.bytes.count)
      .copyBytes(from: prefix + cell.bytes)
    return true
  }

  /// Takes a level's last cell off its page, which has several: a cell takes a quarter of a page at most.
  mutating func removeLast(from level: inout TableImageLevel) -> TableImageCell {
    guard let page = page(level.page), level.cells > 1 else { return TableImageCell(bytes: []) }
    let before = (page + level.headerLength + 2 * (level.cells - 2)).loadUnaligned(as: UInt16.self)
    let all = UnsafeRawBufferPointer(
      start: page + level.content, count: Int(UInt16(bigEndian: before)) - level.content)
    level.content += all.count
    level.cells -= 1
    guard !level.isLeaf else { return TableImageCell(bytes: Array(all)) }
    return TableImageCell(
      bytes: Array(all.dropFirst(4)), child: UInt32(bigEndian: all.loadUnaligned(as: UInt32.self)))
  }

  /// Writes the header of a level's page, which takes no more cells.
  ///
  /// - Parameter right: Above the leaves the page of what comes behind its last cell.
  func close(_ level: TableImageLevel, right: UInt32) {
    guard let page = page(level.page) else { return }
    page.storeBytes(of: level.isLeaf ? 0x0A : 0x02, as: UInt8.self)
    Self.store(UInt16(truncatingIfNeeded: level.cells), at: page + 3)
    Self.store(UInt16(truncatingIfNeeded: level.content), at: page + 5)
    if !level.isLeaf { Self.store(right, at: page + 8) }
  }

  private mutating func open(_ level: inout TableImageLevel) {
    level.page = add()
    level.cells = 0
    level.content = Self.pageSize
  }

  /// Writes the rest of a long record on pages that each name the next.
  ///
  /// - Returns: The number of the first.
  mutating func addChain(_ rest: Slice<UnsafeRawBufferPointer>) -> UInt32 {
    var first: UInt32 = 0
    var last: Int?
    var rest = rest
    while !rest.isEmpty {
      let number = add()
      if let last, let page = page(last) {
        Self.store(UInt32(number), at: page)
      } else {
        first = UInt32(number)
      }
      let part = rest.prefix(Self.pageSize - 4)
      if let page = page(number) {
        UnsafeMutableRawBufferPointer(start: page + 4, count: part.count).copyBytes(from: part)
      }
      rest = rest.dropFirst(part.count)
      last = number
    }
    return first
  }

  // MARK: Pages

  /// How much of a new page is zero: what a header, or the number of a next page, takes. Nothing reads what lies between
  /// the header and the cells.
  private static let blank = 16

  /// Adds a page.
  ///
  /// - Returns: Its number; the first is 1.
  private mutating func add() -> Int {
    if count == capacity, !hasRunOut {
      capacity += capacity / 2
      let size = capacity * Self.pageSize
      let grown = size <= limit ? sqlite3_realloc64(base, UInt64(size)) : nil
      if grown == nil { sqlite3_free(base) }
      base = grown
      hasRunOut = base == nil
    }
    count += 1
    if let page = page(count) { page.initializeMemory(as: UInt8.self, repeating: 0, count: Self.blank) }
    return count
  }

  @inline(__always)
  private func page(_ number: Int) -> UnsafeMutableRawPointer? {
    guard number > 0, number <= count else { return nil }
    return base.map { $0 + (number - 1) * Self.pageSize }
  }

  /// Writes the file's header and the schema's only row, and hands the memory out.
  mutating func take(schema cell: UnsafeRawBufferPointer) -> UnsafeMutableBufferPointer<UInt8>? {
    guard let page = page(1), cell.count < Self.pageSize / 2 else { return nil }
    let file = UnsafeMutableRawBufferPointer(start: page, count: Self.pageSize)
    page.initializeMemory(as: UInt8.self, repeating: 0, count: file.count)
    file.copyBytes(from: Array("SQLite format 3\0".utf8))
    // A page size of 1 is 65,536; then the versions to read and write it, and fractions that are always these.
    let fixed: [UInt8] = [0, 1, 1, 1, 0, 64, 32, 32]
    UnsafeMutableRawBufferPointer(rebasing: file[16..<24]).copyBytes(from: fixed)
    for (offset, value) in [
      24: 1, 28: UInt32(count), 40: 1, 44: 4, 56: 1, 92: 1, 96: UInt32(sqlite3_libversion_number()),
    ] {
      Self.store(value, at: page + offset)
    }
    // The schema's table has its rows by number, on one page.
    let content = Self.pageSize - cell.count
    page.storeBytes(of: 0x0D, toByteOffset: 100, as: UInt8.self)
    Self.store(UInt16(1), at: page + 103)
    Self.store(UInt16(content), at: page + 105)
    Self.store(UInt16(content), at: page + 108)
    UnsafeMutableRawBufferPointer(rebasing: file[content...]).copyBytes(from: cell)
    defer { base = nil }
    return UnsafeMutableBufferPointer(
      start: page.assumingMemoryBound(to: UInt8.self), count: count * Self.pageSize)
  }

  // MARK: Numbers

  @inline(__always)
  private static func store<Number: FixedWidthInteger & BitwiseCopyable>(
    _ number: Number, at target: UnsafeMutableRawPointer
  ) {
    target.storeBytes(of: number.bigEndian, as: Number.self)
  }

  static func bytes(of number: UInt32) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  static func varint(_ value: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 5) { buffer, count in
      if let start = buffer.baseAddress { count = Varint.write(value, to: start) }
    }
  }
}
