import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTSQLite

/// Builds incomplete indexes, in short steps that let other writers proceed.
///
/// An incomplete index has a watermark: it has exactly the rows of the documents whose sequence is at or below it.
/// Documents above it are checked by the matcher. A write that moves a document above the watermark removes its rows
/// (``IndexUpdate``), so the builder only adds rows.
///
/// Documents are read in batches in the order of their sequences, without a lock. The rows of a batch are sorted and
/// inserted in the order of the table, which visits each page once. This takes several transactions of some
/// milliseconds each, and other writers can run between them. Only the last one raises the watermark. Until then the
/// index has stale rows, of documents above its watermark, which queries ignore; `staleRows` in the catalog counts the
/// causes of such rows. If the builder is killed, they remain, and the next one starts with ``removeStrays(of:)``.
final class IndexBuilder {
  private let store: Datastore
  let file: IndexConnection
  private let shouldContinue: (IndexProgress) -> Bool
  /// The memory for the rows of a batch. Each batch visits all pages of a large index, so few large ones are faster.
  private var rowMemory: MemoryShare
  /// The number of documents added, counted once for each index.
  var done = 0
  private var total = 0

  var connection: Connection { file.connection }
  let documents = "\(IndexConnection.documents).documents"

  /// The maximum time a transaction holds the write lock, and the pause after it. A process that waits for the lock
  /// polls it every half millisecond.
  static let longestStep = Duration.milliseconds(6)
  static let pause: UInt32 = 700
  /// The number of documents read between two calls of `shouldContinue`.
  private static let interval = 1_000
  /// The number of documents from which on a build takes memory of idle readers.
  private static let largeBuild = 50_000
  /// The maximum number of documents added by the transaction that completes the index.
  private static let maximumLast = 200

  /// - Parameters:
  ///   - file: The index file, opened only for the build.
  ///   - shouldContinue: Called with the progress; returns whether to continue.
  init(_ store: Datastore, _ file: IndexConnection, shouldContinue: @escaping (IndexProgress) -> Bool) {
    self.store = store
    self.file = file
    self.shouldContinue = shouldContinue
    rowMemory = store.memory.borrow(store.memory.indexShare)
  }

  /// Builds the incomplete indexes, or the named one.
  ///
  /// - Returns: Whether the indexes are complete; `false` if the build was stopped.
  func run(only name: String? = nil) throws -> Bool {
    guard try isNeeded() else { return try reportProgress() }
    try file.writing { try noteMissedWrites() }
    total = try documentsAhead(only: name)
    if total > Self.largeBuild {
      store.closeIdleReaders()
      rowMemory = store.memory.borrow(3 * store.memory.indexShare)
    }
    while let entry = try nextEntry(only: name) {
      // After the catalog is read: the worker leaves a new index to the caller who declared it.
      guard try reportProgress() else { return false }
      do {
        guard try work(on: entry) else { return false }
      } catch let error as QueryError where error.code == .unknownIndex && name == nil {
        // It was deleted in the meantime; the others are wanted still.
        continue
      }
    }
    try StatisticsTable.measure(where: name, on: file)
    total = max(done, total)
    if done < total {
      done = total
      _ = try reportProgress()
    }
    return true
  }

  /// The documents above a watermark.
  func stored(after watermark: Int64) throws(SQLiteError) -> StoredDocuments {
    try StoredDocuments(
      "WHERE sequence > ?1 ORDER BY sequence", watermark, in: IndexConnection.documents, on: connection)
  }

  private func work(on entry: IndexCatalog.Entry) throws -> Bool {
    guard entry.staleRows > 0 else {
      switch entry.definition.type {
      case .json, .place: return try fill(entry)
      case .text: return try fillWords(entry)
      case .vector: return try fillVectors(entry)
      }
    }
    try removeStrays(of: entry)
    return true
  }

  /// Whether there is anything to do, found out without blocking writers.
  private func isNeeded() throws -> Bool {
    try connection.transaction(.deferred) {
      let (state, last) = (try file.state(), try file.lastSequence())
      return try state.sequence != last
        || usableEntries().contains {
          $0.watermark != nil || $0.staleRows > 0 || StatisticsTable.isDue($0, sequence: last)
        }
    }
  }

  func reportProgress(ahead: Int = 0) throws -> Bool {
    try store.checkOpen()
    return shouldContinue(IndexProgress(done: done + ahead, total: max(done + ahead, total)))
  }

  private func usableEntries() throws -> [IndexCatalog.Entry] {
    try file.catalog().entries.filter(\.definition.isUsable)
  }

