import CDTDatastore
package import CDTJSON
import CDTSQLite

/// Reads the rows and the groups of a view in a transaction.
package struct ViewReader {
  private let view: DesignView
  private let engine: QueryEngine
  private let entry: IndexCatalog.Entry
  private let stop: QueryStop

  /// - Parameter countsHidden: Whether the summary may count documents that are hidden.
  /// - Returns: `nil` if it does not have every document yet, or counts some that are hidden.
  package init?(_ view: DesignView, by engine: QueryEngine, countsHidden: Bool = false) {
    let indexes = engine.indexes
    guard indexes.isReadable, let entry = indexes.catalog.entry(named: view.summary.name),
      entry.definition == view.summary, indexes.completeUpTo(of: entry) >= indexes.lastSequence,
      countsHidden || indexes.hidden.isEmpty
    else { return nil }
    self.view = view
    self.engine = engine
    self.entry = entry
    stop = QueryStop(signal: engine.transaction.stop)
  }

  private var fields: Int { view.fields }
  private var groupsTable: String { "query.\(IndexFile.groups(entry.number)) e" }

  /// The number of rows, and of those before a range.
  package func counts(before query: ViewQuery) throws -> (all: Int, before: Int) {
    (try count(ViewQuery.Condition()), try count(query.conditionBefore(fields: fields)))
  }

  private func count(_ condition: ViewQuery.Condition) throws -> Int {
    var count: Int64 = 0
    let level = condition.sql.isEmpty ? 0 : fields
    let sql = """
      SELECT coalesce(sum(e.documents), 0) FROM \(groupsTable)
       WHERE e.level = \(level) AND NOT e.design\(condition.sql)
      """
    try forEach(sql, condition) {
      count = $0.int64(0)
      return true
    }
    return Int(count)
  }

  /// Calls `body` with each row in the order of the keys, then of the ids, until it returns `false`.
  package func forEachRow(
    in query: ViewQuery, _ body: (_ id: String, _ key: JSONValue, _ value: JSONValue) throws -> Bool
  ) throws {
    let condition = query.condition(fields: fields)
    let columns = entry.definition.fields.indices.map { "e.t\($0), e.v\($0), " }.joined()
    let hidden = GroupCover.hidden("e.id")
    let order = Self.order((0..<fields).flatMap { ["e.t\($0)", "e.v\($0)"] } + ["e.id"], query)
    let sql = """
      SELECT \(columns)e.id FROM query.\(IndexFile.table(entry)) e WHERE 1\(hidden)\(condition.sql)\(order)
      """
    try forEach(sql, condition) { row in
      let values = entry.definition.fields.indices.map { field in
        var bytes: [UInt8] = []
        IndexInput.appendKey(row, at: 2 * field, to: &bytes)
        return Self.value(bytes)
      }
      return try body(
        row.text(2 * values.count), key(Array(values.prefix(fields))), values.dropFirst(fields).last ?? .null)
    }
  }

  /// Calls `body` with the key of each group and what the view's function makes of it, in the order of the keys, until it returns
  /// `false`.
  ///
  /// - Parameter level: The number of fields of the keys; 0 for one group of all, whose key is null.
  package func forEachGroup(
    of level: Int, in query: ViewQuery, _ body: (_ key: JSONValue, _ value: JSONValue) throws -> Bool
  ) throws {
    let level = min(level, fields)
    let condition = query.condition(fields: fields)
    // Only those of all fields tell whether a key is in a range, and have the least and greatest value.
    let stored = condition.sql.isEmpty && view.reduce != .statistics ? level : fields
    var extremes = ""
    if view.reduce == .statistics {
      for isMaximum in [false, true] {
        extremes += ", " + SummaryCover.extreme(of: entry, isMaximum: isMaximum, true)
      }
    }
    let columns = (0..<level).flatMap { ["e.t\($0)", "e.v\($0)"] }
    let sql = """
      SELECT \((columns + ["e.documents", "e.sums"]).joined(separator: ", "))\(extremes) FROM \(groupsTable)
       WHERE e.level = \(stored) AND NOT e.design\(condition.sql)\
      \(Self.order((0..<stored).flatMap { ["e.t\($0)", "e.v\($0)"] }, query))
      """
    var open: Group?
    var shouldContinue = true
    try forEach(sql, condition) { row in
      let next = try Group(row, level: level, entry, hasExtremes: view.reduce == .statistics)
      guard let known = open, known.key == next.key else {
        if let open { shouldContinue = try body(key(open), value(of: open)) }
        open = next
        return shouldContinue
      }
      open?.add(next)
      return true
    }
    if shouldContinue, let open { _ = try body(key(open), value(of: open)) }
  }

  private static func order(_ columns: [String], _ query: ViewQuery) -> String {
    guard !columns.isEmpty else { return "" }
    let direction = query.isDescending ? " DESC" : ""
    return " ORDER BY " + columns.map { $0 + direction }.joined(separator: ", ")
  }

  private func forEach(
    _ sql: String, _ condition: ViewQuery.Condition, _ body: (Statement) throws -> Bool
  ) throws {
    let check = stop.watch(engine.transaction)
    defer { check.map(engine.transaction.removeProgressCheck) }
    try engine.mapping(stop) {
      let statement = try engine.transaction.connection().statement(sql)
      defer { statement.clear() }
      try condition.bind(to: statement)
      while try statement.step(), try body(statement) { try stop.check() }
    }
  }

  // MARK: Values

  /// A group that is made of one or more groups of the summary.
  private struct Group {
    /// The ``OrderKey`` of each field.
    let key: [[UInt8]]
    private(set) var state: SummaryState
    private(set) var least: OrderKey?
    private(set) var greatest: OrderKey?

    init(_ row: Statement, level: Int, _ entry: IndexCatalog.Entry, hasExtremes: Bool) throws {
      func value(at column: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        IndexInput.appendKey(row, at: column, to: &bytes)
        return bytes
      }
      key = (0..<level).map { value(at: 2 * $0) }
      state = try SummaryState(
        documents: row.int64(2 * level), row.unsafeBytes(2 * level + 1),
        values: entry.definition.fields.count - (entry.definition.groupedFields ?? 0))
      guard hasExtremes else { return }
      least = OrderKey(value(at: 2 * level + 2)[...])
      greatest = OrderKey(value(at: 2 * level + 4)[...])
    }

    mutating func add(_ other: Group) {
      state.add(other.state)
      if let known = least, let next = other.least { least = min(known, next) }
      if let known = greatest, let next = other.greatest { greatest = max(known, next) }
    }
  }

  private func key(_ values: [JSONValue]) -> JSONValue {
    fields > 1 ? .array(values) : values.first ?? .null
  }

  private func key(_ group: Group) -> JSONValue {
    group.key.isEmpty ? .null : key(group.key.map(Self.value))
  }

  private static func value(_ key: [UInt8]) -> JSONValue {
    key.withUnsafeBytes { bytes in
      var offset = 0
      return OrderKey.value(in: JSONBytes(bytes), at: &offset)
    }
  }

  private func value(of group: Group) -> JSONValue {
    let documents = JSONValue.int(Int64(group.state.documents))
    guard view.reduce != .count, let sums = group.state.sums.first else { return documents }
    guard sums.numbers.count == group.state.documents else { return Self.notNumbers(view.reduce) }
    guard view.reduce == .statistics else { return sums.numbers.total }
    return [
      "sum": sums.numbers.total, "count": documents, "min": Self.value(group.least?.bytes ?? []),
      "max": Self.value(group.greatest?.bytes ?? []), "sumsqr": sums.squares.total,
    ]
  }

  /// As at CouchDB, an error of a function is the value of the row.
  private static func notNumbers(_ reduce: DesignView.Reduce) -> JSONValue {
    [
      "error": "builtin_reduce_error",
      "reason": .string("\(reduce.rawValue) needs numbers, and this group has another value."),
    ]
  }
}
