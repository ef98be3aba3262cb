import CDTJSON
import CDTSQLite

/// Sorts documents by their keys: the first *n*, or all of them.
///
/// For the first *n*, these are kept in a heap whose root is the last of them, so that most documents are compared with
/// the root alone. If all are wanted, they are kept in memory up to a limit and then moved to a temporary database, which
/// SQLite sorts on disk.
struct ResultOrder: ~Copyable {
  private struct Entry {
    let key: OrderKey
    let number: Int64
  }

  /// The number of documents to keep, or `nil` for all.
  private let wanted: Int?
  private let memory: Int
  /// A heap if there is a number to keep: no entry is before those at 2 *i* + 1 and 2 *i* + 2.
  private var entries: [Entry] = []
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

  /// The key of the last document to keep, if as many are kept as are wanted: those after it are not needed.
  var last: OrderKey? { entries.count == wanted ? entries.first?.key : nil }

  /// Adds a document.
  mutating func add(_ key: OrderKey, number: Int64) throws {
    guard let wanted else {
      entries.append(Entry(key: key, number: number))
      size += key.bytes.count + Self.entrySize
      if size > memory { try spill() }
      return
    }
    if entries.count < wanted {
      entries.append(Entry(key: key, number: number))
      moveUp(Entry(key: key, number: number))
    } else if let root = entries.first, key < root.key {
      moveDown(Entry(key: key, number: number), in: entries.count)
    }
  }

  /// Moves an entry from the end of the heap to its place.
  private mutating func moveUp(_ entry: Entry) {
    var place = entries.count - 1
    while place > 0, entries[(place - 1) / 2].key < entry.key {
      entries[place] = entries[(place - 1) / 2]
      place = (place - 1) / 2
    }
    entries[place] = entry
  }

  /// Puts an entry instead of the root into the heap of the first entries.
  private mutating func moveDown(_ entry: Entry, in count: Int) {
    var place = 0
    while true {
      var child = 2 * place + 1
      guard child < count else { break }
      if child + 1 < count, entries[child].key < entries[child + 1].key { child += 1 }
      guard entry.key < entries[child].key else { break }
      entries[place] = entries[child]
      place = child
    }
    entries[place] = entry
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
    guard wanted != nil else { return entries.sort { $0.key < $1.key } }
    for end in entries.indices.dropFirst().reversed() {
      let entry = entries[end]
      entries[end] = entries[0]
      moveDown(entry, in: end)
    }
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
