import Glibc
import SQLite

/// The documents that a reader meets again and again, by their sequences.
///
/// What a row of `documents` holds never changes: each write gives the document another sequence. So what has to be left
/// out at the beginning of a snapshot are the documents that have been written since the one before, which the
/// ``SnapshotFollower`` tells. All others are as they were, whatever became of the pages that SQLite holds, which it drops
/// at every commit. A hit is thus exactly what a look-up in the snapshot would find.
///
/// Statements ask through `cdt_wanted`, see ``QuerySQL``. A document is taken in when it is met in a second snapshot.
/// Its entry stays where it is until the next one begins; only then is room made for others.
final class DocumentCache {
  static let pointerType: StaticString = "cdt-document-cache"

  /// The document that ``want(_:)`` was asked for last, if it is here.
  private(set) var current: CachedDocument?
  /// What kept a document from being read.
  private(set) var failure: SQLiteError?

  /// The entries, one behind the other in each of several segments. What was never written takes no memory.
  private var memory: UnsafeMutableRawPointer?
  private let segmentSize: Int
  /// How many bytes of each segment are in use.
  private var used: [Int]
  /// The segment that entries are added to.
  private var open = 0
  private var isFull = false

  private var bySequence = OffsetTable()
  private var byNumber = OffsetTable()
  private var met = MetSequences()

  private var statements: Statements?

  /// About 100,000 documents of 300 bytes.
  static let defaultCapacity = 40 << 20
  private static let segmentCount = 40
  /// How many written documents are looked at; after more of them the cache begins anew.
  private static let mostChanges: Int64 = 1_000

  /// - Parameter capacity: The bytes of all entries at most.
  init(capacity: Int = DocumentCache.defaultCapacity) {
    segmentSize = capacity / Self.segmentCount & ~7
    used = Array(repeating: 0, count: Self.segmentCount)
  }

  deinit {
    memory?.deallocate()
  }

  /// How many documents are here.
  var count: Int { byNumber.count }

  // MARK: Snapshots

  /// Follows the connection into a snapshot that has just begun.
  ///
  /// - Parameter written: What has been written since the one before.
  func begin(_ written: SnapshotFollower.Written, on connection: Connection) throws {
    current = nil
    failure = nil
    met.beginSnapshot()
    if isFull { reclaim() }
    do {
      let statements = try statements ?? Statements(connection)
      self.statements = statements
      switch written {
      case .nothing: return
      case .unknown: removeAll()
      case .after(let sequence):
        if count > 0, try !leaveOut(after: sequence, statements.changed) { removeAll() }
      }
    } catch {
      removeAll()
      throw error
    }
  }

  /// Goes on with another connection to the same file.
  func changeConnection() {
    statements = nil
  }

  /// Leaves out the documents that have been written since a sequence.
  ///
  /// - Returns: Whether that was possible. It is not after very many writes.
  private func leaveOut(after sequence: Int64, _ changed: Statement) throws(SQLiteError) -> Bool {
    defer { changed.reset() }
    try changed.bind(sequence, at: 1)
    try changed.bind(Self.mostChanges, at: 2)
    var changes: Int64 = 0
    while try changed.step() {
      changes += 1
      remove(number: changed.int64(0))
    }
    return changes < Self.mostChanges
  }

  // MARK: Looking up

  /// Looks for the document of a sequence.
  ///
  /// - Returns: The sequence, if the document has to be read in its table. `nil` when it is ``current``, or when it is known
  ///   to be gone, and nothing is.
  @inline(__always)
  func want(_ sequence: Int64) throws(SQLiteError) -> Int64? {
    if let entry = entry(of: sequence) {
      current = entry.isGone ? nil : entry
      return nil
    }
    current = nil
    guard met.meet(sequence), !isFull else { return sequence }
    current = try load(sequence)
    return current == nil ? sequence : nil
  }

  /// The document of a sequence, if it is here.
  @inline(__always)
  func find(_ sequence: Int64) -> CachedDocument? {
    guard let entry = entry(of: sequence), !entry.isGone else { return nil }
    return entry
  }

