import CDTJSON
import CDTSQLite

/// Sorts documents by their keys: the first *n*, or all of them.
///
/// For the first *n*, up to 2 *n* are kept. When there are more, they are sorted and the later ones are dropped; from
/// then on, documents after the last one kept are skipped. If all are wanted, they are kept in memory up to a limit
/// and then moved to a temporary database, which SQLite sorts on disk.
struct ResultOrder: ~Copyable {
  private struct Entry {
    let key: OrderKey
    let number: Int64
  }

  /// The number of documents to keep, or `nil` for all.
  private let wanted: Int?
  private let memory: Int
  private var entries: [Entry] = []
  /// The key of the last document to keep, if known.
  private var last: OrderKey?
  private var size = 0
  private var overflow: SortOverflow?
  private var isSorted = false
  private var next = 0

  /// The approximate size of an entry without its key.
  private static let entrySize = 56

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
    entries.append(Entry(key: key, number: number))
    if let wanted {
      if entries.count > 2 * wanted { keepFirst(wanted) }
    } else {
      size += key.bytes.count + Self.entrySize
      if size > memory { try spill() }
    }
  }

  private mutating func keepFirst(_ wanted: Int) {
    entries.sort { $0.key < $1.key }
    entries.removeLast(entries.count - wanted)
    last = entries.last?.key
  }

  /// The number of the next document in order, after all have been added.
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
    entries.sort { $0.key < $1.key }
  }

  private mutating func spill() throws {
    let overflow = try overflow ?? SortOverflow(memory: memory)
    self.overflow = overflow
    for entry in entries { try overflow.add(entry.key.bytes, number: entry.number) }
    entries.removeAll(keepingCapacity: true)
    size = 0
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
