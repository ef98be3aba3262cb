import JSON
import SQLite

/// Compares one index of values with the documents, within a snapshot of both.
///
/// Of each document up to the sequence that it is filled to, the index must hold exactly the rows that its definition
/// gives, and none of any other document, unless it says that it may have strays.
struct IndexCheck {
  private let entry: IndexCatalog.Entry
  private let connection: Connection
  /// The sequence up to which every document should be in the index.
  private let floor: Int64
  /// Whether there may be rows of documents above the floor.
  private let mayHaveStrays: Bool
  private let name: String
  private let table: IndexTable
  private(set) var findings: IndexFindings
  private var found: Int64 = 0
  private var foundApart: Int64 = 0

  init(_ entry: IndexCatalog.Entry, in snapshot: borrowing QuerySnapshot) {
    self.entry = entry
    connection = snapshot.connection
    let indexes = snapshot.indexes
    floor = indexes.floor(of: entry)
    mayHaveStrays = entry.strays > 0 || indexes.indexedSequence < indexes.lastSequence
    name = "\(IndexFile.schema).\(IndexFile.table(entry))"
    table = IndexTable(entry, on: connection)
    findings = IndexFindings(entry.definition.name)
  }

  /// Compares a document's rows.
  mutating func take(_ document: DocumentBytes, number: Int64, sequence: Int64) throws {
    guard sequence <= floor else { return }
    let id = String(decoding: document.id, as: UTF8.self)
    var rows = IndexRows(entry.definition)
    let shape = rows.add(document, number: number)
    rows.sort()
    if shape.isMultiple, !entry.isMultiple { findings.add("is not marked as having several rows of it", id) }
    if shape.isApart {
      let isKept = try entry.hasApart && holdsApart(number)
      if isKept { foundApart += 1 } else { findings.add("does not keep it apart", id) }
      return
    }
    var lacksRow = false
    for position in 0..<rows.count where !rows.repeatsPrevious(at: position) {
      if try table.contains(rows, at: position, schema: IndexFile.schema) {
        found += 1
      } else {
        lacksRow = true
      }
    }
    if lacksRow { findings.add("lacks a row of it", id) }
  }

  private func holdsApart(_ number: Int64) throws -> Bool {
    let statement = try connection.statement(
      "SELECT 1 FROM \(IndexFile.schema).apart WHERE index_number = ?1 AND document = ?2")
    defer { statement.reset() }
    try statement.bind(entry.number, at: 1)
    try statement.bind(number, at: 2)
    return try statement.step()
  }

  /// Looks for rows that no document gives, after every document was compared.
  mutating func finish() throws {
    // Every row that a document gives was found, so one too many is a row that none gives.
    let count = try connection.scalar("SELECT count(*) FROM \(name) e WHERE \(isHeld("e"))")
    if count > found { try findRowsNotGiven() }
    let apart = try connection.scalar(
      "SELECT count(*) FROM \(IndexFile.schema).apart e WHERE index_number = \(entry.number) AND \(isHeld("e"))"
    )
    if apart > foundApart { findings.add("keeps documents apart that it should not") }
  }

  /// Whether a row counts: all of them, but where there may be strays those of documents up to the floor.
  private func isHeld(_ row: String) -> String {
    !mayHaveStrays
      ? "1" : "\(row).document NOT IN (SELECT number FROM main.documents WHERE sequence > \(floor))"
  }

  private mutating func findRowsNotGiven() throws {
    let statement = try connection.statement(
      """
      SELECT e.id, e.document, count(*), d.number, d.id = e.id, d.deleted, d.sequence > \(floor), d.revision, d.body
        FROM \(name) e LEFT JOIN main.documents d ON d.number = e.document
       WHERE \(isHeld("e")) GROUP BY e.document, e.id
      """)
    defer { statement.reset() }
    while try statement.step() {
      let isOfDocument =
        !statement.isNull(3) && statement.int64(4) != 0 && statement.int64(5) == 0 && statement.int64(6) == 0
      if !isOfDocument || statement.int64(2) > rowsGiven(statement) {
        findings.add("has a row that it does not give", statement.text(0))
      }
    }
  }

  /// How many rows the document of a finding gives.
  private func rowsGiven(_ statement: Statement) -> Int64 {
    var rows = IndexRows(entry.definition)
    _ = rows.add(
      DocumentBytes(
        id: statement.unsafeBytes(0), revision: statement.unsafeBytes(7), body: statement.unsafeBytes(8)),
      number: statement.int64(1))
    rows.sort()
    var count: Int64 = 0
    for position in 0..<rows.count where !rows.repeatsPrevious(at: position) { count += 1 }
    return count
  }
}
