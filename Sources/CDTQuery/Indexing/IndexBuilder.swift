import CDTDatastore
import CDTPlatform
import JSON
import SQLite

/// Fills the indexes that are not complete, in steps that hold nobody up for long.
///
/// An index that is being filled has a watermark: it holds exactly the rows of the documents whose sequence is not above
/// it. Documents above it are put to the matcher. Writes take the rows of documents that they lift above the watermark
/// away (``IndexUpdate``), so that a builder only ever adds.
///
/// Documents are read in the order of their sequences, a batch at a time, without any lock. Their rows are sorted and then
/// inserted in the order of the table, which visits each page once; this takes several transactions, each of some
/// milliseconds, between which others write. Only with the last one does the watermark rise. Until then the index has
/// stray rows, of documents above its watermark, which queries pass over; `strays` in the catalog counts the reasons for
/// such rows. Should the builder be killed, they stay, and the next one begins with ``removeStrays(of:)``.
final class IndexBuilder {
  private let store: Datastore
  let file: IndexConnection
  private let goesOn: (IndexProgress) -> Bool
  /// For the rows of a batch, whose arrays may be twice as large as what is in them.
  private let rowMemory: MemoryShare
  /// How many documents were taken in, once for each index.
  var done = 0
  private var total = 0

  var connection: Connection { file.connection }
  var documents: String { "\(IndexConnection.documents).documents" }

  /// How long one transaction may hold the write lock, and how long it is left to others after that. Whoever waits for
  /// the lock looks every half millisecond.
  static let longestStep = Duration.milliseconds(6)
  static let pause: UInt32 = 700
  /// How many documents are read between two questions whether to go on.
  private static let interval = 1_000
  /// Up to how many documents are taken in by one transaction that completes the index.
  private static let few = 200

  /// - Parameters:
  ///   - file: The index file, opened for this alone.
  ///   - goesOn: Is told how far the work is, and says whether to go on.
  init(_ store: Datastore, _ file: IndexConnection, goesOn: @escaping (IndexProgress) -> Bool) {
    self.store = store
    self.file = file
    self.goesOn = goesOn
    rowMemory = store.memory.borrow()
  }

  /// Fills the indexes that are not complete, or the one named.
  ///
  /// - Returns: Whether they are complete; `false` when it was told to stop.
  func run(only name: String? = nil) throws -> Bool {
    guard try isNeeded() else { return try tell() }
    try file.writing { try noteMissedWrites() }
    total = try documentsAhead(only: name)
    guard try tell() else { return false }
    while let entry = try nextEntry(only: name) {
      if entry.strays > 0 {
        try removeStrays(of: entry)
      } else {
        let goesOn = entry.definition.type == .text ? try fillText(entry) : try fill(entry)
        guard goesOn else { return false }
      }
    }
    try StatisticsTable.measure(where: name, on: file)
    total = max(done, total)
    if done < total {
      done = total
      _ = try tell()
    }
    return true
  }

  /// Whether there is anything to do, which is told without keeping others from writing.
  private func isNeeded() throws -> Bool {
    try connection.transaction(.deferred) {
      let (state, last) = (try file.state(), try file.lastSequence())
      return try state.sequence != last
        || file.catalog().entries.contains {
          $0.watermark != nil || $0.strays > 0 || StatisticsTable.isDue($0, sequence: last)
        }
    }
  }

  func tell(ahead: Int = 0) throws -> Bool {
    try store.checkOpen()
    return goesOn(IndexProgress(done: done + ahead, total: max(done + ahead, total)))
  }

  private func nextEntry(only name: String?) throws -> IndexCatalog.Entry? {
    try file.catalog().entries.first { entry in
      (entry.watermark != nil || entry.strays > 0)
        && (name.map { entry.definition.name.hasSameBytes(as: $0) } ?? true)
    }
  }

