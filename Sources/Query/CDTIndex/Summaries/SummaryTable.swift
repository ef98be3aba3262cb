package import CDTJSON
import CDTSQLite

/// Keeps the groups of a summary up to date with the rows of its index, in the same transactions.
///
/// There is a group for the values of no field, of the first, of the first two, and so on: the level is the number of fields. Design
/// documents have groups of their own, which requests at a server leave out.
///
/// | part of a key | |
/// |---|---|
/// | level | one byte |
/// | for each of these fields, and marks | as in the keys of rows, ``KeyLayout`` |
/// | `7F` | in a group of design documents |
package final class SummaryTable {
  private let connection: Connection
  private let layout: KeyLayout
  /// The number of fields that make the groups.
  private let fields: Int
  /// The number of summed fields.
  private let sums: Int
  private let selection, insertion, deletion: String
  private var numbers: [JSONNumber?] = []
  /// The changes that were not written yet.
  private var changes: [OrderKey: SummaryState] = [:]

  /// - Parameter table: The table, if it is not the summary's own.
  /// - Returns: `nil` if the index is not a summary.
  init?(_ entry: IndexCatalog.Entry, on connection: Connection, named table: String? = nil) {
    guard let fields = entry.definition.groupedFields else { return nil }
    self.connection = connection
    self.fields = fields
    sums = entry.definition.fields.count - fields
    layout = KeyLayout(entry.definition)
    let table = table ?? IndexFile.groups(entry.number)
    selection = "SELECT documents, sums FROM \(table) WHERE key = ?1"
    deletion = "DELETE FROM \(table) WHERE key = ?1"
    insertion = "INSERT OR REPLACE INTO \(table) VALUES (?1, ?2, ?3)"
  }

  static func creation(of table: String) -> String {
    "CREATE TABLE \(table) (key NOT NULL PRIMARY KEY, documents NOT NULL, sums NOT NULL) WITHOUT ROWID"
  }

  /// The mark of design documents, after those of fields.
  private static let design: UInt8 = 0x7F

  /// Whether a key is that of a group of design documents.
  package static func isOfDesignDocuments(_ key: JSONBytes) -> Bool { key[key.count - 1] == design }

  /// The keys of the groups of a level in a range of keys of the index.
  package static func range(_ values: KeyRange, ofLevel level: Int) -> KeyRange {
    func bound(_ key: OrderKey) -> OrderKey { OrderKey([UInt8(truncatingIfNeeded: level)] + key.bytes) }
    return KeyRange(lower: bound(values.lower), upper: bound(values.upper))
  }

  // MARK: Changing

  /// Adds a row of the index to its groups, or removes it; ``write()`` must follow.
  func take(_ row: JSONBytes, isRemoved: Bool = false) {
    numbers.removeAll(keepingCapacity: true)
    var start = layout.end(ofFirst: fields, in: row)
    for field in fields..<layout.fields {
      numbers.append(OrderKey.number(in: row, at: start))
      start = layout.end(of: field, in: row, at: start)
    }
    let isOfDesignDocument = layout.isOfDesignDocument(row, idAt: start)
    let marks = row.slice(OrderKey.end(in: row, at: start), row.count)
    var end = 0
    for level in 0...fields {
      var key = OrderKey([UInt8(truncatingIfNeeded: level)])
      key.bytes.append(contentsOf: row.slice(0, end))
      for mark in marks where mark >> 1 < level { key.bytes.append(mark) }
      if isOfDesignDocument { key.bytes.append(Self.design) }
      changes[key, default: SummaryState(values: sums)].add(numbers, isRemoved: isRemoved)
      end = layout.end(of: level, in: row, at: end)
    }
  }

  /// Writes the changes.
  ///
  /// - Throws: ``IndexDamage`` if the table can't be right.
  func write() throws {
    for (key, change) in changes where !change.isEmpty { try write(change, key) }
    changes.removeAll(keepingCapacity: changes.count < 1_000)
  }

  private func write(_ change: SummaryState, _ key: OrderKey) throws {
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
      try statement.bind(Int64(state.documents), at: 2)
      try statement.bind(blob: state.bytes, at: 3)
      try statement.run()
    }
  }

  private func run(_ sql: String, _ key: OrderKey, _ body: (Statement) throws -> Void) throws {
    let statement = try connection.statement(sql)
    defer { statement.clear() }
    try statement.bind(blob: key.bytes, at: 1)
    try body(statement)
  }
}
