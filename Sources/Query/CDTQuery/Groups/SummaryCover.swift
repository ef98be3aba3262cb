import CDTJSON
import CDTPlan
import CDTSQLite

/// The groups of a summary that answer a query for groups.
///
/// ```sql
/// SELECT e.t0, e.v0, e.absent, e.documents, e.sums FROM query.groups_3 e WHERE 1 AND e.level = 1 ORDER BY e.t0, e.v0
/// ```
///
/// The least and greatest value of a group is that of the first or last row of the index, for which SQLite seeks.
struct SummaryCover: Sendable {
  /// The columns of the values of the fields.
  let fields: GroupCover
  /// The number of fields of the groups that are read.
  let level: Int
  /// The summed field of each sum.
  let slots: [Int]
  private let entry: IndexCatalog.Entry
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
    fields = GroupCover(fields: requested)
  }

  /// The number of groups that are read, about.
  var groups: Double {
    guard level > 0 else { return 1 }
    let distinct = entry.statistics?.distinct ?? []
    return distinct.indices.contains(level - 1) ? distinct[level - 1] : entry.statistics?.rows ?? 1_000
  }

  /// The statements' form. The columns are those of the fields, then the number of documents and the sums, then the tag and value of
  /// each extreme.
  func form(_ groups: ResolvedGroups, hidesDesignDocuments: Bool) -> CandidateStatement.Form {
    let keys = fields.fields.compactMap(\.self).map { "e.t\($0), e.v\($0)" }
    let extremes = groups.extremes.map {
      Self.extreme(of: entry, isMaximum: $0.isMaximum, hidesDesignDocuments)
    }
    return .values(
      (keys + ["e.absent", "e.documents", "e.sums"] + extremes).joined(separator: ", "),
      condition: "\n   AND e.level = \(level)\(hidesDesignDocuments ? " AND NOT e.design" : "")",
      table: IndexFile.groupsPrefix)
  }

  /// The columns of the least or greatest value of a group of all the fields: its tag and itself.
  static func extreme(
    of entry: IndexCatalog.Entry, isMaximum: Bool, _ hidesDesignDocuments: Bool
  ) -> String {
    let grouped = entry.definition.groupedFields ?? 0
    let isSame = (0..<grouped).map { "r.t\($0) = e.t\($0) AND r.v\($0) = e.v\($0) AND " }.joined()
    let direction = isMaximum ? " DESC" : ""
    let rest = """
      FROM query.\(IndexFile.table(entry)) r
              WHERE \(isSame)r.absent & \(SummaryTable.absenceMask(grouped)) = e.absent
                AND r.t\(grouped) > \(IndexKey.Tag.nothing.rawValue)\(hidesDesignDocuments ? GroupCover.hidden("r.id") : "")
              ORDER BY r.t\(grouped)\(direction), r.v\(grouped)\(direction) LIMIT 1
      """
    return "(SELECT r.t\(grouped) \(rest)), (SELECT r.v\(grouped) \(rest))"
  }

  var documentsColumn: Int { fields.absenceColumn + 1 }

  /// The state of a group in a row of the statement.
  func state(_ row: Statement) throws(IndexDamage) -> SummaryState {
    try SummaryState(
      documents: row.int64(documentsColumn), row.unsafeBytes(documentsColumn + 1),
      values: entry.definition.fields.count - grouped)
  }
}
