import CDTJSON
import CDTSQLite

/// Lists the documents that have the same key in one unique index, in a transaction of the index file.
struct UniqueListing {
  private let entry: IndexCatalog.Entry
  private let file: IndexConnection
  /// The sequence up to which the index has every document.
  private let completeUpTo: Int64
  /// Whether the user sees a document.
  private let sees: (_ id: String) throws -> Bool

  private static let documents = "\(IndexConnection.documents).documents"

  init(
    _ entry: IndexCatalog.Entry, _ state: IndexState, in file: IndexConnection,
    _ sees: @escaping (_ id: String) throws -> Bool = { _ in true }
  ) {
    self.sees = sees
    self.entry = entry
    self.file = file
    completeUpTo = entry.watermark ?? state.sequence
  }

  func violations() throws -> [UniqueViolation] {
    let unindexed = "temp.unindexed_\(entry.number)"
    let tooMany = try collectUnindexed(unindexed)
    defer { try? file.connection.execute("DROP TABLE IF EXISTS \(unindexed)") }
    return try tooMany + sharedKeys(with: unindexed)
  }

  /// Puts the rows of the documents that the index lacks into a temporary table.
  ///
  /// - Returns: The documents that have too many keys.
  private func collectUnindexed(_ table: String) throws -> [UniqueViolation] {
    let connection = file.connection
    try connection.execute(
      "DROP TABLE IF EXISTS \(table); \(IndexFile.creation(ofTable: table))")
    var rows = IndexRows(entry.definition)
    var overflow: [String] = []
    let stored = try StoredDocuments(
      "WHERE sequence > ?1 OR number IN (SELECT document FROM main.overflow WHERE index_number = ?2)",
      completeUpTo, entry.number, in: IndexConnection.documents, on: connection)
    defer { stored.reset() }
    let insertion = IndexTable(entry, on: connection, named: table)
    while try stored.next() {
      guard let document = stored.document else { continue }
      rows.removeAll()
      let shape = rows.add(document, number: stored.number)
      if shape.overflows { overflow.append(String(decoding: document.id, as: UTF8.self)) }
      rows.sort()
      try insertion.insert(rows, 0..<rows.count)
    }
    return try overflow.filter(sees).sorted { $0.precedesInBytes($1) }.map {
      UniqueViolation(index: entry.definition.name, key: [], documentIDs: [$0])
    }
  }

  /// Reads all rows in the order of their keys.
  private func sharedKeys(with unindexed: String) throws -> [UniqueViolation] {
    let layout = KeyLayout(entry.definition)
    let rows = try file.connection.statement(
      """
      SELECT key, document FROM main.\(IndexFile.table(entry.number))
       WHERE document NOT IN (SELECT number FROM \(Self.documents) WHERE sequence > ?1)
      UNION ALL SELECT key, document FROM \(unindexed) ORDER BY key
      """)
    defer { rows.reset() }
    try rows.bind(completeUpTo, at: 1)
    var found: [UniqueViolation] = []
    var key = OrderKey()
    var holders: [(id: String, number: Int64)] = []
    func finish() throws {
      if holders.count > 1 { holders = try holders.filter { try sees($0.id) } }
      guard holders.count > 1, let first = holders.first else { return }
      let values = try UniqueKeySearch.document(
        first.number, on: file.connection, IndexConnection.documents, key, of: entry.definition
      ).values
      found.append(
        UniqueViolation(index: entry.definition.name, key: values, documentIDs: holders.map(\.id)))
    }
    while try rows.step() {
      let row = JSONBytes(rows.unsafeBytes(0))
      guard let next = UniqueKeySearch.key(in: row, layout) else { continue }
      if next != key {
        try finish()
        (key, holders) = (next, [])
      }
      holders.append((layout.id(in: row), rows.int64(1)))
    }
    try finish()
    return found
  }
}
