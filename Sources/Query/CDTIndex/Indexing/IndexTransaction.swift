import CDTDatastore
import CDTJSON
import CDTSQLite

/// Updates the indexes with a write, while the write holds the writer.
///
/// This happens between the write's last statement and its commit. The write's connection sees the new documents, the
/// index file's connection the old ones; the rows to remove and to add are the differences between the two states of
/// each changed document. The index file is committed right after the documents, so after a crash it can be behind,
/// but never ahead.
final class IndexTransaction {
  let file: IndexConnection
  /// The memory in bytes for the rows of a large write before they are written.
  private let rowMemory: Int
  private var known: (revision: Int64, catalog: IndexCatalog, updates: [IndexUpdate])?
  /// Whether a transaction waits for the documents' commit.
  private(set) var isPrepared = false
  /// Whether an index should be measured again.
  private(set) var isMeasuringDue = false

  private var connection: Connection { file.connection }

  init(path: String, of store: Datastore) throws {
    file = try IndexConnection(path: path, of: store, isWriter: true)
    rowMemory = store.memory.indexShare / 4
  }

  func close() {
    file.close()
  }

  // MARK: The write

  /// Writes the index rows of a write; ``commit()`` or ``rollBack()`` must follow.
  ///
  /// - Returns: Whether the indexes lack documents of earlier writes.
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
    try write.forEachChange(before: connection, IndexConnection.documents) { change in
      for update in updates { try update.take(change) }
    }
    var hasNews = false
    for update in updates { hasNews = try update.finish() || hasNews }
    if hasNews { try file.countRevision() }
    let session = try WriterSession.token(of: write.lastSequence, on: write.connection)
    try file.setSequence(write.lastSequence, session: session)
    isMeasuringDue =
      known?.catalog.entries.contains { StatisticsTable.isDue($0, sequence: write.lastSequence) } ?? false
    return isBehind
  }

  /// The indexes of the file, reloaded if the catalog has changed.
  private func updates(_ state: IndexState) throws -> [IndexUpdate] {
    if let known, known.revision == state.revision { return known.updates }
    let catalog = try file.catalog(known: known?.catalog ?? .empty)
    let usable = catalog.entries.filter(\.definition.isUsable)
    if usable.count < catalog.entries.count { try file.leaveOutTexts(after: state) }
    let memory = max(64 * 1024, rowMemory / max(1, usable.count))
    let updates = usable.map { IndexUpdate($0, on: connection, memory: memory) }
    known = (state.revision, catalog, updates)
    return updates
  }

  /// Throws if the prepared write gives two documents the same key of a unique index.
  func checkKeys(_ write: PendingWrite) throws {
    guard !write.isReplicated, let entries = known?.catalog.entries.filter(\.definition.options.isUnique),
      !entries.isEmpty
    else { return }
    let check = UniqueCheck(
      write: write, before: connection, schema: IndexConnection.documents, index: connection)
    for entry in entries { try check.run(entry) }
  }

  /// The indexes by which documents expire.
  var expiring: [IndexCatalog.Entry] { known?.catalog.expiring ?? [] }

  /// The first time after another at which a document expires.
  func nextExpiry(after time: Double) throws -> Double? {
    try ExpiredRows.next(after: time, of: expiring, in: "main", on: connection)
  }

  // MARK: Its end

  func commit() throws {
    guard isPrepared else { return }
    try file.commit()
    isPrepared = false
  }

  func rollBack() {
    isPrepared = false
    // The catalog may have been read from the rolled-back transaction.
    known = nil
    connection.rollBack()
  }
}

extension PendingWrite {
  /// Calls `body` with each document that the write changes, in its old and its new state.
  ///
  /// - Parameters:
  ///   - connection: A connection that sees the documents as they were before the write.
  ///   - schema: The schema name of the documents there.
  func forEachChange(
    before connection: Connection, _ schema: String, _ body: (DocumentChange) throws -> Void
  ) throws {
    let after = try StoredDocuments(
      "WHERE sequence > ?1 ORDER BY sequence", previousSequence, on: self.connection)
    let before = try StoredDocuments("WHERE number = ?1", 0, in: schema, on: connection)
    defer {
      after.reset()
      before.reset()
    }
    while try after.next() {
      var change = DocumentChange(number: after.number, sequence: after.sequence, after: after.document)
      // A document's number is its first sequence, so a higher one is new.
      if change.number <= previousSequence {
        try before.restart(change.number)
        if try before.next() { (change.before, change.sequenceBefore) = (before.document, before.sequence) }
      }
      try body(change)
    }
  }
}

