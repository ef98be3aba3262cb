import CDTDatastore
package import CDTJSON

/// Reads the rows and the groups of a view in a transaction.
///
/// The groups are those of the summary. A user who does not see every document gets groups of the rows that the user sees.
package struct ViewReader {
  private let view: DesignView
  private let engine: QueryEngine
  private let entry: IndexCatalog.Entry
  private let stop: QueryStop
  private let isRestricted: Bool

  /// - Parameter countsHidden: Whether the summary may count documents that are hidden.
  /// - Returns: `nil` if it does not have every document yet, or counts some that are hidden.
  package init?(_ view: DesignView, by engine: QueryEngine, countsHidden: Bool = false) throws {
    let indexes = engine.indexes
    guard indexes.isReadable, let entry = indexes.catalog.entry(named: view.summary.name),
      entry.definition == view.summary, indexes.completeUpTo(of: entry) >= indexes.lastSequence,
      countsHidden || indexes.hidden.isEmpty
    else { return nil }
    self.view = view
    self.engine = engine
    self.entry = entry
    stop = QueryStop(signal: engine.transaction.stop)
    isRestricted = try !engine.transaction.seesEverything
  }

  private var fields: Int { view.fields }

  /// The number of rows, and of those before a range.
  package func counts(before query: ViewQuery) throws -> (all: Int, before: Int) {
    (try count(.all), try count(query.rangeBefore(fields: fields)))
  }

  private func count(_ range: KeyRange) throws -> Int {
    var count = 0
    if isRestricted {
      try forEachRow(in: range) { _, _, _ in
        count += 1
        return true
      }
      return count
    }
    try forEach(groups(of: range == .all ? 0 : fields, in: range)) { row in
      if !SummaryTable.isOfDesignDocuments(row.key) { count += Int(row.number) }
      return true
    }
    return count
  }

  private func groups(of level: Int, in range: KeyRange, isDescending: Bool? = nil) -> CandidateStatement {
    .groups(of: entry, level: level, in: [range], isDescending: isDescending)
  }

  /// Calls `body` with each row in the order of the keys, then of the ids, until it returns `false`.
  package func forEachRow(
    in query: ViewQuery, _ body: (_ id: String, _ key: JSONValue, _ value: JSONValue) throws -> Bool
  ) throws {
    try forEachRow(in: query.range(fields: fields), isDescending: query.isDescending) { id, values, _ in
      let values = values.map(Self.value)
      return try body(id, key(Array(values.prefix(fields))), values.dropFirst(fields).last ?? .null)
    }
  }

  /// - Parameter body: Receives the id, the values of the fields, and the numbers among those that are summed.
  private func forEachRow(
    in range: KeyRange, isDescending: Bool = false,
    _ body: (_ id: String, [OrderKey], [JSONNumber?]) throws -> Bool
  ) throws {
    let layout = KeyLayout(entry.definition)
    let terms = ((0..<fields).map(Optional.some) + [nil]).map {
      OrderTerm(field: $0, isDescending: isDescending)
    }
    try forEach(.rows(of: entry, in: range, by: terms)) { row in
      if row.isOfDesignDocument() { return true }
      if isRestricted, try engine.transaction.entry(ofDocument: row.id) == nil { return true }
      let values = row.withKey { layout.values(ofFirst: layout.fields, in: $0) }
      let numbers = values.dropFirst(fields).map { value in
        value.bytes.withUnsafeBytes { OrderKey.number(in: JSONBytes($0), at: 0) }
      }
      return try body(row.id, values, numbers)
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
    let range = query.range(fields: fields)
    // Only those of all fields tell whether a key is in a range, and have the least and greatest value.
    let stored = range == .all && view.reduce != .statistics ? level : fields
    var open: Group?
    var shouldContinue = true
    func take(_ next: Group) throws -> Bool {
      guard let known = open, known.key == next.key else {
        if let open { shouldContinue = try body(key(open), value(of: open)) }
        open = next
        return shouldContinue
      }
      open?.add(next)
      return true
    }
    if isRestricted {
      try forEachRow(in: range, isDescending: query.isDescending) { _, values, numbers in
        var state = SummaryState(values: numbers.count)
        state.add(numbers)
        let (key, value) = (Array(values.prefix(level)), values.dropFirst(fields).first)
        return try take(Group(key: key, state: state, least: value, greatest: value))
      }
    } else {
      try forEach(groups(of: stored, in: range, isDescending: query.isDescending)) { row in
        if SummaryTable.isOfDesignDocuments(row.key) { return true }
        return try take(group(row, level: level, stored: stored))
      }
    }
    if shouldContinue, let open { _ = try body(key(open), value(of: open)) }
  }

  private func forEach(_ statement: CandidateStatement, _ body: (CandidateRow) throws -> Bool) throws {
    let check = stop.watch(engine.transaction)
    defer { check.map(engine.transaction.removeProgressCheck) }
    try engine.mapping(stop) {
      let rows = Candidates([statement], on: try engine.transaction.connection())
      defer { rows.end() }
      while let row = try rows.next(), try body(row) { try stop.check() }
    }
  }

  // MARK: Values

  /// A group that is made of one or more groups of the summary.
  private struct Group {
    let key: [OrderKey]
    fileprivate(set) var state: SummaryState
    fileprivate(set) var least: OrderKey?
    fileprivate(set) var greatest: OrderKey?

    mutating func add(_ other: Group) {
      state.add(other.state)
      if let known = least, let next = other.least { least = min(known, next) }
      if let known = greatest, let next = other.greatest { greatest = max(known, next) }
    }
  }

  /// - Parameters:
  ///   - level: The number of fields of the key.
  ///   - stored: That of the group in the summary.
  private func group(_ row: CandidateRow, level: Int, stored: Int) throws -> Group {
    let values = KeyLayout(entry.definition, level: stored).values(ofFirst: level, in: row.key)
    var group = Group(key: values, state: try row.state(values: entry.definition.fields.count - fields))
    guard view.reduce == .statistics else { return group }
    func extreme(_ isMaximum: Bool) throws -> OrderKey {
      let connection = try engine.transaction.connection()
      return try SummaryCover.extreme(of: entry, in: row.key, isMaximum: isMaximum, true, on: connection)
    }
    (group.least, group.greatest) = (try extreme(false), try extreme(true))
    return group
  }

  private func key(_ values: [JSONValue]) -> JSONValue {
    fields > 1 ? .array(values) : values.first ?? .null
  }

  private func key(_ group: Group) -> JSONValue {
    group.key.isEmpty ? .null : key(group.key.map(Self.value))
  }

  private static func value(_ key: OrderKey) -> JSONValue {
    key.bytes.withUnsafeBytes { bytes in
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
      "sum": sums.numbers.total, "count": documents, "min": group.least.map(Self.value) ?? .null,
      "max": group.greatest.map(Self.value) ?? .null, "sumsqr": sums.squares.total,
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
