import CDTJSON
import CDTPlan
import CDTSQLite

/// The groups of a summary that answer a query for groups.
///
/// The least and greatest value of a group is that of the first or last of its rows in the index, which are looked up.
struct SummaryCover: Sendable {
  let fields: GroupCover
  /// The number of fields of the groups that are read.
  let level: Int
  /// The summed field of each sum.
  let slots: [Int]
  let entry: IndexCatalog.Entry
  /// The statement that reads the groups.
  let statement: CandidateStatement
  /// The number of fields that make the groups.
  private let grouped: Int

  /// - Parameter access: The conditions of the query.
  /// - Returns: `nil` if the summary does not have what is asked for.
  init?(_ groups: ResolvedGroups, _ access: IndexAccess) {
    let definition = access.index.definition
    guard let grouped = definition.groupedFields, groups.unwind == nil, access.ids.isEverything else {
      return nil
    }
    entry = access.index
    self.grouped = grouped
    let paths = definition.fields.map(\.fieldPath)
    let inputs = groups.inputs.map { input in paths.firstIndex(of: input.path) }
    let requested = inputs.prefix(groups.fields).compactMap(\.self)
    slots = groups.sums.compactMap { inputs[$0].map { $0 - grouped } }
    guard requested.count == groups.fields, slots.count == groups.sums.count, slots.allSatisfy({ $0 >= 0 }),
      groups.extremes.allSatisfy({ inputs[$0.input] == grouped })
    else { return nil }
    // Of an array, a condition holds for an element, and the row has the array.
    let isConditional = !access.fields.isEmpty || !access.filters.isEmpty
    if isConditional, access.index.isMultiple { return nil }
    let used = [access.fields.count] + (requested + access.filters.map(\.field)).map { $0 + 1 }
    let least = used.max() ?? 0
    guard least <= grouped else { return nil }
    level = groups.extremes.isEmpty ? least : grouped
    let layout = KeyLayout(definition, level: level)
    fields = GroupCover(fields: requested, in: layout)
    statement = .groups(of: entry, level: level, in: access.ranges, KeyFilter(access, layout))
  }

  /// The number of groups that are read, about.
  var groups: Double {
    guard level > 0 else { return 1 }
    let distinct = entry.statistics?.distinct ?? []
    return distinct.indices.contains(level - 1) ? distinct[level - 1] : entry.statistics?.rows ?? 1_000
  }

  /// The least or greatest value of a group of all the fields; empty if there is none but null.
  static func extreme(
    of entry: IndexCatalog.Entry, in group: JSONBytes, isMaximum: Bool, _ hidesDesignDocuments: Bool,
    on connection: Connection
  ) throws -> OrderKey {
    let grouped = entry.definition.groupedFields ?? 0
    let groups = KeyLayout(entry.definition, level: grouped)
    let end = groups.startOfID(in: group)
    let prefix = OrderKey(Array(group.slice(groups.start, end)))
    let values = FieldAccess.range(lower: .firstBoolean, upper: nil).ranges(
      after: prefix, isDescending: false)
    let rows = Candidates([.rows(of: entry, in: values, isDescending: isMaximum)], on: connection)
    defer { rows.end() }
    let layout = KeyLayout(entry.definition)
    while let row = try rows.next() {
      if hidesDesignDocuments, row.isOfDesignDocument() { continue }
      let id = layout.startOfID(in: row.key)
      let isSame = (0..<grouped).allSatisfy {
        layout.absence(of: $0, in: row.key, idAt: id) == groups.absence(of: $0, in: group, idAt: end)
      }
      let start = prefix.bytes.count
      if isSame { return OrderKey(Array(row.key.slice(start, OrderKey.end(in: row.key, at: start)))) }
    }
    return OrderKey()
  }

  /// The state of a group in a row of the statement.
  func state(_ row: CandidateRow) throws(IndexDamage) -> SummaryState {
    try row.state(values: entry.definition.fields.count - grouped)
  }
}

extension CandidateRow {
  /// The state of a group of a summary.
  ///
  /// - Parameter values: The number of summed fields.
  func state(values: Int) throws(IndexDamage) -> SummaryState {
    try SummaryState(documents: statement.int64(0), statement.unsafeBytes(2), values: values)
  }
}
