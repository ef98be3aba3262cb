import CDTJSON
import CDTSQLite

/// Measures indexes, and stores the statistics in the index file for all processes.
///
/// A sample of the documents provides the values, and the number of values that occur once provides an estimate of the
/// distinct values. The cost is that of some thousand lookups, and of counting the documents and rows by their pages.
struct StatisticsTable {
  private let connection: Connection

  /// The approximate number of documents in a sample.
  private static let sampleSize: Int64 = 2_000
  /// The number of sampled values kept for each field.
  private static let keptValues = 128
  /// Longer strings are truncated, longer arrays and objects emptied.
  private static let longestValue = 100

  /// Whether an index is complete and a fifth of the writes happened since its last measurement. Every write has a
  /// sequence.
  static func isDue(_ entry: IndexCatalog.Entry, sequence: Int64) -> Bool {
    guard entry.definition.type.isOrdered, entry.watermark == nil else { return false }
    guard let known = entry.statistics else { return true }
    return Double(sequence - known.sequence) * 5 > known.documents
  }

  /// Measures the indexes that are due, or the named one.
  static func measure(where name: String? = nil, on file: IndexConnection) throws {
    let connection = file.connection
    // Measuring reads much and writes little, so it does not block writers.
    let measured = try connection.transaction(.deferred) {
      let sequence = try file.state().sequence
      let due = try file.catalog().entries.filter { entry in
        isDue(entry, sequence: sequence) && (name.map { entry.definition.name.hasSameBytes(as: $0) } ?? true)
      }
      return try StatisticsTable(connection: connection).measure(due, sequence: sequence)
    }
    guard !measured.isEmpty else { return }
    try file.changeCatalog { for each in measured { try each.write(on: connection) } }
  }

  private func measure(_ entries: [IndexCatalog.Entry], sequence: Int64) throws -> [Measurement] {
    guard !entries.isEmpty else { return [] }
    let table = "\(IndexConnection.documents).documents"
    let documents = try connection.scalar("SELECT count(*) FROM \(table)")
    let rows = try entries.map { try connection.scalar("SELECT count(*) FROM \(IndexFile.table($0.number))") }
    var samples = entries.map { Sample($0.definition) }
    let whole = entries.indices.filter { entries[$0].definition.filter == nil }
    if !whole.isEmpty {
      let last = try connection.scalar("SELECT max(number) FROM \(table)")
      try forEachDocument(from: Self.spread(min(Self.sampleSize, documents), over: last).map { $0 + 1 }) {
        document in
        for index in whole { samples[index].add(document) }
      }
    }
    for index in entries.indices where entries[index].definition.filter != nil {
      try forEachDocument(from: sampledDocuments(of: entries[index], rows: rows[index])) {
        samples[index].add($0)
      }
    }
    return entries.indices.map { index in
      let (entry, sample, rows) = (entries[index], samples[index], rows[index])
      return Measurement(
        number: entry.number, sequence: sequence, documents: documents, rows: rows,
        distinct: entry.definition.fields.indices.map { last in
          IndexStatistics.distinct(sample.rows.map { Array($0[...last]) }, rows: Double(rows))
        },
        values: entry.definition.fields.indices.map { sample.kept(field: $0) })
    }
  }

  /// The stored statistics of an index.
  private struct Measurement {
    let number: Int64
    let sequence: Int64
    let documents: Int64
    let rows: Int64
    let distinct: [Double]
    let values: [[JSONValue]]

    func write(on connection: Connection) throws {
      // Another process may have deleted the index.
      let statement = try connection.statement(
        """
        INSERT OR REPLACE INTO statistics SELECT ?1, ?2, ?3, ?4, ?5, ?6
         WHERE EXISTS (SELECT 1 FROM indexes WHERE number = ?1)
        """)
      try statement.bind(number, at: 1)
      try statement.bind(sequence, at: 2)
      try statement.bind(documents, at: 3)
      try statement.bind(rows, at: 4)
      try statement.bind(JSONValue.array(distinct.map { .int(Int64($0)) }).text, at: 5)
      try statement.bind(JSONValue.array(values.map(JSONValue.array)).text, at: 6)
      try statement.run()
    }
  }

  // MARK: The sample

  /// Calls `body` with the first document whose number is at least each of some numbers.
  private func forEachDocument(from numbers: [Int64], _ body: (DocumentBytes) -> Void) throws {
    let stored = try StoredDocuments(
      "WHERE number >= ?1 ORDER BY number LIMIT 1", 0, in: IndexConnection.documents, on: connection)
    defer { stored.reset() }
    for number in numbers {
      try stored.restart(number)
      if try stored.next(), let document = stored.document { body(document) }
    }
  }

