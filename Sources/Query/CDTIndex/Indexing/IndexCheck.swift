import CDTDatastore
import CDTJSON
import CDTSQLite

/// Compares one index with the documents: the rows they yield, collected in a temporary table, with the rows of the
/// index.
///
/// Documents that the index may lack are ignored, as it may have rows of them (``IndexBuilder``).
final class IndexCheck {
  let name: String
  private let entry: IndexCatalog.Entry
  private let connection: Connection
  /// The sequence up to which every document should be in the index.
  private let completeUpTo: Int64
  private let expected: String
  /// The columns of the index's table, the document's number first.
  private let columns: [String]
  private let insertion: IndexTable
  private var rows: IndexRows
  /// The expected rows of an index of vectors.
  private var vectors: VectorTable?
  /// The ids of documents that should be in the overflow, by number.
  private var overflow: [Int64: String] = [:]
  private var found: [IntegrityFinding] = []
  private var count = 0

  private static let maximumFindings = 10
  /// The memory in bytes for rows before they are written.
  private static let batch = 1 << 20

  /// - Parameter sequence: The sequence up to which the complete indexes have every document.
  init(_ entry: IndexCatalog.Entry, upTo sequence: Int64, on connection: Connection) throws {
    name = entry.definition.name
    self.entry = entry
    self.connection = connection
    completeUpTo = entry.watermark ?? sequence
    expected = "temp.expected_\(entry.number)"
    columns = IndexFile.columns(entry)
    insertion = IndexTable(entry, on: connection, named: expected)
    rows = IndexRows(entry.definition)
    try connection.execute("DROP TABLE IF EXISTS \(expected)")
    switch entry.definition.type {
    case .json, .place: try connection.execute(IndexFile.creation(ofTable: expected))
    case .text:
      try connection.execute(
        "CREATE TABLE \(expected) (\(columns.joined(separator: ", ")), PRIMARY KEY (rowid))")
    case .vector:
      try connection.execute(VectorTable.creation(of: expected))
      vectors = VectorTable(entry, on: connection, named: expected)
    }
  }

  /// Adds a document's rows.
  func take(_ document: DocumentBytes, number: Int64, sequence: Int64) throws {
    guard sequence <= completeUpTo else { return }
    if entry.definition.type == .text {
      return try TextIndexTable.replace(number, document, entry.definition, in: expected, on: connection)
    }
    let id = String(decoding: document.id, as: UTF8.self)
    if let vectors {
      let content = vectors.content(of: document, number: number)
      if content.overflows { overflow[number] = id }
      return try vectors.replace(number, with: content)
    }
    let shape = rows.add(document, number: number)
    if shape.isMultiple, !entry.isMultiple { add("is not marked as having several rows per document", id) }
    if shape.overflows { overflow[number] = id }
    if rows.size > Self.batch { try write() }
  }

  private func write() throws {
    rows.sort()
    try insertion.insert(rows, 0..<rows.count)
    rows.removeAll()
  }

  /// Compares the rows after all documents were added.
  func finish() throws -> [IntegrityFinding] {
    try write()
    let table = "main.\(IndexFile.table(entry))"
    if let vectors {
      try compare(vectors, with: VectorTable(entry, on: connection, named: table), table)
    } else {
      try compare(expected, with: table, "lacks a row")
      try compare(table, with: expected, "has an extra row")
    }
    try compareApart()
    try compareGroups()
    try connection.execute("DROP TABLE \(expected)")
    if count > Self.maximumFindings {
      let text = JSONValue.string(name).text
      found.append(
        IntegrityFinding(
          .index, "the index \(text) has \(count - Self.maximumFindings) more wrong rows"))
    }
    return found
  }