  private func nextEntry(only name: String?) throws -> IndexCatalog.Entry? {
    try usableEntries().first { entry in
      (entry.watermark != nil || entry.staleRows > 0)
        && (name.map { entry.definition.name.hasSameBytes(as: $0) } ?? true)
    }
  }

  /// The number of documents above the watermarks, counted once for each index.
  private func documentsAhead(only name: String?) throws -> Int {
    try connection.transaction(.deferred) {
      var count: Int64 = 0
      for entry in try usableEntries()
      where name.map({ entry.definition.name.hasSameBytes(as: $0) }) ?? true {
        guard let watermark = entry.watermark else { continue }
        count += try connection.scalar("SELECT count(*) FROM \(documents) WHERE sequence > \(watermark)")
      }
      return Int(count)
    }
  }

  // MARK: Steps

  /// Runs a step of a build as one transaction with the write lock.
  ///
  /// - Parameters:
  ///   - watermark: The watermark that the builder last stored in the catalog.
  ///   - staleRows: The builder's own number of stale rows.
  /// - Returns: `nil`, with nothing done, if the catalog differs: the index was emptied, or writes that missed the
  ///   indexes have left stale rows. The build then starts again from the catalog.
  /// - Throws: ``QueryError`` with the code `.unknownIndex` if the index was deleted.
  func step<R>(
    _ entry: IndexCatalog.Entry, watermark: Int64, staleRows: Int64 = 0, _ body: () throws -> R
  ) throws -> R? {
    try file.writing {
      try noteMissedWrites()
      guard try isLeft(entry, watermark: watermark, staleRows: staleRows) else { return nil }
      let result = try body()
      try file.countRevision()
      return result
    }
  }

  /// Missed writes can be detected under the index file's write lock while no write is between its two commits.
  private func noteMissedWrites() throws {
    let (state, last) = (try file.state(), try file.lastSequence())
    if state.sequence != last { try file.noteMissedWrites(after: state, upTo: last) }
  }

  /// Whether the catalog still has the builder's values for an index.
  ///
  /// - Throws: ``QueryError`` with the code `.unknownIndex` if the index was deleted.
  func isLeft(_ entry: IndexCatalog.Entry, watermark: Int64, staleRows: Int64) throws -> Bool {
    let statement = try connection.statement("SELECT watermark, stale_rows FROM indexes WHERE number = ?1")
    defer { statement.reset() }
    try statement.bind(entry.number, at: 1)
    guard try statement.step() else { throw QueryError.indexGone(entry.definition.name) }
    return !statement.isNull(0) && statement.int64(0) == watermark && statement.int64(1) == staleRows
  }

  /// Stores an index's progress in the catalog, inside a step.
  func set(watermark: Int64?, staleRows: Int64 = 0, of entry: IndexCatalog.Entry) throws(SQLiteError) {
    let statement = try connection.statement(
      "UPDATE indexes SET watermark = ?1, stale_rows = ?2 WHERE number = ?3")
    if let watermark { try statement.bind(watermark, at: 1) }
    try statement.bind(staleRows, at: 2)
    try statement.bind(entry.number, at: 3)
    try statement.run()
  }

  // MARK: Values

  /// The rows of a batch of documents.
  private struct Batch: ~Copyable {
    var rows: IndexRows
    var overflow: [Int64] = []
    var shape = IndexRows.Shape()
    var documents = 0
    /// The sequence up to which the batch has every document.
    var reached: Int64 = 0
    /// The newest sequence of the snapshot.
    var newest: Int64 = 0
  }

  /// - Returns: Whether to continue, with this index or others.
  private func fill(_ entry: IndexCatalog.Entry) throws -> Bool {
    let table = IndexTable(entry, on: connection)
    var watermark = entry.watermark ?? 0
    while true {
      if try complete(table, from: watermark) { return true }
      var shouldContinue = true
      var batch = Batch(rows: IndexRows(entry.definition, memory: rowMemory.bytes))
      try connection.transaction(.deferred) {
        try read(into: &batch, of: entry, after: watermark, atMost: nil) {
          shouldContinue = try reportProgress(ahead: $0)
          return shouldContinue
        }
      }
      batch.rows.sort()
      guard try insert(batch, into: table, from: watermark) else { return true }
      done += batch.documents
      watermark = batch.reached
      guard try shouldContinue && reportProgress() else { return false }
    }
  }