  /// How many documents are above the watermarks, once for each index.
  private func documentsAhead(only name: String?) throws -> Int {
    try connection.transaction(.deferred) {
      var count: Int64 = 0
      for entry in try file.catalog().entries
      where name.map({ entry.definition.name.hasSameBytes(as: $0) }) ?? true {
        guard let watermark = entry.watermark else { continue }
        count += try connection.scalar("SELECT count(*) FROM \(documents) WHERE sequence > \(watermark)")
      }
      return Int(count)
    }
  }

  // MARK: Steps

  /// Runs a step of the work on an index as one transaction with the write lock.
  ///
  /// - Parameters:
  ///   - watermark: What the builder has left in the catalog.
  ///   - strays: As many as are of its own.
  /// - Returns: `nil`, with nothing done, where the catalog says something else: the index was emptied, or writes that
  ///   missed the indexes have left strays. Then the index is begun anew from the catalog.
  /// - Throws: ``QueryError`` with the code `.unknownIndex` when the index was deleted.
  func step<R>(
    _ entry: IndexCatalog.Entry, watermark: Int64, strays: Int64 = 0, _ body: () throws -> R
  ) throws -> R? {
    try file.writing {
      try noteMissedWrites()
      guard try isLeft(entry, watermark: watermark, strays: strays) else { return nil }
      let result = try body()
      try file.countRevision()
      return result
    }
  }

  /// Whoever has the write lock of the index file while nobody is between the commits of the two files can tell.
  private func noteMissedWrites() throws {
    let (state, last) = (try file.state(), try file.lastSequence())
    if state.sequence != last { try file.noteMissedWrites(after: state, upTo: last) }
  }

  /// Whether the catalog still says of an index what the builder has left there.
  ///
  /// - Throws: ``QueryError`` with the code `.unknownIndex` when the index was deleted.
  func isLeft(_ entry: IndexCatalog.Entry, watermark: Int64, strays: Int64) throws -> Bool {
    let statement = try connection.statement("SELECT watermark, strays FROM indexes WHERE number = ?1")
    defer { statement.reset() }
    try statement.bind(entry.number, at: 1)
    guard try statement.step() else { throw QueryError.indexGone(entry.definition.name) }
    return !statement.isNull(0) && statement.int64(0) == watermark && statement.int64(1) == strays
  }

  /// Writes an index's progress into the catalog, within a step.
  func set(watermark: Int64?, strays: Int64 = 0, of entry: IndexCatalog.Entry) throws(SQLiteError) {
    let statement = try connection.statement(
      "UPDATE indexes SET watermark = ?1, strays = ?2 WHERE number = ?3")
    if let watermark { try statement.bind(watermark, at: 1) }
    try statement.bind(strays, at: 2)
    try statement.bind(entry.number, at: 3)
    try statement.run()
  }

  // MARK: Values

  /// The rows of a batch of documents.
  private struct Batch: ~Copyable {
    var rows: IndexRows
    var apart: [Int64] = []
    var shape = IndexRows.Shape()
    var documents = 0
    /// The sequence up to which every document is in it.
    var reached: Int64 = 0
    /// The newest sequence of the snapshot that was read.
    var newest: Int64 = 0
  }

  /// - Returns: Whether to go on, with this index or others.
  private func fill(_ entry: IndexCatalog.Entry) throws -> Bool {
    let table = IndexTable(entry, on: connection)
    var watermark = entry.watermark ?? 0
    while true {
      if try complete(table, from: watermark) { return true }
      var goesOn = true
      var batch = Batch(rows: IndexRows(entry.definition))
      try connection.transaction(.deferred) {
        try read(into: &batch, of: entry, after: watermark, atMost: nil) {
          goesOn = try tell(ahead: $0)
          return goesOn
        }
      }
      batch.rows.sort()
      guard try insert(batch, into: table, from: watermark) else { return true }
      done += batch.documents
      watermark = batch.reached
      guard try goesOn && tell() else { return false }
    }
  }