  /// Reports the documents of rows that one table has and the other lacks.
  private func compare(_ table: String, with other: String, _ what: String) throws {
    let isSame = columns.map { "o.\($0) = r.\($0)" }.joined(separator: " AND ")
    let (layout, isText) = (KeyLayout(entry.definition), entry.definition.type == .text)
    let statement = try connection.statement(
      """
      SELECT r.\(isText ? "id" : "key") FROM \(table) r
       WHERE NOT EXISTS (SELECT 1 FROM \(other) o WHERE \(isSame)) AND \(isHeld("r.\(columns[0])"))
      """)
    defer { statement.reset() }
    var ids = Set<String>()
    while try statement.step() {
      let id = isText ? statement.text(0) : layout.id(in: JSONBytes(statement.unsafeBytes(0)))
      if ids.insert(id).inserted { add(what, id) }
    }
  }

  /// Reports the documents of which one of two tables of vectors has another entry.
  private func compare(_ wanted: VectorTable, with other: VectorTable, _ table: String) throws {
    let changed = try numbers(
      "SELECT number FROM \(IndexConnection.documents).documents WHERE sequence > \(completeUpTo)")
    for key in try numbers("SELECT key FROM \(expected) UNION SELECT key FROM \(table)") {
      let (entries, found) = (try wanted.entries(key), try other.entries(key))
      for number in Set(entries.keys).union(found.keys).subtracting(changed).sorted()
      where entries[number] != found[number] {
        let ids = try connection.statement(
          "SELECT id FROM \(IndexConnection.documents).documents WHERE number = ?1")
        defer { ids.reset() }
        try ids.bind(number, at: 1)
        add(
          entries[number] == nil
            ? "has an extra row" : found[number] == nil ? "lacks a row" : "has a wrong row",
          try ids.step() ? ids.text(0) : nil)
      }
    }
  }

  private func numbers(_ sql: String) throws -> [Int64] {
    let statement = try connection.statement(sql)
    defer { statement.reset() }
    var numbers: [Int64] = []
    while try statement.step() { numbers.append(statement.int64(0)) }
    return numbers
  }

  private func compareApart() throws {
    let statement = try connection.statement(
      "SELECT document FROM main.overflow WHERE index_number = \(entry.number) AND \(isHeld("document"))")
    defer { statement.reset() }
    var isMore = false
    while try statement.step() {
      if overflow.removeValue(forKey: statement.int64(0)) == nil { isMore = true }
    }
    for id in overflow.values.sorted() { add("has no separate entry for it", id) }
    if isMore { add("has separate entries that it should not have") }
  }

  /// Compares the groups of a summary with the rows of its index.
  private func compareGroups() throws {
    let (groups, wanted) = ("main.\(IndexFile.groups(entry.number))", "temp.expected_groups_\(entry.number)")
    guard let summary = SummaryTable(entry, on: connection, named: wanted) else { return }
    try connection.execute("DROP TABLE IF EXISTS \(wanted)")
    try connection.execute(SummaryTable.creation(of: wanted))
    let rows = try connection.statement("SELECT key FROM main.\(IndexFile.table(entry))")
    defer { rows.reset() }
    var taken = 0
    while try rows.step() {
      summary.take(JSONBytes(rows.unsafeBytes(0)))
      taken += 1
      if taken % 10_000 == 0 { try summary.write() }
    }
    try summary.write()
    for (left, right) in [(groups, wanted), (wanted, groups)] {
      let wrong = try connection.scalar(
        "SELECT count(*) FROM (SELECT * FROM \(left) EXCEPT SELECT * FROM \(right))")
      if wrong > 0 { add("has \(wrong) wrong \(wrong == 1 ? "group" : "groups")") }
    }
    try connection.execute("DROP TABLE \(wanted)")
  }

  private func isHeld(_ number: String) -> String {
    "\(number) NOT IN (SELECT number FROM \(IndexConnection.documents).documents WHERE sequence > \(completeUpTo))"
  }

  private func add(_ what: String, _ id: String? = nil) {
    count += 1
    guard count <= Self.maximumFindings else { return }
    found.append(IntegrityFinding(.index, documentID: id, "the index \(JSONValue.string(name).text) \(what)"))
  }
}