  /// The numbers of documents that a partial index holds, evenly selected from its rows.
  private func sampledDocuments(of entry: IndexCatalog.Entry, rows: Int64) throws -> [Int64] {
    let statement = try connection.statement("SELECT document FROM \(IndexFile.table(entry.number))")
    defer { statement.reset() }
    let interval = max(1, rows / Self.sampleSize)
    var numbers: [Int64] = []
    var position: Int64 = 0
    while try statement.step() {
      if position % interval == 0 { numbers.append(statement.int64(0)) }
      position += 1
    }
    return numbers
  }

  /// Numbers below a total, evenly distributed but not evenly spaced, as documents may have patterns.
  private static func spread(_ count: Int64, over total: Int64) -> [Int64] {
    guard count < total else { return Array(0..<total) }
    // Multiples of the golden ratio are well spaced and do not repeat.
    return (0..<count).map { position in
      let part = (Double(position) * 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1)
      return min(total - 1, Int64(part * Double(total)))
    }
  }

  private struct Sample {
    let definition: IndexDefinition
    /// The values of each field.
    private var values: [[(key: OrderKey, value: JSONValue)]]
    /// A row for each document.
    private(set) var rows: [[OrderKey]] = []

    /// The maximum number of values sampled from one document.
    private static let valuesOfOne = 16

    init(_ definition: IndexDefinition) {
      self.definition = definition
      values = definition.fields.map { _ in [] }
    }

    mutating func add(_ document: DocumentBytes) {
      var row: [OrderKey] = []
      for (number, field) in definition.fields.enumerated() {
        let found = values(of: field.fieldPath, in: document)
        // Not always the first value, as the values of an array may be sorted.
        row.append(OrderKey(found[rows.count % found.count]))
        for value in found.prefix(Self.valuesOfOne) {
          let short = value.shortened(to: StatisticsTable.longestValue)
          values[number].append((OrderKey(short), short))
        }
      }
      rows.append(row)
    }

    /// The values of a field in the form that is compared; null if there are none.
    private func values(of path: FieldPath, in document: DocumentBytes) -> [JSONValue] {
      if let field = path.documentField {
        return [.string(String(decoding: document.string(of: field), as: UTF8.self))]
      }
      if path.isCell {
        let cells = GeoPoint.places(of: path, in: document.body).map {
          JSONValue.int(Int64(PlaceCells.number(of: $0)))
        }
        return cells.isEmpty ? [.null] : cells
      }
      let found = FieldValues(of: path, in: document.body).offsets.map { offset in
        let value = document.body.value(at: offset)
        return definition.collation?.folded(value) ?? value
      }
      return found.isEmpty ? [.null] : found
    }

    /// Values evenly selected from all in order, so that frequent ones occur more often.
    func kept(field: Int) -> [JSONValue] {
      let values = values[field]
      // Numbers are cheaper to move than values.
      let sorted = values.indices.sorted { values[$0].key < values[$1].key }
      let count = min(sorted.count, StatisticsTable.keptValues)
      return (0..<count).map { values[sorted[(2 * $0 + 1) * sorted.count / (2 * count)]].value }
    }
  }

  // MARK: Reading

  /// The columns of the table that ``read(_:from:)`` reads, without the index's number.
  static let columns = ["sequence", "documents", "rows", "distinct_values", "sample"]

  /// Reads statistics from a row, starting at a column; `nil` if there are none.
  static func read(_ row: Statement, from column: Int) -> IndexStatistics? {
    guard !row.isNull(column), let distinct = (try? JSONValue(parsing: row.text(column + 3)))?.arrayValue,
      let samples = (try? JSONValue(parsing: row.text(column + 4)))?.arrayValue
    else { return nil }
    return IndexStatistics(
      sequence: row.int64(column), documents: Double(row.int64(column + 1)),
      rows: Double(row.int64(column + 2)),
      distinct: distinct.compactMap { if case .int(let int) = $0 { Double(int) } else { nil } },
      // Sorted again, so that an edited file can't break the binary search.
      samples: samples.map { ($0.arrayValue ?? []).map { OrderKey($0) }.sorted() })
  }
}

extension JSONValue {
  /// The value, or a short value of the same type.
  fileprivate func shortened(to length: Int) -> JSONValue {
    switch self {
    case .string(let string) where string.utf8.count > length:
      var end = length
      let bytes = Array(string.utf8)
      while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
      return .string(String(decoding: bytes[..<end], as: UTF8.self))
    case .array where text.utf8.count > length: return .array([])
    case .object where text.utf8.count > length: return .object([:])
    default: return self
    }
  }
}