  /// Reads documents above a watermark and collects their rows, until the memory for them is full.
  ///
  /// - Parameters:
  ///   - limit: How many documents are read at most, or `nil` for as many as there is memory for.
  ///   - goesOn: Is told how many were read, and says whether to go on.
  private func read(
    into batch: inout Batch, of entry: IndexCatalog.Entry, after watermark: Int64, atMost limit: Int?,
    _ goesOn: (Int) throws -> Bool
  ) throws {
    batch.newest = try file.lastSequence()
    batch.reached = batch.newest
    let statement = try connection.statement(
      """
      SELECT number, id, revision, body, deleted, sequence FROM \(documents)
       WHERE sequence > ?1 ORDER BY sequence
      """)
    defer { statement.reset() }
    try statement.bind(watermark, at: 1)
    while try file.readingDocuments({ try statement.step() }) {
      batch.documents += 1
      if statement.int64(4) == 0 {
        let document = DocumentBytes(
          id: statement.unsafeBytes(1), revision: statement.unsafeBytes(2), body: statement.unsafeBytes(3))
        let shape = batch.rows.add(document, number: statement.int64(0))
        if shape.isMultiple { batch.shape.isMultiple = true }
        if shape.isApart {
          batch.shape.isApart = true
          batch.apart.append(statement.int64(0))
        }
      }
      let isOver =
        try batch.documents == limit || batch.rows.size > rowMemory.bytes / 2
        || batch.documents % Self.interval == 0 && !goesOn(batch.documents)
      if isOver {
        batch.reached = statement.int64(5)
        return
      }
    }
  }

  /// Inserts the rows of a batch, some at a time, and raises the watermark with the last of them.
  ///
  /// - Returns: Whether that was possible.
  private func insert(_ batch: borrowing Batch, into table: IndexTable, from watermark: Int64) throws -> Bool
  {
    let entry = table.entry
    var position = 0
    // Adapts to how long such rows take.
    var count = 1_000
    var own: Int64 = 0
    repeat {
      let end = min(batch.rows.count, position + count)
      let isLast = end == batch.rows.count
      let start = ContinuousClock.now
      let isDone: Void? = try step(entry, watermark: watermark, strays: own) {
        if position == 0 {
          for number in batch.apart { try table.setApart(true, document: number) }
          _ = try table.note(batch.shape)
        }
        try table.insert(batch.rows, position..<end)
        if isLast { try removeChanged(since: batch, from: table) }
        try set(watermark: isLast ? batch.reached : watermark, strays: isLast ? 0 : 1, of: entry)
      }
      guard isDone != nil else { return false }
      own = 1
      let taken = ContinuousClock.now - start
      count = max(
        200, min(50_000, Int(Double(count) * min(2, Self.longestStep / max(taken, .microseconds(10))))))
      position = end
      Pause.microseconds(Self.pause)
    } while position < batch.rows.count
    return true
  }

  /// Removes the rows of documents that have changed since the batch was read. It runs in the transaction that raises the
  /// watermark above what they were; from then on whoever changes a document removes its rows himself.
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
    for number in batch.apart where changed.contains(number) { try table.setApart(false, document: number) }
  }

  /// Takes in the last few documents and marks the index as complete: from then on each write keeps it so.
  ///
  /// - Returns: Whether that was possible; not when there are more than a few.
  private func complete(_ table: IndexTable, from watermark: Int64) throws -> Bool {
    let ahead = try connection.scalar(
      "SELECT count(*) FROM (SELECT 1 FROM \(documents) WHERE sequence > \(watermark) LIMIT \(Self.few + 1))")
    guard ahead <= Self.few else { return false }
    return try step(table.entry, watermark: watermark) {
      var batch = Batch(rows: IndexRows(table.entry.definition))
      try read(into: &batch, of: table.entry, after: watermark, atMost: Self.few + 1) { _ in true }
      // There may be less memory than they need.
      guard batch.reached == batch.newest else { return false }
      batch.rows.sort()
      try table.insert(batch.rows, 0..<batch.rows.count)
      for number in batch.apart { try table.setApart(true, document: number) }
      _ = try table.note(batch.shape)
      try set(watermark: nil, of: table.entry)
      done += batch.documents
      return true
    } ?? false
  }
}
