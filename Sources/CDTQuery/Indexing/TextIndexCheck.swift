import JSON
import SQLite

/// Compares the text index with the documents, within a snapshot of both, as ``IndexCheck`` does with one of values.
struct TextIndexCheck {
  private let entry: IndexCatalog.Entry
  private let connection: Connection
  private let floor: Int64
  private let table: String
  private(set) var findings: IndexFindings
  private var found: Int64 = 0

  init(_ entry: IndexCatalog.Entry, in snapshot: borrowing QuerySnapshot) {
    self.entry = entry
    connection = snapshot.connection
    floor = snapshot.indexes.floor(of: entry)
    table = "\(IndexFile.schema).\(TextIndexTable.name(entry.number))"
    findings = IndexFindings(entry.definition.name)
  }

  /// Compares the text that is kept of a document.
  mutating func take(_ document: DocumentBytes, number: Int64, sequence: Int64) throws {
    guard sequence <= floor else { return }
    let id = String(decoding: document.id, as: UTF8.self)
    let fields = entry.definition.fields
    let columns = fields.indices.map { TextProgram.column($0, of: fields.count) } + ["id"]
    let statement = try connection.statement(
      "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE rowid = ?1")
    defer { statement.reset() }
    try statement.bind(number, at: 1)
    guard try statement.step() else { return findings.add("lacks it", id) }
    found += 1
    let texts = TextIndexTable.texts(of: entry.definition, document)
    let isSame = texts.enumerated().allSatisfy { column, text in
      statement.withBytes(column) { $0.elementsEqual(text) }
    }
    if !isSame { findings.add("has other words than it", id) }
  }

  /// Looks for rows that no document gives, after every document was compared.
  mutating func finish() throws {
    // Documents above the floor may have a row still, which goes when they are taken in.
    let rows = try connection.scalar(
      """
      SELECT count(*) FROM \(table)
       WHERE rowid NOT IN (SELECT number FROM main.documents WHERE sequence > \(floor))
      """)
    if rows > found { findings.add("has rows that no document gives") }
  }
}
