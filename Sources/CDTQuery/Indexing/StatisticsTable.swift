import JSON
import SQLite

/// Measures indexes, and keeps the figures in the index file for every process to see.
///
/// A sample of the documents gives the values; how many rows share a sampled row's leading values tells how many different
/// ones there are. The cost is that of some hundred look-ups, and of counting the documents and rows by their pages.
struct StatisticsTable {
  private let connection: Connection

  /// About how many documents a sample takes.
  private static let sampleSize: Int64 = 600
  /// How many of a sample's values are kept for each field.
  private static let keptValues = 128
  /// How many rows' neighbours are counted, and up to how many of them.
  private static let probes = 48
  private static let probedRows = 1_000
  /// Longer strings are cut, longer arrays and objects emptied.
  private static let longestValue = 100

  init(_ connection: Connection) {
    self.connection = connection
  }

  /// Whether an index has changed by a fifth since it was measured. Every write has a sequence of its own.
  static func isDue(_ entry: IndexCatalog.Entry, watermark: Int64) -> Bool {
    guard entry.definition.type == .json else { return false }
    guard let known = entry.statistics else { return true }
    return Double(watermark - known.sequence) * 5 > known.documents
  }

  /// Measures indexes that are complete; it runs within the transaction that the caller began.
  func measure(_ entries: [IndexCatalog.Entry], watermark: Int64) throws {
    guard !entries.isEmpty else { return }
    let documents = try connection.scalar("SELECT count(*) FROM docs.documents")
    var samples = entries.map { Sample($0.definition) }
    try forEachSampledBody(of: documents) { body in
      for index in samples.indices { samples[index].add(body) }
    }
    for (entry, sample) in zip(entries, samples) {
      let rows = try connection.scalar("SELECT count(*) FROM \(IndexFile.table(entry.number))")
      let distinct = try distinctPrefixes(entry, sample.rows, rows: rows)
      try write(entry, sample, sequence: watermark, documents: documents, rows: rows, distinct: distinct)
    }
  }

  // MARK: The sample

  /// Documents whose sequences are multiples of a number: of one without small factors, as sequences may have patterns.
  private func forEachSampledBody(of documents: Int64, _ body: (JSONBytes) -> Void) throws {
    var stride = max(1, documents / Self.sampleSize)
    while stride > 1, [2, 3, 5].contains(where: { stride % $0 == 0 }) { stride -= 1 }
    let last = try connection.scalar("SELECT max(sequence) FROM docs.documents")
    // The multiples are looked up one by one, unless they are more than the documents.
    let areFew = last / stride < documents
    let sequences =
      areFew
      ? """
      WITH RECURSIVE multiples(sequence) AS (
        VALUES (?1) UNION ALL SELECT sequence + ?1 FROM multiples WHERE sequence + ?1 <= ?2)
      SELECT sequence FROM multiples
      """ : "SELECT sequence FROM docs.documents WHERE sequence % ?1 = 0"
    let statement = try connection.statement(
      """
      SELECT d.body FROM (\(sequences)) s
      CROSS JOIN docs.documents d ON d.sequence = s.sequence WHERE NOT d.deleted
      """)
    defer { statement.reset() }
    try statement.bind(stride, at: 1)
    if areFew { try statement.bind(last, at: 2) }
    while try statement.step() { statement.withBytes(0) { body(JSONBytes($0)) } }
  }

  private struct Sample {
    let definition: IndexDefinition
    /// The values of each field.
    private(set) var values: [[(key: IndexKey, value: JSONValue)]]
    /// A row of each document.
    private(set) var rows: [[IndexKey]] = []

    /// How many values of one document are taken.
    private static let valuesOfOne = 16

    init(_ definition: IndexDefinition) {
      self.definition = definition
      values = definition.fields.map { _ in [] }
    }

    mutating func add(_ body: JSONBytes) {
      if rows.count < StatisticsTable.sampleSize {
        // Not the first of each, as values may stand in arrays in an order.
        let found = IndexEntries(of: definition, body: body).entries
        if !found.isEmpty { rows.append(found[rows.count % found.count].keys) }
      }
      for (number, field) in definition.fields.enumerated() {
        let found = FieldValues(of: field.fieldPath, in: body).offsets
        if found.isEmpty { values[number].append((.nothing, .null)) }
        for offset in found.prefix(Self.valuesOfOne) {
          let value = body.value(at: offset).shortened(to: StatisticsTable.longestValue)
          values[number].append((IndexKey(value), value))
        }
      }
    }

