import JSON
import SQLite

/// What one batch changes in one index.
final class IndexChanges {
  let watermark: Int64
  var needsSweep = false

  let entry: IndexCatalog.Entry
  private let connection: Connection
  private let table: String
  private var rows: IndexRows
  private var textSize = 0
  private var simple: SimpleEntries
  private var apart: [(id: String, sequence: Int64)] = []
  private var isMultiple: Bool
  private let statements: RowStatements
  private let writesAtOnce: Bool

  /// - Parameters:
  ///   - documents: How many are expected at most.
  ///   - writesAtOnce: Whether each row is written as it comes, into an index that is not empty.
  init(
    _ entry: IndexCatalog.Entry, documents: Int, writesAtOnce: Bool, on connection: Connection
  ) throws {
    self.entry = entry
    self.connection = connection
    watermark = entry.watermark
    table = IndexFile.table(entry.number)
    isMultiple = entry.isMultiple
    rows = IndexRows(entry.definition)
    simple = SimpleEntries(entry.definition)
    statements = RowStatements(entry, on: connection)
    self.writesAtOnce = writesAtOnce && watermark > 0
    if !self.writesAtOnce, entry.definition.type == .json { rows.reserve(documents) }
  }

  /// How much memory the changes take, roughly.
  var size: Int { rows.size + textSize }

  /// Counts text that was given to FTS5, which keeps about as much in memory until the transaction ends.
  func noteText(_ size: Int) {
    textSize += size
  }

  func entries(of body: JSONBytes) -> IndexEntries {
    IndexEntries(of: entry.definition, body: body)
  }

  /// Adds the rows of a document whose body is at hand.
  func add(_ body: JSONBytes, id: UnsafeRawBufferPointer, sequence: Int64) throws {
    if !writesAtOnce, simple.read(body) {
      if simple.isMultiple { isMultiple = true }
      simple.add(to: &rows, body: body, id: id, sequence: sequence)
    } else {
      try add(entries(of: body), id: id, sequence: sequence)
    }
  }

  func add(_ entries: IndexEntries, id: UnsafeRawBufferPointer, sequence: Int64) throws {
    if entries.isMultiple { isMultiple = true }
    if entries.isApart {
      apart.append((String(decoding: id, as: UTF8.self), sequence))
      return
    }
    let document = IndexRows.Document(id: id, sequence: sequence, absent: entries.absent)
    for row in entries.entries {
      if writesAtOnce {
        try statements.write(row, of: document)
        continue
      }
      rows.add(document) { rows in
        for (number, key) in row.keys.enumerated() { rows.append(key, field: number) }
      }
    }
  }

  /// Removes the rows of a revision that the index holds, but for those that stay.
  ///
  /// - Parameter sequence: The revision's own sequence: rows with an older one are of an earlier revision.
  /// - Returns: Whether the index held the revision.
  func remove(
    _ earlier: IndexEntries, id: UnsafeRawBufferPointer, from sequence: Int64, keeping rows: IndexEntries
  ) throws -> Bool {
    guard let sample = earlier.entries.first, let held = try statements.sequence(of: sample, id: id),
      held >= sequence
    else { return false }
    try remove(earlier, id: id, keeping: rows)
    return true
  }

  /// Removes those rows of a revision that are there, but for those that stay.
  func remove(_ earlier: IndexEntries, id: UnsafeRawBufferPointer, keeping rows: IndexEntries) throws {
    for row in earlier.entries(notIn: rows) { try statements.remove(row, id: id) }
  }

  /// Removes a document that was kept apart; false when it was not.
  func removeApart(id: UnsafeRawBufferPointer) throws -> Bool {
    guard entry.hasApart else { return false }
    let statement = try connection.statement("DELETE FROM apart WHERE index_number = ?1 AND id = ?2")
    try statement.bind(entry.number, at: 1)
    try statement.bind(text: id, at: 2)
    try statement.run()
    return connection.changes > 0
  }

  /// Writes what was added, in the order of the index so that pages are filled one after the other.
  func write(upTo sequence: Int64) throws {
    if !rows.isEmpty {
      var image = TableImage(
        creating: IndexFile.rowsCreation(entry.definition.fields, table: "rows"), size: rows.size)
      rows.move(into: &image)
      try connection.run("INSERT OR REPLACE INTO \(table) SELECT * FROM image.rows", readingImage: image)
    }
    try writeApart()
    if needsSweep { try sweep() }
    try note(sequence)
  }

  /// Notes up to where the index is complete.
  private func note(_ sequence: Int64) throws {
    let update = try connection.statement(
      "UPDATE indexes SET watermark = ?1, multiple = ?2, apart = max(apart, ?3), session = ?5 WHERE number = ?4"
    )
    try update.bind(sequence, at: 1)
    try update.bind(Int64(isMultiple ? 1 : 0), at: 2)
    try update.bind(Int64(apart.isEmpty ? 0 : 1), at: 3)
    try update.bind(entry.number, at: 4)
    if let session = try IndexCatalog.session(of: sequence, in: "docs", on: connection)?.token {
      try update.bind(session, at: 5)
    }
    try update.run()
  }

  private func writeApart() throws {
    for document in apart {
      let statement = try connection.statement("INSERT OR REPLACE INTO apart VALUES (?1, ?2, ?3)")
      try statement.bind(entry.number, at: 1)
      try statement.bind(document.id, at: 2)
      try statement.bind(document.sequence, at: 3)
      try statement.run()
    }
  }

  /// Removes every row whose document has moved on.
  private func sweep() throws {
    let isGone = "NOT EXISTS (SELECT 1 FROM docs.documents d WHERE d.sequence"
    try connection.execute(
      """
      DELETE FROM \(table) WHERE \(isGone) = \(table).sequence);
      DELETE FROM apart WHERE index_number = \(entry.number) AND \(isGone) = apart.sequence)
      """)
  }
}