  /// The entry of a sequence, which may be gone.
  @inline(__always)
  private func entry(of sequence: Int64) -> CachedDocument? {
    guard let memory,
      let offset = bySequence.offset(
        of: sequence, where: { CachedDocument(entry: memory + $0).sequence == sequence })
    else { return nil }
    let document = CachedDocument(entry: memory + offset)
    document.isAskedFor = true
    return document
  }

  /// Notes an error for whoever runs the statement: a function can fail only with a message.
  func fail(_ error: SQLiteError) {
    current = nil
    failure = error
  }

  // MARK: Taking in

  /// Reads a document and takes it in. It is `nil` when it has been written since, or there is no room.
  private func load(_ sequence: Int64) throws(SQLiteError) -> CachedDocument? {
    try withRow(of: sequence, take)
  }

  /// Reads a document and gives its row, of ``CachedDocument/columns``, to `body`. It is `nil` when it has been written
  /// since.
  func withRow(
    of sequence: Int64, _ body: (Statement) -> CachedDocument?
  ) throws(SQLiteError) -> CachedDocument? {
    guard let row = statements?.document else { return nil }
    defer { row.reset() }
    try row.bind(sequence, at: 1)
    return try row.step() ? body(row) : nil
  }

  private func take(_ row: Statement) -> CachedDocument? {
    guard let offset = room(for: CachedDocument.size(of: row)), let memory else { return nil }
    let document = CachedDocument.write(row, to: memory + offset)
    bySequence.insert(document.sequence, offset: offset)
    byNumber.insert(document.number, offset: offset)
    return document
  }

  /// Where an entry of a size can be written. What is larger than a segment is never taken in.
  private func room(for size: Int) -> Int? {
    guard size <= segmentSize else { return nil }
    if used[open] + size > segmentSize {
      guard open + 1 < used.count, used[open + 1] == 0 else {
        isFull = true
        return nil
      }
      open += 1
    }
    if memory == nil { memory = .allocate(byteCount: segmentSize * used.count, alignment: 16) }
    defer { used[open] += size }
    return open * segmentSize + used[open]
  }

  // MARK: Leaving out

  /// Makes room in the segment that was filled longest ago: of its documents those stay that were asked for since, if they
  /// leave room for others.
  private func reclaim() {
    guard let memory else { return }
    open = (open + 1) % used.count
    let segment = open * segmentSize
    let end = segment + used[open]
    var (from, to) = (segment, segment)
    while from < end {
      let document = CachedDocument(entry: memory + from)
      let size = document.size
      bySequence.remove(document.sequence) { memory + $0 == document.entry }
      if !document.isGone {
        byNumber.remove(document.number) { memory + $0 == document.entry }
        if document.isAskedFor, to - segment + size <= segmentSize / 2 {
          document.isAskedFor = false
          bySequence.insert(document.sequence, offset: to)
          byNumber.insert(document.number, offset: to)
          if to < from { memmove(memory + to, memory + from, size) }
          to += size
        }
      }
      from += size
    }
    used[open] = to - segment
    isFull = false
  }

  /// Notes that a document has been written since. Its entry stays, as an index may name its sequence for long.
  private func remove(number: Int64) {
    guard let memory,
      let offset = byNumber.offset(
        of: number, where: { CachedDocument(entry: memory + $0).number == number })
    else { return }
    let document = CachedDocument(entry: memory + offset)
    byNumber.remove(document.number) { memory + $0 == document.entry }
    document.markGone()
  }

  private func removeAll() {
    bySequence.removeAll()
    byNumber.removeAll()
    used = Array(repeating: 0, count: used.count)
    open = 0
    isFull = false
    memory?.deallocate()
    memory = nil
  }
}

/// The cache's own statements. They are held here, so that they are prepared once.
private struct Statements {
  let document: Statement
  let changed: Statement

  init(_ connection: Connection) throws(SQLiteError) {
    document = try connection.statement(
      "SELECT \(CachedDocument.columns) FROM main.documents d WHERE d.sequence = ?1")
    changed = try connection.statement("SELECT number FROM main.documents WHERE sequence > ?1 LIMIT ?2")
  }
}
