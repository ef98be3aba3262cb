import JSON
import SQLite

/// Writes the index rows of documents that have changed since an index was complete.
///
/// Documents above an index's watermark are met in the order of their sequences. The rows that an earlier revision left
/// are found by its body, which history keeps; where compaction has taken it, the index is swept for rows whose
/// document has moved on.
struct IndexUpdater {
  private let connection: Connection

  /// How many documents one transaction takes in.
  private let batch: Int

  init(_ connection: Connection, batch: Int = 20_000) {
    self.connection = connection
    self.batch = batch
  }

  struct Step {
    let watermark: Int64
    let isComplete: Bool
    /// How many documents were taken in.
    var documents = 0
  }

  /// A document as it is now.
  private struct Document {
    let sequence: Int64
    let number: Int64
    let id: String
    let isDeleted: Bool
    let isLine: Bool
    let body: [UInt8]
  }

  /// Takes in the next batch; it runs within the transaction that the caller began.
  func step(catalog: IndexCatalog) throws -> Step {
    let last = try connection.scalar("SELECT max(sequence) FROM docs.documents")
    let behind = catalog.entries.filter { $0.watermark < last }
    guard let start = behind.map(\.watermark).min() else { return Step(watermark: last, isComplete: true) }
    var changes = try behind.map { try IndexChanges($0, on: connection) }
    let documents = try documents(after: start)
    for document in documents {
      for index in changes.indices where document.sequence > changes[index].watermark {
        try take(document, into: &changes[index])
      }
    }
    let reached = documents.count < batch ? last : documents.last?.sequence ?? last
    // One that is further already must not be taken back: its rows would be met again above its watermark.
    for index in changes.indices where changes[index].watermark < reached {
      try changes[index].write(upTo: reached)
    }
    return Step(watermark: reached, isComplete: reached == last, documents: documents.count)
  }

  private func documents(after sequence: Int64) throws -> [Document] {
    let statement = try connection.statement(
      """
      SELECT sequence, number, id, deleted, leaves, body FROM docs.documents
       WHERE sequence > ?1 ORDER BY sequence LIMIT ?2
      """)
    defer { statement.reset() }
    try statement.bind(sequence, at: 1)
    try statement.bind(Int64(batch), at: 2)
    var documents: [Document] = []
    while try statement.step() {
      documents.append(
        Document(
          sequence: statement.int64(0), number: statement.int64(1), id: statement.text(2),
          isDeleted: statement.int64(3) != 0, isLine: statement.int64(4) == 1,
          body: statement.withBytes(5) { Array($0) }))
    }
    return documents
  }

  private func take(_ document: Document, into changes: inout IndexChanges) throws {
    if changes.entry.definition.type == .text { return try takeText(document, into: changes.entry) }
    let rows = document.isDeleted ? IndexEntries() : changes.entries(of: document.body)
    if document.number <= changes.watermark {
      try removeEarlierRows(of: document, keeping: rows, from: &changes)
    }
    changes.add(rows, id: document.id, sequence: document.sequence)
  }

  private func takeText(_ document: Document, into entry: IndexCatalog.Entry) throws {
    if document.isDeleted {
      if document.number <= entry.watermark {
        try TextIndexTable.remove(entry, document: document.number, on: connection)
      }
    } else {
      try TextIndexTable.replace(
        entry, document: document.number, id: document.id, sequence: document.sequence, body: document.body,
        on: connection)
    }
  }

  /// Finds the revision whose rows the index holds, newest first, and removes those that do not stay.
  ///
  /// A revision's rows carry a sequence from its own on. Usually the first revision tried is the one. Where a tree has
  /// branches, two revisions may share rows, so all of them are tried.
  private func removeEarlierRows(
    of document: Document, keeping rows: IndexEntries, from changes: inout IndexChanges
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
      let body = statement.withBytes(2) { Array($0) }
      let earlier = changes.entries(of: body)
      let isFound = try changes.remove(earlier, id: document.id, from: statement.int64(0), keeping: rows)
      if isFound && document.isLine { return }
    }
  }
}