    /// Values evenly chosen from all in order, so that frequent ones are there more often.
    func kept(field: Int) -> [JSONValue] {
      let sorted = values[field].sorted { $0.key < $1.key }
      guard sorted.count > StatisticsTable.keptValues else { return sorted.map(\.value) }
      return (0..<StatisticsTable.keptValues).map {
        sorted[(2 * $0 + 1) * sorted.count / (2 * StatisticsTable.keptValues)].value
      }
    }
  }

  // MARK: Distinct values

  /// A row that shares its values with *n* rows stands for a value that has *n*: the mean of 1/*n* over the rows is the
  /// number of values by the number of rows.
  private func distinctPrefixes(
    _ entry: IndexCatalog.Entry, _ rows: [[IndexKey]], rows count: Int64
  ) throws -> [Double] {
    let step = max(1, rows.count / Self.probes)
    let probed = stride(from: 0, to: rows.count, by: step).map { rows[$0] }
    var distinct: [Double] = []
    for length in 1...entry.definition.fields.count {
      if let last = distinct.last, last > Double(count) * 0.9 {
        distinct.append(Double(count))
        continue
      }
      var sum = 0.0
      for row in probed { sum += 1 / max(1, try neighbours(of: row.prefix(length), in: entry)) }
      let mean = probed.isEmpty ? 1 : sum / Double(probed.count)
      distinct.append(max(1, mean * Double(count)))
    }
    return distinct
  }

  private func neighbours(of values: ArraySlice<IndexKey>, in entry: IndexCatalog.Entry) throws -> Double {
    let conditions = values.indices.map { "t\($0) = ?\(2 * $0 + 1) AND v\($0) = ?\(2 * $0 + 2)" }
    let statement = try connection.statement(
      """
      SELECT count(*) FROM (SELECT 1 FROM \(IndexFile.table(entry.number)) \
      WHERE \(conditions.joined(separator: " AND ")) LIMIT \(Self.probedRows))
      """)
    defer { statement.reset() }
    for (number, key) in values.enumerated() { try statement.bind(key, at: 2 * number + 1) }
    return try statement.step() ? Double(statement.int64(0)) : 0
  }

  // MARK: The table

  private func write(
    _ entry: IndexCatalog.Entry, _ sample: Sample, sequence: Int64, documents: Int64, rows: Int64,
    distinct: [Double]
  ) throws {
    let statement = try connection.statement(
      "INSERT OR REPLACE INTO statistics VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
    try statement.bind(entry.number, at: 1)
    try statement.bind(sequence, at: 2)
    try statement.bind(documents, at: 3)
    try statement.bind(rows, at: 4)
    try statement.bind(JSONValue.array(distinct.map { .int(Int64($0)) }).text, at: 5)
    let kept = entry.definition.fields.indices.map { JSONValue.array(sample.kept(field: $0)) }
    try statement.bind(JSONValue.array(kept).text, at: 6)
    try statement.run()
  }

  /// The columns of the table that ``read(_:from:)`` takes, without the index's number.
  static let columns = ["sequence", "documents", "rows", "distinct_values", "sample"]

  /// Figures from a row's columns, from a first one on; `nil` where there are none.
  static func read(_ row: Statement, from column: Int) -> IndexStatistics? {
    guard !row.isNull(column), let distinct = (try? JSONValue(parsing: row.text(column + 3)))?.arrayValue,
      let samples = (try? JSONValue(parsing: row.text(column + 4)))?.arrayValue
    else { return nil }
    return IndexStatistics(
      sequence: row.int64(column), documents: Double(row.int64(column + 1)),
      rows: Double(row.int64(column + 2)),
      distinct: distinct.compactMap { if case .int(let int) = $0 { Double(int) } else { nil } },
      // Sorted once more: what a user has written into the file must not make a search go astray.
      samples: samples.map { ($0.arrayValue ?? []).map { IndexKey($0) }.sorted() })
  }
}

extension JSONValue {
  /// The value, or one of its type in its place that is not long.
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
