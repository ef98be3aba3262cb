import Glibc
import SQLite

/// The documents that a reader meets again and again, by their sequences.
///
/// What a row of `documents` holds never changes: each write gives the document another sequence. So what has to be found
/// out at the beginning of a snapshot is which documents have been written since the one before, and those are the last
/// rows of the table. All others are as they were, whatever became of the pages that SQLite holds, which it drops at every
/// commit. A hit is thus exactly what a look-up in the snapshot would find.
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

  /// The documents file as it was at the beginning of the snapshot: SQLite's version of the data, the newest sequence, and
  /// the session that wrote it, which is known while there are entries.
  private var version: UInt32?
  private var lastSequence: Int64 = 0
  private var session: String?
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
  var count: Int { bySequence.count }

  // MARK: Snapshots

  /// Follows the connection into a snapshot that has just begun, which is never earlier than the one before.
  func begin(lastSequence: Int64, on connection: Connection) throws(SQLiteError) {
    current = nil
    failure = nil
    met.beginSnapshot()
    if isFull { reclaim() }
    let version = connection.dataVersion
    guard version != self.version || version == nil else { return }
    do {
      if statements == nil { statements = try Statements(connection) }
      if count > 0, try !follow(to: lastSequence) { removeAll() }
    } catch {
      removeAll()
      throw error
    }
    self.version = version
    self.lastSequence = lastSequence
  }

  /// Leaves out the documents that have been written since the last snapshot.
  ///
  /// - Returns: Whether that was possible. It is not after very many writes, nor where the documents have another history:
  ///   those of a backup that was brought back.
  private func follow(to newest: Int64) throws(SQLiteError) -> Bool {
    guard let statements, newest > lastSequence, try statements.session(of: lastSequence) == session else {
      return false
    }
    let changed = statements.changed
    defer { changed.reset() }
    try changed.bind(lastSequence, at: 1)
    try changed.bind(Self.mostChanges, at: 2)
    var changes: Int64 = 0
    while try changed.step() {
      changes += 1
      remove(number: changed.int64(0))
    }
    guard changes < Self.mostChanges else { return false }
    session = try statements.session(of: newest)
    return true
  }

  // MARK: Looking up

  /// Looks for the document of a sequence.
  ///
  /// - Returns: The sequence, if the document has to be read in its table; `nil` when it is ``current``.
  @inline(__always)
  func want(_ sequence: Int64) throws(SQLiteError) -> Int64? {
    current = find(sequence)
    if current != nil { return nil }
    guard met.meet(sequence), !isFull else { return sequence }
    current = try load(sequence)
    return current == nil ? sequence : nil
  }

  /// The document of a sequence, if it is here.
  @inline(__always)
  func find(_ sequence: Int64) -> CachedDocument? {
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
    guard let statements else { return nil }
    let row = statements.document
    defer { row.reset() }
    try row.bind(sequence, at: 1)
    guard try row.step() else { return nil }
    if count == 0 { session = try statements.session(of: lastSequence) }
    let (id, revision, body) = (row.unsafeBytes(3), row.unsafeBytes(4), row.unsafeBytes(5))
    let size = CachedDocument.size(id.count + revision.count + body.count)
    let number = row.int64(0)
    guard let offset = room(for: size), let memory else { return nil }
    let document = CachedDocument.write(
      to: memory + offset, sequence: sequence, number: number, written: row.int64(1),
      attachments: row.int64(2), id: id, revision: revision, body: body)
    bySequence.insert(sequence, offset: offset)
    byNumber.insert(number, offset: offset)
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
      if !document.isGone {
        remove(document)
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

  private func remove(number: Int64) {
    guard let memory,
      let offset = byNumber.offset(
        of: number, where: { CachedDocument(entry: memory + $0).number == number })
    else { return }
    let document = CachedDocument(entry: memory + offset)
    remove(document)
    document.markGone()
  }

  private func remove(_ document: CachedDocument) {
    guard let memory else { return }
    bySequence.remove(document.sequence) { memory + $0 == document.entry }
    byNumber.remove(document.number) { memory + $0 == document.entry }
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
  private let connection: Connection

  init(_ connection: Connection) throws(SQLiteError) {
    self.connection = connection
    document = try connection.statement(
      """
      SELECT number, coalesce(written, sequence), attachments, id, revision, body
      FROM main.documents WHERE sequence = ?1
      """)
    changed = try connection.statement("SELECT number FROM main.documents WHERE sequence > ?1 LIMIT ?2")
  }

  /// The session that wrote a sequence.
  func session(of sequence: Int64) throws(SQLiteError) -> String? {
    try IndexCatalog.session(of: sequence, in: "main", on: connection)
  }
}
