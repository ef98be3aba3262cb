import CDTDatastore
import JSON
import SQLite

/// Brings the indexes up to date with a write, in the write's own turn.
///
/// It is done between the write's last statement and its commit. The write's connection sees the documents as they will be,
/// the index file's connection as they were: of each changed document the rows that go and the rows that come are what its
/// two states differ in. The index file is committed right after the documents, so that it can be behind after a crash, but
/// never ahead.
final class IndexTurn {
  let file: IndexConnection
  /// How much memory the rows of a large write may take before they are written, in bytes.
  private let rowMemory: Int
  private var known: (revision: Int64, catalog: IndexCatalog, updates: [IndexUpdate])?
  /// Whether there is a transaction that waits for the documents' commit.
  private var isPrepared = false
  /// Whether some index should be measured anew.
  private(set) var isMeasuringDue = false

  private var connection: Connection { file.connection }

  init(path: String, of store: Datastore) throws {
    file = try IndexConnection(path: path, of: store, isOfTurn: true)
    rowMemory = store.memory.writerShare / 4
  }

  func close() {
    file.close()
  }

  // MARK: The write

  /// Writes what the indexes will have after the write; ``commit()`` or ``rollBack()`` must follow.
  ///
  /// - Returns: Whether indexes lack documents of earlier writes.
  func prepare(_ write: PendingWrite) throws -> Bool {
    try file.beginWriting()
    isPrepared = true
    var state = try file.state()
    let isBehind = state.sequence != write.previousSequence
    if isBehind {
      try file.noteMissedWrites(after: state, upTo: write.previousSequence)
      state = try file.state()
    }
    let updates = try updates(state)
    try forEachChange(in: write) { change in
      for update in updates { try update.take(change) }
    }
    var hasNews = false
    for update in updates { hasNews = try update.finish() || hasNews }
    if hasNews { try file.countRevision() }
    let session = try IndexState.session(of: write.lastSequence, in: "main", on: write.connection)
    try file.setSequence(write.lastSequence, session: session)
    isMeasuringDue =
      known?.catalog.entries.contains { StatisticsTable.isDue($0, sequence: write.lastSequence) } ?? false
    return isBehind
  }

  /// The indexes as the file has them, read anew when it says that they have changed.
  private func updates(_ state: IndexState) throws -> [IndexUpdate] {
    if let known, known.revision == state.revision { return known.updates }
    let catalog = try file.catalog(known: known?.catalog ?? .empty)
    let memory = max(64 * 1024, rowMemory / max(1, catalog.entries.count))
    let updates = catalog.entries.map { IndexUpdate($0, on: connection, memory: memory) }
    known = (state.revision, catalog, updates)
    return updates
  }

  /// Calls `body` with each document that the write changes, as it was and as it will be.
  private func forEachChange(in write: PendingWrite, _ body: (DocumentChange) throws -> Void) throws {
    let after = try write.connection.statement(
      """
      SELECT number, id, revision, deleted, body, sequence FROM documents WHERE sequence > ?1 ORDER BY sequence
      """)
    let before = try connection.statement(
      """
      SELECT number, id, revision, deleted, body, sequence FROM \(IndexConnection.documents).documents
       WHERE number = ?1
      """)
    defer {
      after.reset()
      before.reset()
    }
    try after.bind(write.previousSequence, at: 1)
    while try after.step() {
      let number = after.int64(0)
      var change = DocumentChange(number: number, after: Self.document(after))
      // A document's number is its first sequence, so a higher one is new.
      if number <= write.previousSequence {
        before.reset()
        try before.bind(number, at: 1)
        if try before.step() {
          change.before = Self.document(before)
          change.sequenceBefore = before.int64(5)
        }
      }
      try body(change)
    }
  }

  /// The document of a row, unless it is deleted.
  private static func document(_ row: Statement) -> DocumentBytes? {
    guard row.int64(3) == 0 else { return nil }
    return DocumentBytes(id: row.unsafeBytes(1), revision: row.unsafeBytes(2), body: row.unsafeBytes(4))
  }

