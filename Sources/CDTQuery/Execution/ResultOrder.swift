import JSON
import SQLite

/// Puts documents in order by their keys: the first few of any number, or all of them.
///
/// A few are kept while the others pass by, the last of them on top of a heap. All of them are kept in memory up to a
/// bound and then go to a temporary database, which SQLite sorts on disk.
struct ResultOrder: ~Copyable {
  private struct Entry {
    let key: [UInt8]
    let number: Int64
  }

  /// How many are wanted, or `nil` for all.
  private let wanted: Int?
  private let memory: Int
  private var entries: [Entry] = []
  private var size = 0
  private var overflow: SortOverflow?
  private var isSorted = false
  private var next = 0

  /// About what an entry takes besides its key.
  private static let entrySize = 56

  /// - Parameters:
  ///   - wanted: How many of the first are wanted, or `nil` for all.
  ///   - memory: How many bytes may be kept.
  init(wanted: Int?, memory: Int) {
    // As many as that would not be a few.
    self.wanted = wanted.flatMap { $0 < memory / 256 ? $0 : nil }
    self.memory = memory
  }

  /// Takes a document.
  mutating func add(_ key: OrderKey, number: Int64) throws {
    if let wanted {
      if entries.count < wanted {
        entries.append(Entry(key: key.bytes, number: number))
        rise(from: entries.count - 1)
      } else if wanted > 0, Self.precedes(key.bytes, entries[0].key) {
        entries[0] = Entry(key: key.bytes, number: number)
        sink(from: 0)
      }
      return
    }
    entries.append(Entry(key: key.bytes, number: number))
    size += key.bytes.count + Self.entrySize
    if size > memory { try spill() }
  }

  /// The number of the next document in order, once all have been added.
  mutating func takeNext() throws -> Int64? {
    if !isSorted { try sort() }
    if let overflow { return try overflow.next() }
    guard next < entries.count else { return nil }
    defer { next += 1 }
    return entries[next].number
  }

  private mutating func sort() throws {
    isSorted = true
    if overflow != nil { return try spill() }
    entries.sort { Self.precedes($0.key, $1.key) }
  }

  private mutating func spill() throws {
    let overflow = try overflow ?? SortOverflow(memory: memory)
    self.overflow = overflow
    for entry in entries { try overflow.add(entry.key, number: entry.number) }
    entries.removeAll(keepingCapacity: true)
    size = 0
  }

  private static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in right.withUnsafeBytes { Order(left, $0) == .ascending } }
  }

  // MARK: The heap, whose greatest key is first

  private mutating func rise(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard Self.precedes(entries[parent].key, entries[child].key) else { return }
      entries.swapAt(parent, child)
      child = parent
    }
  }

  private mutating func sink(from start: Int) {
    var parent = start
    while true {
      var greatest = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < entries.count && Self.precedes(entries[greatest].key, entries[child].key) {
        greatest = child
      }
      if greatest == parent { return }
      entries.swapAt(parent, greatest)
      parent = greatest
    }
  }
}

/// A temporary database that sorts what does not fit into memory. It goes with the object.
private final class SortOverflow {
  private let connection: Connection
  private var insertion: Statement
  private var selection: Statement?
  /// A statement that is stepped beyond its end begins again.
  private var isOver = false

  init(memory: Int) throws {
    // A database without a name is SQLite's temporary one, on disk as soon as it outgrows its cache. SQLite sorts 250 pages
    // at a time or more, whatever the cache, so they are small.
    connection = try Connection(path: "", mode: .readWriteCreate)
    try connection.execute("PRAGMA page_size = 1024")
    try connection.setCacheSize(memory)
    try connection.execute(
      "PRAGMA journal_mode = OFF; CREATE TABLE entries (key BLOB, number INTEGER); BEGIN")
    insertion = try connection.statement("INSERT INTO entries VALUES (?1, ?2)")
  }

  deinit {
    connection.close()
  }

  func add(_ key: [UInt8], number: Int64) throws {
    try insertion.bind(blob: key, at: 1)
    try insertion.bind(number, at: 2)
    try insertion.run()
  }

  func next() throws -> Int64? {
    if isOver { return nil }
    let selection =
      try selection ?? connection.statement("SELECT number FROM entries ORDER BY key")
    self.selection = selection
    isOver = try !selection.step()
    return isOver ? nil : selection.int64(0)
  }
}
