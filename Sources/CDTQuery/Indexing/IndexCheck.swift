import CDTDatastore
import JSON
import SQLite

/// Compares one index of values with the documents, within a snapshot of both.
///
/// Of each live document up to the watermark the index must hold exactly the rows that its definition gives. What else it
/// holds must be of a document that has changed since: a query that trusts the index counts its rows.
struct IndexCheck {
  private let entry: IndexCatalog.Entry
  private let connection: Connection
  private let table: String
  private(set) var findings: IndexFindings
  private var found: Int64 = 0
  private var foundApart: Int64 = 0

  init(_ entry: IndexCatalog.Entry, on connection: Connection) {
    self.entry = entry
    self.connection = connection
    table = "\(IndexFile.schema).\(IndexFile.table(entry))"
    findings = IndexFindings(entry.definition.name)
  }

  /// Compares a live document's rows.
  mutating func take(id: String, sequence: Int64, body: UnsafeRawBufferPointer) throws {
    guard sequence <= entry.watermark else { return }
    let rows = IndexEntries(of: entry.definition, body: JSONBytes(body))
    if rows.isMultiple, !entry.isMultiple { findings.add("is not marked as having several rows of it", id) }
    if rows.isApart {
      let isKept = try entry.hasApart && holdsApart(id, sequence)
      if isKept { foundApart += 1 } else { findings.add("does not keep it apart", id) }
      return
    }
    let held = try count(of: rows, id: id, sequence: sequence)
    found += held
    if held < rows.entries.count { findings.add("lacks a row of it", id) }
  }

  /// Looks for rows that no document gives, after every document was compared.
  mutating func finish() throws {
    try findRowsOfOthers()
    let current = try connection.scalar("SELECT count(*) FROM \(currentRows)")
    if current > found { try findRowsNotGiven() }
    let apart = try connection.scalar(
      "SELECT count(*) FROM \(IndexFile.schema).apart a WHERE index_number = \(entry.number) AND "
        + Self.isStray("a", watermark: entry.watermark))
    let currentApart = try connection.scalar(
      """
      SELECT count(*) FROM \(IndexFile.schema).apart e JOIN main.documents d ON d.id = e.id
       WHERE index_number = \(entry.number) AND d.sequence = e.sequence AND d.sequence <= \(entry.watermark)
      """)
    if apart > 0 || currentApart > foundApart { findings.add("keeps documents apart that it should not") }
  }

  // MARK: Rows that are there

  /// How many of the rows the index holds, under the document's sequence.
  private func count(of rows: IndexEntries, id: String, sequence: Int64) throws -> Int64 {
    let fields = entry.definition.fields.count
    let keys = (0..<fields).map { "t\($0) = ?\(2 * $0 + 1) AND v\($0) = ?\(2 * $0 + 2)" }
    let statement = try connection.statement(
      """
      SELECT 1 FROM \(table) WHERE \(keys.joined(separator: " AND ")) AND id = ?\(2 * fields + 1)
         AND sequence = ?\(2 * fields + 2) AND absent = ?\(2 * fields + 3)
      """)
    defer { statement.reset() }
    var held: Int64 = 0
    for row in rows.entries {
      statement.reset()
      for (number, key) in row.keys.enumerated() { try statement.bind(key, at: 2 * number + 1) }
      try statement.bind(id, at: 2 * fields + 1)
      try statement.bind(sequence, at: 2 * fields + 2)
      try statement.bind(rows.absent, at: 2 * fields + 3)
      if try statement.step() { held += 1 }
    }
    return held
  }

  private func holdsApart(_ id: String, _ sequence: Int64) throws -> Bool {
    let statement = try connection.statement(
      "SELECT 1 FROM \(IndexFile.schema).apart WHERE index_number = ?1 AND id = ?2 AND sequence = ?3")
    defer { statement.reset() }
    try statement.bind(entry.number, at: 1)
    try statement.bind(id, at: 2)
    try statement.bind(sequence, at: 3)
    return try statement.step()
  }

  // MARK: Rows that should not be there

  /// The rows under the sequence that their document has now.
  private var currentRows: String {
    """
    \(table) e JOIN main.documents d ON d.id = e.id
     WHERE d.sequence = e.sequence AND NOT d.deleted AND d.sequence <= \(entry.watermark)
    """
  }

  /// Whether a row is under another sequence than its document's, though the index knows that one, or under the sequence
  /// of another document.
  private static func isStray(_ row: String, watermark: Int64) -> String {
    """
    (NOT EXISTS (SELECT 1 FROM main.documents d WHERE d.id = \(row).id
         AND (d.sequence > \(watermark) OR (d.sequence = \(row).sequence AND NOT d.deleted)))
      OR EXISTS (SELECT 1 FROM main.documents o WHERE o.sequence = \(row).sequence AND o.id <> \(row).id)
      OR \(row).sequence > \(watermark))
    """
  }

  private mutating func findRowsOfOthers() throws {
    let statement = try connection.statement(
      "SELECT id FROM \(table) e WHERE \(Self.isStray("e", watermark: entry.watermark))")
    defer { statement.reset() }
    while try statement.step() { findings.add("has a row that it does not give", statement.text(0)) }
  }

  /// Each row of a document is there, so the one with more rows than it gives has the others.
  private mutating func findRowsNotGiven() throws {
    let statement = try connection.statement(
      "SELECT d.id, d.sequence, d.body, count(*) FROM \(currentRows) GROUP BY d.sequence")
    defer { statement.reset() }
    while try statement.step() {
      let id = statement.text(0)
      let rows = statement.withBytes(2) { IndexEntries(of: entry.definition, body: JSONBytes($0)) }
      let held = try count(of: rows, id: id, sequence: statement.int64(1))
      if statement.int64(3) > held { findings.add("has a row that it does not give", id) }
    }
  }
}

/// What is wrong with one index, the first of it in full.
struct IndexFindings {
  let name: String
  private(set) var findings: [IntegrityFinding] = []
  private var count = 0

  private static let limit = 10

  init(_ name: String) {
    self.name = name
  }

  mutating func add(_ what: String, _ id: String? = nil) {
    count += 1
    guard count <= Self.limit else { return }
    findings.append(
      IntegrityFinding(.index, documentID: id, "the index \(JSONValue.string(name).text) \(what)"))
  }

  /// The findings, and how many more there are.
  var all: [IntegrityFinding] {
    guard count > Self.limit else { return findings }
    let name = JSONValue.string(name).text
    return findings
      + [IntegrityFinding(.index, "the index \(name) has \(count - Self.limit) more rows that are wrong")]
  }
}
