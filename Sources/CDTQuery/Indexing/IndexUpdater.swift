import JSON
import SQLite

/// Writes the index rows of documents that have changed since an index was complete.
///
/// Documents above an index's watermark are met in the order of their sequences. The rows that an earlier revision left
/// are found by its body, which history keeps; where compaction has taken it, the index is swept for rows whose
/// document has moved on.
struct IndexUpdater {
  private let connection: Connection

  /// How much memory the rows of one transaction may take, roughly.
  private static let batchSize = 64 * 1024 * 1024
  /// How many documents one transaction takes in at most.
  private let batch: Int
  /// Up to how many documents are few: the rows of such a batch are written one by one, as sorting them would hardly
  /// bring two of them to one page of the index.
  private let few: Int

  /// How many documents are usually few.
  static let fewDocuments = 1_000

  init(_ connection: Connection, batch: Int = 200_000, few: Int = Self.fewDocuments) {
    self.connection = connection
    self.batch = batch
    self.few = few
  }

  struct Step {
    let watermark: Int64
    let isComplete: Bool
    /// How many documents were taken in.
    var documents = 0
  }

  /// A document as it is now; the bytes are those of the row being read.
  private struct Document {
    let sequence: Int64
    let number: Int64
    let id: UnsafeRawBufferPointer
    let isDeleted: Bool
    let isLine: Bool
    let body: JSONBytes
  }

  /// Takes in the next batch; it runs within the transaction that the caller began.
  ///
  /// - Parameters:
  ///   - limit: How many documents are taken in at most, if fewer than a batch is told to have.
  ///   - goesOn: Asked now and then with how many documents have been met; when it says no, the batch ends there.
  func step(
    catalog: IndexCatalog, atMost limit: Int = .max, goesOn: (_ met: Int) -> Bool = { _ in true }
  ) throws -> Step {
    let batch = min(batch, limit)
    let last = try connection.scalar("SELECT max(sequence) FROM docs.documents")
    let behind = catalog.entries.filter { $0.watermark < last }
    guard let start = behind.map(\.watermark).min() else { return Step(watermark: last, isComplete: true) }
    // Sequences may have gaps, but room that is not used costs nothing.
    let expected = Int(min(last - max(0, start), Int64(batch)))
    let changes = try behind.map {
      try IndexChanges($0, documents: expected, writesAtOnce: expected <= few, on: connection)
    }
    let met = try collect(after: start, atMost: batch, into: changes, goesOn)
    let reached = met.last ?? last
    // One that is further already must not be taken back: its rows would be met again above its watermark.
    for index in changes.indices where changes[index].watermark < reached {
      try changes[index].write(upTo: reached)
    }
    return Step(watermark: reached, isComplete: reached == last, documents: met.count)
  }

  /// How many documents are met between two questions whether to go on.
  private static let interval = 1_000

  /// Meets documents until the batch is full.
  ///
  /// - Returns: How many were met, and the sequence of the last one, or `nil` when all were.
  private func collect(
    after start: Int64, atMost batch: Int, into changes: [IndexChanges], _ goesOn: (_ met: Int) -> Bool
  ) throws -> (count: Int, last: Int64?) {
    let statement = try connection.statement(
      """
      SELECT sequence, number, id, deleted, leaves, body FROM docs.documents WHERE sequence > ?1 ORDER BY sequence
      """)
    defer { statement.reset() }
    try statement.bind(start, at: 1)
    var met = 0
    while try statement.step() {
      let sequence = statement.int64(0)
      try statement.withBytes(2) { id in
        try statement.withBytes(5) { body in
          let document = Document(
            sequence: sequence, number: statement.int64(1), id: id, isDeleted: statement.int64(3) != 0,
            isLine: statement.int64(4) == 1, body: JSONBytes(body))
          for index in changes.indices where sequence > changes[index].watermark {
            try take(document, into: changes[index])
          }
        }
      }
      met += 1
      if met == batch || changes.reduce(0, { $0 + $1.size }) > Self.batchSize { return (met, sequence) }
      if met % Self.interval == 0, !goesOn(met) { return (met, sequence) }
    }
    return (met, nil)
  }

  private func take(_ document: Document, into changes: IndexChanges) throws {
    if changes.entry.definition.type == .text { return try takeText(document, into: changes) }
    guard document.number <= changes.watermark else {
      if !document.isDeleted { try changes.add(document.body, id: document.id, sequence: document.sequence) }
      return
    }
    let rows = document.isDeleted ? IndexEntries() : changes.entries(of: document.body)
    try removeEarlierRows(of: document, keeping: rows, from: changes)
    try changes.add(rows, id: document.id, sequence: document.sequence)
  }

  private func takeText(_ document: Document, into changes: IndexChanges) throws {
    let entry = changes.entry
    if !document.isDeleted {
      let size = try TextIndexTable.replace(
        entry, document: document.number, id: document.id, sequence: document.sequence, body: document.body,
        on: connection)
      changes.noteText(size)
    } else if document.number <= entry.watermark {
      try TextIndexTable.remove(entry, document: document.number, on: connection)
    }
  }

  /// Finds the revision whose rows the index holds, newest first, and removes those that do not stay.
  ///
  /// A revision's rows carry a sequence from its own on. Usually the first revision tried is the one. Where a tree has
  /// branches, two revisions may share rows, so that one of them tells nothing: the rows of all go.
  private func removeEarlierRows(
    of document: Document, keeping rows: IndexEntries, from changes: IndexChanges
  ) throws {
    if try changes.removeApart(id: document.id) { return }
    let statement = try connection.statement(
      """
      SELECT sequence, deleted, body FROM docs.revisions WHERE document = ?1 AND sequence <= ?2
      UNION ALL
      SELECT written, deleted, body FROM docs.documents WHERE sequence = ?3 AND written <= ?2
      ORDER BY 1 DESC
      """)
    defer { statement.reset() }
    try statement.bind(document.number, at: 1)
    try statement.bind(changes.watermark, at: 2)
    try statement.bind(document.sequence, at: 3)
    while try statement.step() {
      if statement.int64(1) != 0 { continue }
      if statement.isNull(2) {
        changes.needsSweep = true
        continue
      }
      let earlier = statement.withBytes(2) { changes.entries(of: JSONBytes($0)) }
      guard document.isLine else {
        try changes.remove(earlier, id: document.id, keeping: rows)
        continue
      }
      if try changes.remove(earlier, id: document.id, from: statement.int64(0), keeping: rows) { return }
    }
  }
}
