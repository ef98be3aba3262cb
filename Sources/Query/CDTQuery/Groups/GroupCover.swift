import CDTJSON
import CDTPlan
import CDTSQLite

/// The columns of an index that have the values for a query for groups, so that no document is read.
///
///     SELECT e.t0, e.v0, e.t1, e.v1, e.absent, e.id FROM query.entries_1 e …
///
/// The key of an index row gives a value as it is written in a row of groups: that of a string, number or boolean is the value, and
/// that of an object its ``OrderKey``. The column `absent` tells null from a missing field; their keys are equal.
struct GroupCover: Sendable {
  /// The index's field of each input; `nil` for the id, which every row has.
  let fields: [Int?]
  /// The index's field that is unwound.
  private let unwound: Int?

  /// - Parameter fields: The index's field of each input.
  init(fields: [Int]) {
    self.fields = fields
    unwound = nil
  }

  /// - Returns: `nil` if a value is not in the index. An index with several rows per document covers only the distinct values of
  ///   one field.
  init?(_ groups: ResolvedGroups, _ entry: IndexCatalog.Entry) {
    // An index with a collation has no strings as they are written.
    guard entry.definition.collation == nil else { return nil }
    let paths = entry.definition.fields.map(\.fieldPath)
    if entry.isMultiple {
      guard entry.definition.groupedFields == nil, groups.outputs.isEmpty, groups.fields == 1,
        groups.inputs[0].inElement == []
      else { return nil }
    }
    var fields: [Int?] = []
    for input in groups.inputs {
      let field = paths.firstIndex(of: input.path)
      guard field != nil || input.documentField == .id else { return nil }
      fields.append(field)
    }
    self.fields = fields
    unwound = groups.unwind.flatMap(paths.firstIndex)
    if groups.unwind != nil, unwound == nil { return nil }
  }

  var absenceColumn: Int { 2 * fields.count }
  var idColumn: Int { absenceColumn + 1 }
  private var unwoundColumn: Int { idColumn + 1 }

  /// The columns of the statement.
  var columns: String {
    let values = fields.map { field in
      field.map { "e.t\($0), e.v\($0)" } ?? "\(IndexKey.Tag.string.rawValue), e.id"
    }
    return (values + ["e.absent", "e.id"] + (unwound.map { ["e.t\($0)"] } ?? [])).joined(separator: ", ")
  }

  // MARK: Grouping by SQLite

  /// The statement that groups in SQLite, by the fields of the groups, in the order of the index.
  ///
  ///     SELECT e.t0, e.v0, count(*), exact_sum(e.v1) FILTER (WHERE e.t1 = 0) FROM query.entries_1 e … GROUP BY e.t0, e.v0
  ///
  /// The least and greatest value has two columns, the tag and the number. `nil` if a value is not a field of the index, or an
  /// array is unwound that is not a field of the groups.
  func grouped(_ groups: ResolvedGroups, hidesDesignDocuments: Bool) -> CandidateStatement.Form? {
    guard fields.allSatisfy({ $0 != nil }) else { return nil }
    let fields = fields.compactMap(\.self)
    let own = fields.prefix(groups.fields)
    if let unwound, !own.contains(unwound) { return nil }
    let number = IndexKey.Tag.number.rawValue
    let sums = groups.sums.map { input in
      "\(SQLiteSumFunction.function)(e.v\(fields[input])) FILTER (WHERE e.t\(fields[input]) = \(number))"
    }
    let extremes = groups.extremes.map { extreme in
      let (field, function) = (fields[extreme.input], extreme.isMaximum ? "max" : "min")
      return """
        \(function)(e.t\(field)) FILTER (WHERE e.t\(field) > \(IndexKey.Tag.nothing.rawValue)), \
        \(function)(e.v\(field)) FILTER (WHERE e.t\(field) = \(number))
        """
    }
    let keys = own.map { "e.t\($0), e.v\($0)" }
    return .values(
      (keys + ["count(*)"] + sums + extremes).joined(separator: ", "),
      condition: hidesDesignDocuments ? Self.hidden("e.id") : "",
      grouping: keys.isEmpty ? "" : "\n GROUP BY \(keys.joined(separator: ", "))")
  }

  /// The condition on rows that leaves out design documents.
  static func hidden(_ id: String) -> String { "\n   AND NOT (\(id) >= '_design/' AND \(id) < '_design0')" }

  /// The condition on rows in which a field of the groups is null or missing.
  func absence(_ groups: ResolvedGroups) -> String {
    let conditions = fields.prefix(groups.fields).compactMap(\.self).map {
      "e.t\($0) = \(IndexKey.Tag.nothing.rawValue)"
    }
    return "\n   AND (\(conditions.joined(separator: " OR ")))"
  }

  /// Whether a row has no element to unwind.
  func isEmpty(_ row: Statement) -> Bool {
    guard let unwound, row.int64(unwoundColumn) == IndexKey.Tag.nothing.rawValue else { return false }
    return IndexInput.absence(of: unwound, row.int64(absenceColumn)) != IndexRows.Absence.null
  }

  /// The order of rows in which each group comes after another, if it is that of the index.
  func terms(of groups: ResolvedGroups, _ access: IndexAccess) -> [OrderTerm]? {
    let (definition, constants) = (access.index.definition, access.constantFields)
    let isOnce = access.fields.allSatisfy { field in
      if case .points(let keys) = field { keys.count == 1 } else { true }
    }
    let requested = fields.prefix(groups.fields).filter { $0.map { $0 >= constants } ?? true }
    guard isOnce, requested.elementsEqual((constants..<constants + requested.count).map(Optional.some)) else {
      return nil
    }
    let directions = Set(definition.fields[constants..<constants + requested.count].map(\.isDescending))
    guard directions.count <= 1 else { return nil }
    return requested.map { OrderTerm(field: $0, isDescending: false) }
  }
}
