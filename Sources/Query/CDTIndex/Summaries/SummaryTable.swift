import CDTJSON
import CDTSQLite

/// Keeps the groups of a summary up to date with the rows of its index, in the same transactions.
///
/// ```sql
/// CREATE TABLE groups_3 (level NOT NULL, t0 NOT NULL, v0 NOT NULL, absent NOT NULL, design NOT NULL, documents NOT NULL,
///   sums NOT NULL, PRIMARY KEY (level, t0, v0, absent, design)) WITHOUT ROWID
/// ```
///
/// There is a group for the values of no field, of the first, of the first two, and so on: the level is the number of fields. Tags and
/// values of the others are 0, and their bits of `absent` too. Design documents have groups of their own, which requests at a server
/// leave out.
package final class SummaryTable {
  /// A row of the index.
  struct Row {
    let values: [IndexKey]
    let absent: Int64
    let isOfDesignDocument: Bool
  }

  private struct Key: Hashable {
    let level: Int
    let values: ArraySlice<IndexKey>
    let absent: Int64
    let isOfDesignDocument: Bool
  }

  private let connection: Connection
  /// The number of fields that make the groups.
  private let fields: Int
  /// The number of summed fields.
  private let sums: Int
  private let selection, insertion, deletion: String
  /// The changes that were not written yet.
  private var changes: [Key: SummaryState] = [:]

  /// - Parameter table: The table, if it is not the summary's own.
  /// - Returns: `nil` if the index is not a summary.
  init?(_ entry: IndexCatalog.Entry, on connection: Connection, named table: String? = nil) {
    guard let fields = entry.definition.groupedFields else { return nil }
    self.connection = connection
    self.fields = fields
    sums = entry.definition.fields.count - fields
    let table = table ?? IndexFile.groups(entry.number)
    let columns = Self.keyColumns(fields)
    let isSame = columns.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: " AND ")
    selection = "SELECT documents, sums FROM \(table) WHERE \(isSame)"
    deletion = "DELETE FROM \(table) WHERE \(isSame)"
    let row = (1...columns.count + 2).map { "?\($0)" }.joined(separator: ", ")
    insertion = "INSERT OR REPLACE INTO \(table) VALUES (\(row))"
  }

  private static func keyColumns(_ fields: Int) -> [String] {
    ["level"] + (0..<fields).flatMap { ["t\($0)", "v\($0)"] } + ["absent", "design"]
  }

  static func creation(of table: String, fields: Int) -> String {
    let columns = (keyColumns(fields) + ["documents", "sums"]).map { "\($0) NOT NULL" }
    return """
      CREATE TABLE \(table) (\(columns.joined(separator: ", ")),
        PRIMARY KEY (\(keyColumns(fields).joined(separator: ", ")))) WITHOUT ROWID
      """
  }

  /// The bits of `absent` of the first fields.
  package static func absenceMask(_ fields: Int) -> Int64 { (1 << Int64(2 * fields)) &- 1 }

  // MARK: Changing

  /// Adds a row to its groups, or removes it; ``write()`` must follow.
  func take(_ row: Row, isRemoved: Bool = false) {
    for level in 0...fields {
      let key = Key(
        level: level, values: row.values.prefix(level), absent: row.absent & Self.absenceMask(level),
        isOfDesignDocument: row.isOfDesignDocument)
      changes[key, default: SummaryState(values: sums)].add(
        row.values.dropFirst(fields), isRemoved: isRemoved)
    }
  }

  /// Writes the changes.
  ///
  /// - Throws: ``IndexDamage`` if the table can't be right.
  func write() throws {
    for (key, change) in changes where !change.isEmpty { try write(change, key) }
    changes.removeAll(keepingCapacity: changes.count < 1_000)
  }

  private func write(_ change: SummaryState, _ key: Key) throws {
    var state = SummaryState(values: sums)
    try run(selection, key) { statement in
      guard try statement.step() else { return }
      state = try SummaryState(
        documents: statement.int64(0), statement.unsafeBytes(1), values: sums)
    }
    state.add(change)
    guard state.documents > 0 else {
      guard state.isEmpty else { throw IndexDamage.unreadable("a summary lacks documents") }
      return try run(deletion, key) { try $0.run() }
    }
    try run(insertion, key) { statement in
      try statement.bind(Int64(state.documents), at: 2 * fields + 4)
      try statement.bind(blob: state.bytes, at: 2 * fields + 5)
      try statement.run()
    }
  }

  private func run(_ sql: String, _ key: Key, _ body: (Statement) throws -> Void) throws {
    let statement = try connection.statement(sql)
    defer { statement.clear() }
    try statement.bind(Int64(key.level), at: 1)
    for field in 0..<fields {
      if field < key.level {
        try statement.bind(key.values[field], at: 2 * field + 2)
      } else {
        try statement.bind(Int64(0), at: 2 * field + 2)
        try statement.bind(Int64(0), at: 2 * field + 3)
      }
    }
    try statement.bind(key.absent, at: 2 * fields + 2)
    try statement.bind(key.isOfDesignDocument ? Int64(1) : 0, at: 2 * fields + 3)
    try body(statement)
  }
}
