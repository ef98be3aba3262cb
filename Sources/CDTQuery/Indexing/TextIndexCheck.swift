import CDTDatastore
import JSON
import SQLite

/// Compares the text index with the documents, within a snapshot of both, as ``IndexCheck`` does with one of values.
struct TextIndexCheck {
  private let entry: IndexCatalog.Entry
  private let connection: Connection
  private let table: String
  private(set) var findings: IndexFindings
  private var found: Int64 = 0

  init(_ entry: IndexCatalog.Entry, on connection: Connection) {
    self.entry = entry
    self.connection = connection
    table = "\(IndexFile.schema).\(TextIndexTable.name(entry.number))"
    findings = IndexFindings(entry.definition.name)
  }

  /// Compares the text that is kept of a live document.
  mutating func take(id: String, number: Int64, sequence: Int64, body: UnsafeRawBufferPointer) throws {
    guard sequence <= entry.watermark else { return }
    let fields = entry.definition.fields
    let columns = fields.indices.map { TextProgram.column($0, of: fields.count) } + ["id", "sequence"]
    let statement = try connection.statement(
      "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE rowid = ?1")
    defer { statement.reset() }
    try statement.bind(number, at: 1)
    guard try statement.step() else { return findings.add("lacks it", id) }
    found += 1
    let texts = Array(id.utf8).withUnsafeBytes {
      TextIndexTable.texts(of: entry.definition, id: $0, body: JSONBytes(body))
    }
    let isSame = texts.enumerated().allSatisfy { column, text in
      statement.withBytes(column) { $0.elementsEqual(text) }
    }
    if !isSame || statement.int64(texts.count) != sequence { findings.add("has other words than it", id) }
  }

  /// Looks for rows that no document gives, after every document was compared.
  mutating func finish() throws {
    let rows = try connection.scalar("SELECT count(*) FROM \(table)")
    // Those that have changed since may have a row still.
    let ahead = try connection.scalar(
      "SELECT count(*) FROM main.documents WHERE sequence > \(entry.watermark) AND number <= \(entry.watermark)"
    )
    let counted = try connection.scalar(
      """
      SELECT count(*) FROM \(table) t JOIN main.documents d ON d.sequence = t.sequence
       WHERE d.number <> t.rowid OR d.deleted OR d.sequence > \(entry.watermark)
      """)
    if counted > 0 || rows - found > ahead { findings.add("has rows that no document gives") }
  }

  /// Has SQLite compare the words with the text that is kept, which no snapshot may be open for.
  mutating func checkWords() throws {
    let name = TextIndexTable.name(entry.number)
    do throws(SQLiteError) {
      try connection.execute(
        "INSERT INTO \(IndexFile.schema).\(name)(\(name)) VALUES ('integrity-check')")
    } catch {
      if error.isCorrupt { return findings.add("has lost words") }
      // Another process may have deleted it meanwhile.
      if !error.isUnknownName { throw error }
    }
  }
}
