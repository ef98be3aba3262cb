import CDTJSON
import CDTSQLite
import CDTSelector

/// The table of an index of vectors, whose rows are those of ``VectorLayout``.
///
/// ```sql
/// CREATE TABLE vectors_3 (key INTEGER PRIMARY KEY, entries BLOB NOT NULL)
/// ```
///
/// The number of a document never changes, so a change replaces its entries.
package final class VectorTable {
  /// The vectors of a document that the index holds.
  struct Content: Hashable {
    /// The entries, without their slots.
    var entries: [[UInt8]] = []
    /// Whether there are more vectors than the index can hold. Then it has no entries.
    var overflows = false
  }

  private let table: String
  private let connection: Connection
  private let path: FieldPath?
  private let layout: VectorLayout
  private let filter: Matcher?

  /// - Parameter table: The table, if it is not the index's own.
  init(_ entry: IndexCatalog.Entry, on connection: Connection, named table: String? = nil) {
    self.table = table ?? Self.name(entry.number)
    self.connection = connection
    path = entry.definition.fields.first?.fieldPath
    layout = entry.definition.vectorLayout
    filter = entry.definition.filter.map { Matcher($0.clause) }
  }

  package static func name(_ number: Int64) -> String { "vectors_\(number)" }

  static func creation(of table: String) -> String {
    "CREATE TABLE \(table) (key INTEGER PRIMARY KEY, entries BLOB NOT NULL)"
  }

  /// The codes of a document in the index.
  func content(of document: DocumentBytes, number: Int64) -> Content {
    var content = Content()
    // Only patterns fail, and a filter has none.
    guard let path, filter.map({ (try? $0.matches(document)) ?? false }) ?? true else { return content }
    path.forEachVector(ofLength: layout.length, in: document.body) { vector in
      guard content.entries.count < VectorLayout.maximumParts else { return content.overflows = true }
      content.entries.append(VectorCode(vector).entry)
    }
    if content.overflows || layout.place(of: number) == nil {
      content = Content(overflows: !content.entries.isEmpty)
    }
    return content
  }

  /// Replaces the entries of a document.
  func replace(_ number: Int64, with content: Content) throws {
    guard let (first, slot) = layout.place(of: number) else { return }
    for part in 0..<VectorLayout.maximumParts {
      let key = first + Int64(part)
      var row = try row(key)
      let known = stride(from: 0, to: row.count, by: layout.entrySize).first { row[$0] == slot }
      if part < content.entries.count {
        let entry = [slot] + content.entries[part]
        let end = known ?? row.count
        row.replaceSubrange(end..<(known.map { $0 + layout.entrySize } ?? end), with: entry)
      } else if let known {
        row.removeSubrange(known..<known + layout.entrySize)
      } else {
        return
      }
      try write(row, key)
    }
  }

  /// The entries of a row by the documents' numbers.
  func entries(_ key: Int64) throws -> [Int64: [UInt8]] {
    let row = try row(key)
    var entries: [Int64: [UInt8]] = [:]
    for start in stride(from: 0, to: row.count, by: layout.entrySize) {
      entries[layout.number(key: key, slot: row[start])] = Array(row[start..<start + layout.entrySize])
    }
    return entries
  }

  private func row(_ key: Int64) throws -> [UInt8] {
    let statement = try connection.statement("SELECT entries FROM \(table) WHERE key = ?1")
    defer { statement.reset() }
    try statement.bind(key, at: 1)
    guard try statement.step() else { return [] }
    return try statement.withBytes(0) { row in
      try layout.check(row)
      return Array(row)
    }
  }

  private func write(_ row: [UInt8], _ key: Int64) throws {
    let statement = try connection.statement(
      row.isEmpty ? "DELETE FROM \(table) WHERE key = ?1" : "INSERT OR REPLACE INTO \(table) VALUES (?1, ?2)")
    defer { statement.clear() }
    try statement.bind(key, at: 1)
    try row.withUnsafeBytes { bytes in
      if !bytes.isEmpty { try statement.bind(blobInPlace: bytes, at: 2) }
      try statement.run()
    }
  }
}
