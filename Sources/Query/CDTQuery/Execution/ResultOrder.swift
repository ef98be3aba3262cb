import CDTJSON
import CDTSQLite

/// Sorts documents by their keys: the first *n*, or all of them.
///
/// For the first *n*, up to 2 *n* are kept. When there are more, they are sorted and the later ones are dropped; from
/// then on, documents after the last one kept are skipped. If all are wanted, they are kept in memory up to a limit
/// and then moved to a temporary database, which SQLite sorts on disk.
struct ResultOrder: ~Copyable {
  private struct Entry {
    /// The first eight bytes of the key, which decide most comparisons.
    let prefix: UInt64
    /// The start of the key in the array of keys.
    let start: Int
    let end: Int
    let number: Int64
  }

  /// The number of documents to keep, or `nil` for all.
  private let wanted: Int?
  private let memory: Int
  private var entries: [Entry] = []
  /// The keys, in one array, because small arrays per document would dominate the cost.
  private var bytes: [UInt8] = []
  /// The key of the last document to keep, if it is known: those after it are not needed.
  private(set) var last: OrderKey?
  private var overflow: SortOverflow?
  private var isSorted = false
  private var next = 0

  /// - Parameters:
  ///   - wanted: The number of documents to keep, or `nil` for all.
  ///   - memory: The memory limit in bytes.
  init(wanted: Int?, memory: Int) {
    // A limit close to the memory limit is treated as no limit.
    self.wanted = wanted.flatMap { $0 < memory / 512 ? $0 : nil }
    self.memory = memory
  }

  /// Adds a document.
  mutating func add(_ key: OrderKey, number: Int64) throws {
    if let last, !(key < last) { return }
    let start = bytes.count
    bytes += key.bytes
    let entry = bytes.withUnsafeBytes {
      let prefix = JSONBytes($0).prefix(start, $0.count)
      return Entry(prefix: prefix, start: start, end: $0.count, number: number)
    }
    entries.append(entry)
    if let wanted {
      if entries.count > 2 * wanted { keepFirst(wanted) }
    } else if bytes.count + entries.count * MemoryLayout<Entry>.stride > memory {
      try spill()
    }
  }

  private mutating func keepFirst(_ wanted: Int) {
    sortEntries()
    entries.removeLast(entries.count - wanted)
    var kept: [UInt8] = []
    for (position, entry) in entries.enumerated() {
      let start = kept.count
      kept += bytes[entry.start..<entry.end]
      entries[position] = Entry(prefix: entry.prefix, start: start, end: kept.count, number: entry.number)
    }
    bytes = kept
    last = entries.last.map { OrderKey(Array(bytes[$0.start..<$0.end])) }
  }

  /// The next document in order, after all have been added.
  ///
  /// - Parameter body: Called with its key and its number.
  mutating func takeNext<R>(_ body: (_ key: UnsafeRawBufferPointer, _ number: Int64) -> R) throws -> R? {
    if !isSorted { try sort() }
    if let overflow { return try overflow.next(body) }
    guard next < entries.count else { return nil }
    let entry = entries[next]
    next += 1
    return bytes.withUnsafeBytes {
      body(UnsafeRawBufferPointer(rebasing: $0[entry.start..<entry.end]), entry.number)
    }
  }

  /// The number of the next document in order, after all have been added.
  mutating func takeNext() throws -> Int64? {
    try takeNext { $1 }
  }

  private mutating func sort() throws {
    isSorted = true
    if overflow != nil { return try spill() }
    sortEntries()
  }

  private mutating func sortEntries() {
    bytes.withUnsafeBytes { bytes in entries.sort { Self.precedes($0, $1, bytes) } }
  }

  private static func precedes(_ left: Entry, _ right: Entry, _ bytes: UnsafeRawBufferPointer) -> Bool {
    if left.prefix != right.prefix { return left.prefix < right.prefix }
    return Order(
      UnsafeRawBufferPointer(rebasing: bytes[left.start..<left.end]),
      UnsafeRawBufferPointer(rebasing: bytes[right.start..<right.end])
    ).isAscending
  }

  private mutating func spill() throws {
    let overflow = try overflow ?? SortOverflow(memory: memory)
    self.overflow = overflow
    for entry in entries { try overflow.add(bytes[entry.start..<entry.end], number: entry.number) }
    entries.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }
}

/// A temporary database that sorts what does not fit into memory. It is deleted with the object.
private final class SortOverflow {
  private let connection: Connection
  private var insertion: Statement
  private var selection: Statement?
  /// Stepping a statement beyond its end would restart it.
  private var isOver = false

  init(memory: Int) throws {
    // A database without a name is SQLite's temporary one, which spills to disk when it outgrows its cache. SQLite
    // sorts at least 250 pages at a time, so pages are small.
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

  func add(_ key: ArraySlice<UInt8>, number: Int64) throws {
    try insertion.bind(blob: Array(key), at: 1)
    try insertion.bind(number, at: 2)
    try insertion.run()
  }

  func next<R>(_ body: (_ key: UnsafeRawBufferPointer, _ number: Int64) -> R) throws -> R? {
    if isOver { return nil }
    let selection =
      try selection ?? connection.statement("SELECT key, number FROM entries ORDER BY key")
    self.selection = selection
    isOver = try !selection.step()
    return isOver ? nil : selection.withBytes(0) { body($0, selection.int64(1)) }
  }
}
