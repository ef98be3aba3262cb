import CDTJSON
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
      "\(ExactSums.function)(e.v\(fields[input])) FILTER (WHERE e.t\(fields[input]) = \(number))"
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
    let asked = fields.prefix(groups.fields).filter { $0.map { $0 >= constants } ?? true }
    guard isOnce, asked.elementsEqual((constants..<constants + asked.count).map(Optional.some)) else {
      return nil
    }
    let directions = Set(definition.fields[constants..<constants + asked.count].map(\.isDescending))
    guard directions.count <= 1 else { return nil }
    return asked.map { OrderTerm(field: $0, isDescending: false) }
  }
}

/// The source of the groups of a query: the documents of a plan, or the rows of its index.
struct GroupPlan: Sendable {
  let plan: QueryPlan
  let cover: GroupCover?
  /// The order in which rows of the index are read, if each group comes after another.
  let terms: [OrderTerm]?
  /// The form of statements that group in SQLite: each group is then one row.
  let grouped: CandidateStatement.Form?
  /// The summary whose groups have the answer.
  let summary: SummaryCover?

  init(_ plan: QueryPlan) {
    (self.plan, cover, terms, grouped, summary) = (plan, nil, nil, nil, nil)
  }

  /// - Returns: `nil` if there are documents that the summary lacks, or its groups are in another order than those of the query.
  init?(_ plan: QueryPlan, _ summary: SummaryCover, _ groups: ResolvedGroups) {
    guard !plan.hasUnindexed, let access = plan.source.driver,
      let terms = summary.fields.terms(of: groups, access)
    else { return nil }
    (self.plan, self.terms, self.summary, cover) = (plan, terms, summary, summary.fields)
    grouped = summary.form(groups, hidesDesignDocuments: plan.hidesDesignDocuments)
  }

  init(_ plan: QueryPlan, _ cover: GroupCover, _ groups: ResolvedGroups) {
    self.plan = plan
    self.cover = cover
    summary = nil
    // Documents that the index does not have can be in any group.
    terms = plan.hasUnindexed ? nil : plan.source.driver.flatMap { cover.terms(of: groups, $0) }
    grouped =
      terms == nil ? nil : cover.grouped(groups, hidesDesignDocuments: plan.hidesDesignDocuments)
  }

  var output: QueryOutput { cover == nil ? .groups : .unindexed }

  /// The statements that read the index, or the documents.
  var statements: [CandidateStatement] {
    guard let cover else { return plan.statements(.groups) }
    return rows(grouped ?? .values(cover.columns)) + plan.statements(.unindexed)
  }

  /// The statements that read the index.
  func rows(_ form: CandidateStatement.Form) -> [CandidateStatement] {
    CandidateStatement.of(
      plan.source, order: terms.map { .index($0) } ?? .unordered, floor: plan.floor, form: form)
  }
}

extension Planner {
  /// The plans that need an index alone.
  func coveringPlans(_ groups: ResolvedGroups) -> [(cost: Double, plan: GroupPlan)] {
    // Groups count documents that are hidden.
    if !indexes.hidden.isEmpty { return [] }
    if case .never = query.selector.clause { return [] }
    guard documentIDs(in: conjuncts) == nil else { return [] }
    return catalog.ordered.flatMap { entry -> [(Double, GroupPlan)] in
      guard holdsEveryMatch(entry, of: conjuncts) else { return [] }
      let candidate = candidate(entry, for: conditions, of: conjuncts)
      guard candidate.decided.count == conjuncts.count else { return [] }
      return [summaryPlan(candidate, groups), coveringPlan(candidate, entry, groups)].compactMap(\.self)
    }
  }

  private func coveringPlan(
    _ candidate: Candidate, _ entry: IndexCatalog.Entry, _ groups: ResolvedGroups
  ) -> (Double, GroupPlan)? {
    // Of an array, a condition leaves the rows of some elements.
    guard let cover = GroupCover(groups, entry), !entry.isMultiple || conjuncts.isEmpty else { return nil }
    let plan = GroupPlan(plan(candidate, because: "it has every field of the groups"), cover, groups)
    // Where SQLite does not make the groups, the group of each row is looked up.
    let row = plan.grouped == nil ? 2 * Cost.row : Cost.row
    return (candidate.seeks * Cost.seek + candidate.rows * row, plan)
  }

  private func summaryPlan(_ candidate: Candidate, _ groups: ResolvedGroups) -> (Double, GroupPlan)? {
    guard let access = candidate.source.driver, let summary = SummaryCover(groups, access),
      let plan = GroupPlan(plan(candidate, because: "it has the groups"), summary, groups)
    else { return nil }
    let group = Cost.row + 2 * Double(groups.extremes.count) * Cost.seek
    return (candidate.seeks * Cost.seek + min(summary.groups, candidate.rows) * group, plan)
  }

  /// The plan with the lowest cost.
  ///
  /// - Parameter choose: Chooses a plan that reads documents.
  func groupPlan(_ groups: ResolvedGroups, _ choose: (Planner) throws -> QueryPlan) throws -> GroupPlan {
    let best = coveringPlans(groups).filter { cover in
      query.useIndex.map { cover.plan.plan.source.driver?.index.definition.name.hasSameBytes(as: $0) == true }
        ?? true
    }.min { $0.cost < $1.cost }
    if let best, query.useIndex != nil || best.cost <= leastCost { return best.plan }
    return GroupPlan(try choose(self))
  }
}