  // MARK: Its end

  func commit() throws {
    guard isPrepared else { return }
    try connection.commit()
    isPrepared = false
  }

  func rollBack() {
    isPrepared = false
    // It may have been read from what is not kept.
    known = nil
    connection.rollBack()
  }
}

/// A document that a write changes, lent for a call.
struct DocumentChange {
  let number: Int64
  /// What it was, and its sequence then; `nil` where it was not there or deleted.
  var before: DocumentBytes?
  var sequenceBefore: Int64 = 0
  /// What it will be, or `nil` where it is deleted.
  let after: DocumentBytes?
}

/// What a write changes in one index. It is used for one write after the other, and keeps its memory.
final class IndexUpdate {
  private let entry: IndexCatalog.Entry
  private let connection: Connection
  private let table: IndexTable
  private let memory: Int
  private var removals: IndexRows
  private var insertions: IndexRows
  private var shape = IndexRows.Shape()

  /// - Parameter memory: How much the rows of a large write may take before they are written, in bytes.
  init(_ entry: IndexCatalog.Entry, on connection: Connection, memory: Int) {
    self.memory = memory
    self.entry = entry
    self.connection = connection
    table = IndexTable(entry, on: connection)
    removals = IndexRows(entry.definition)
    insertions = IndexRows(entry.definition)
  }

  /// Takes in what a write does to a document.
  ///
  /// While the index is being filled, the builder takes in what lies above its watermark, also documents that this write
  /// puts there. Their rows go now, as nobody could tell them later.
  func take(_ change: DocumentChange) throws {
    let isHeld = entry.watermark.map { change.sequenceBefore <= $0 } ?? true
    let before = isHeld ? change.before : nil
    let after = entry.watermark == nil ? change.after : nil
    if before == nil, after == nil { return }
    guard entry.definition.type == .json else { return try takeText(change.number, before, after) }
    try takeRows(change.number, before, after)
    if insertions.size + removals.size > memory { try write() }
  }

  /// Rows that a change leaves as they are stay.
  private func takeRows(_ number: Int64, _ old: DocumentBytes?, _ new: DocumentBytes?) throws {
    let (firstOld, firstNew) = (removals.count, insertions.count)
    let oldShape = old.map { removals.add($0, number: number) } ?? IndexRows.Shape()
    let newShape = new.map { insertions.add($0, number: number) } ?? IndexRows.Shape()
    if oldShape.isApart != newShape.isApart { try table.setApart(newShape.isApart, document: number) }
    if removals.endsEqually(from: firstOld, insertions, from: firstNew) {
      removals.removeLast(from: firstOld)
      insertions.removeLast(from: firstNew)
    }
    if newShape.isMultiple { shape.isMultiple = true }
    if newShape.isApart { shape.isApart = true }
  }

  private func takeText(_ number: Int64, _ old: DocumentBytes?, _ new: DocumentBytes?) throws {
    guard let new else { return try TextIndexTable.remove(number, from: entry, on: connection) }
    if let old,
      TextIndexTable.texts(of: entry.definition, old) == TextIndexTable.texts(of: entry.definition, new)
    {
      return
    }
    try TextIndexTable.replace(
      number, new, entry.definition, in: IndexFile.table(entry), on: connection)
  }

  /// Writes what has come together, in the order of the table, so that its pages are visited one after the other.
  private func write() throws {
    removals.sort()
    for position in 0..<removals.count { try table.remove(removals, at: position) }
    insertions.sort()
    try table.insert(insertions, 0..<insertions.count)
    removals.removeAll()
    insertions.removeAll()
  }

  /// Writes the rest.
  ///
  /// - Returns: Whether the catalog has changed.
  func finish() throws -> Bool {
    try write()
    defer { shape = IndexRows.Shape() }
    return try table.note(shape)
  }
}