/// A document changed by a write, valid during a call.
struct DocumentChange {
  let number: Int64
  /// The old document and its sequence; `nil` if it did not exist or was deleted.
  var before: DocumentBytes?
  var sequenceBefore: Int64 = 0
  /// The document's sequence in the write.
  let sequence: Int64
  /// The new document, or `nil` if it is deleted.
  let after: DocumentBytes?
}

/// The changes of a write to one index. It is reused for successive writes and keeps its memory.
final class IndexUpdate {
  private let entry: IndexCatalog.Entry
  private let connection: Connection
  private let table: IndexTable
  private lazy var vectors = VectorTable(entry, on: connection)
  private let memory: Int
  private var removals: IndexRows
  private var insertions: IndexRows
  private var shape = IndexRows.Shape()

  /// - Parameter memory: The memory in bytes for the rows of a large write before they are written.
  init(_ entry: IndexCatalog.Entry, on connection: Connection, memory: Int) {
    self.memory = memory
    self.entry = entry
    self.connection = connection
    table = IndexTable(entry, on: connection)
    removals = IndexRows(entry.definition)
    insertions = IndexRows(entry.definition)
  }

  /// Adds a document's change.
  ///
  /// While the index is being built, the builder adds the documents above its watermark, including those that this
  /// write moves there. Their old rows are removed now, as they can't be found later.
  func take(_ change: DocumentChange) throws {
    let isHeld = entry.watermark.map { change.sequenceBefore <= $0 } ?? true
    let before = isHeld ? change.before : nil
    let after = entry.watermark == nil ? change.after : nil
    if before == nil, after == nil { return }
    switch entry.definition.type {
    case .text: return try takeText(change.number, before, after)
    case .vector: return try takeVectors(change.number, before, after)
    case .json, .place: try takeRows(change.number, before, after)
    }
    if insertions.size + removals.size > memory { try write() }
  }

  private func takeRows(_ number: Int64, _ old: DocumentBytes?, _ new: DocumentBytes?) throws {
    if let old, let new, removals.haveSameValues(old, new) { return }
    let oldShape = old.map { removals.add($0, number: number) } ?? IndexRows.Shape()
    let newShape = new.map { insertions.add($0, number: number) } ?? IndexRows.Shape()
    if oldShape.overflows != newShape.overflows {
      try table.setOverflow(newShape.overflows, document: number)
    }
    if newShape.isMultiple { shape.isMultiple = true }
    if newShape.overflows { shape.overflows = true }
  }

  private func takeVectors(_ number: Int64, _ old: DocumentBytes?, _ new: DocumentBytes?) throws {
    let (before, after) = (
      old.map { vectors.content(of: $0, number: number) }, new.map { vectors.content(of: $0, number: number) }
    )
    if before == after { return }
    if (before?.overflows ?? false) != (after?.overflows ?? false) {
      try table.setOverflow(after?.overflows ?? false, document: number)
    }
    if after?.overflows == true { shape.overflows = true }
    try vectors.replace(number, with: after ?? VectorTable.Content())
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

  /// Writes the collected rows in the order of the table, so that each page is visited once. Rows that do not change are
  /// kept.
  private func write() throws {
    removals.sort()
    insertions.sort()
    removals.removeShared(with: &insertions)
    for position in 0..<removals.count { try table.remove(removals, at: position) }
    try table.insert(insertions, 0..<insertions.count)
    try table.writeGroups()
    removals.removeAll()
    insertions.removeAll()
  }

  /// Writes the remaining rows.
  ///
  /// - Returns: Whether the catalog has changed.
  func finish() throws -> Bool {
    try write()
    defer { shape = IndexRows.Shape() }
    return try table.note(shape)
  }
}