  /// Reads documents above a watermark and collects their rows until their memory is full.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of documents, or `nil` for no limit but memory.
  ///   - shouldContinue: Called with the number of documents read; returns whether to continue.
  private func read(
    into batch: inout Batch, of entry: IndexCatalog.Entry, after watermark: Int64, atMost limit: Int?,
    _ shouldContinue: (Int) throws -> Bool
  ) throws {
    batch.newest = try file.lastSequence()
    batch.reached = batch.newest
    let stored = try stored(after: watermark)
    defer { stored.reset() }
    while try file.readingDocuments({ try stored.next() }) {
      batch.documents += 1
      if let document = stored.document {
        let shape = batch.rows.add(document, number: stored.number)
        if shape.isMultiple { batch.shape.isMultiple = true }
        if shape.overflows {
          batch.shape.overflows = true
          batch.overflow.append(stored.number)
        }
      }
      let isOver =
        try batch.documents == limit || batch.rows.isFull
        || batch.documents % Self.interval == 0 && !shouldContinue(batch.documents)
      if isOver {
        batch.reached = stored.sequence
        return
      }
    }
  }

  /// Inserts the rows of a batch in several steps, and raises the watermark with the last one.
  ///
  /// - Returns: Whether that was possible.
  private func insert(_ batch: borrowing Batch, into table: IndexTable, from watermark: Int64) throws -> Bool
  {
    let entry = table.entry
    var position = 0
    // Adapts to the time that these rows take.
    var count = 1_000
    var own: Int64 = 0
    repeat {
      let end = min(batch.rows.count, position + count)
      let isLast = end == batch.rows.count
      let start = ContinuousClock.now
      let isDone: Void? = try step(entry, watermark: watermark, staleRows: own) {
        if position == 0 {
          for number in batch.overflow { try table.setOverflow(true, document: number) }
          _ = try table.note(batch.shape)
        }
        try table.insert(batch.rows, position..<end)
        if isLast { try removeChanged(since: batch, from: table) }
        try table.writeGroups()
        try set(watermark: isLast ? batch.reached : watermark, staleRows: isLast ? 0 : 1, of: entry)
      }
      guard isDone != nil else { return false }
      own = 1
      let taken = ContinuousClock.now - start
      count = max(
        200, min(50_000, Int(Double(count) * min(2, Self.longestStep / max(taken, .microseconds(10))))))
      position = end
      Sleep.microseconds(Self.pause)
    } while position < batch.rows.count
    return true
  }

  /// Removes the rows of documents that changed after the batch was read. This happens in the transaction that raises
  /// the watermark above their old sequences; from then on, writes remove the rows of the documents they change.
  private func removeChanged(since batch: borrowing Batch, from table: IndexTable) throws {
    let statement = try connection.statement(
      "SELECT number FROM \(documents) WHERE sequence > ?1 AND number <= ?1")
    defer { statement.reset() }
    try statement.bind(batch.newest, at: 1)
    var changed = NumberSet()
    while try statement.step() { _ = changed.insert(statement.int64(0)) }
    guard !changed.isEmpty else { return }
    for position in 0..<batch.rows.count where changed.contains(batch.rows.number(at: position)) {
      try table.remove(batch.rows, at: position)
    }
    for number in batch.overflow where changed.contains(number) {
      try table.setOverflow(false, document: number)
    }
  }

  /// Adds the last few documents and marks the index as complete; from then on each write updates it.
  ///
  /// - Returns: Whether that was possible; `false` if there are more than a few.
  private func complete(_ table: IndexTable, from watermark: Int64) throws -> Bool {
    let ahead = try connection.scalar(
      "SELECT count(*) FROM (SELECT 1 FROM \(documents) WHERE sequence > \(watermark) LIMIT \(Self.maximumLast + 1))"
    )
    guard ahead <= Self.maximumLast else { return false }
    return try step(table.entry, watermark: watermark) {
      var batch = Batch(rows: IndexRows(table.entry.definition, memory: rowMemory.bytes))
      try read(into: &batch, of: table.entry, after: watermark, atMost: Self.maximumLast + 1) { _ in true }
      // The memory may be too small for them.
      guard batch.reached == batch.newest else { return false }
      batch.rows.sort()
      try table.insert(batch.rows, 0..<batch.rows.count)
      try table.writeGroups()
      for number in batch.overflow { try table.setOverflow(true, document: number) }
      _ = try table.note(batch.shape)
      try set(watermark: nil, of: table.entry)
      done += batch.documents
      return true
    } ?? false
  }
}

/// The progress of an index build.
public struct IndexProgress: Sendable, Hashable {
  /// The number of indexed documents.
  public let done: Int
  /// The number of documents to index, which grows with concurrent writes.
  public let total: Int
}
