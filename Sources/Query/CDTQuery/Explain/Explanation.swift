public import CDTJSON
import CDTPlan

/// The plan of a query, as text and as data.
///
/// ```
/// index "name_age", 1 equality, 1 range
/// ├ left to the matcher: nothing
/// ├ order: by the index
/// …
/// ```
///
/// See <doc:QueryingDocuments#explain>.
public struct Explanation: Sendable, CustomStringConvertible {
  /// The plan as data.
  public let json: JSONObject

  /// The plan as a tree.
  public let description: String

  /// The decision of the planner about each index.
  package let considered: [ConsideredIndex]

  /// The fields of an index that would help.
  package let suggestedFields: JSONValue?

  /// - Parameters:
  ///   - groups: The plan of the groups, if the query is one for groups.
  ///   - measured: The counts of a run, if there was one.
  init(
    _ query: ResolvedQuery, _ plan: QueryPlan, groups: GroupPlan? = nil, measured: JSONObject? = nil,
    by engine: QueryEngine
  ) {
    let indexes = PlanDescription(
      query: query, plan: plan, groups: groups?.groups, catalog: engine.indexes.catalog)
    considered = indexes.considered
    suggestedFields = indexes.suggestedIndex?.json
    let (source, residual, suggested) = (
      PlanNode(plan.source).text, plan.residualText, indexes.suggestedIndex
    )
    var json: JSONObject = ["source": .string(source)]
    var lines = [source]
    func add(_ name: String, _ value: JSONValue, _ text: String?...) {
      json[name] = value
      lines += text.compactMap(\.self)
    }
    add("residual", .string(residual), "left to the matcher: \(residual)")
    if let collation = query.collation { lines.append("strings are compared \(Optional(collation).text)") }
    if let groups {
      lines.append("groups: \(groups.text)")
    } else {
      add("order", .string(plan.orderText), "order: \(plan.orderText)")
    }
    let isCovered = groups?.isCovered ?? plan.isCovered
    add(
      "covered", .bool(isCovered), isCovered && groups == nil ? "ids and counts: from the index alone" : nil)
    add("skip", .int(Int64(plan.skip)), plan.skip > 0 ? "skip: \(plan.skip)" : nil)
    add("limit", plan.limit.map { .int(Int64($0)) } ?? .null, plan.limit.map { "limit: \($0)" })
    if !query.includes.isEmpty {
      let paths = query.includes.map { "\($0.name) by \($0.path.text)" }.joined(separator: ", ")
      add("include", .string(paths), "included, read by their ids after the results: \(paths)")
    }
    let waiting = plan.completeUpTo.map { engine.indexes.lastSequence - $0 } ?? 0
    let writes = "\(waiting) \(waiting == 1 ? "write" : "writes")"
    add(
      "waiting", .int(waiting),
      waiting > 0 ? "not in the index yet: up to \(writes), checked by the matcher" : nil)
    json["indexes"] = .array(considered.map(\.json))
    lines += considered.map(\.text)
    let command = suggested?.command(store: engine.transaction.store.directory)
    add(
      "suggestedIndex", command.map { .string($0) } ?? .null,
      command.map { "an index that would help: \($0)" })
    let statements = plan.otherStatements.joined() + (groups?.statements ?? plan.statements(.documents))
    json["sql"] = .array(statements.map { .string($0.sql) })
    lines += statements.map(\.text)
    json["collation"] = query.collation.map { .string($0.rawValue) }
    json["groups"] = groups.map { .string($0.text) }
    if var measured {
      measured["suggested"] = suggested?.json ?? .null
      json["measured"] = .object(measured)
    }
    self.json = json
    description = Self.tree(lines)
  }

  /// A line with the others below it.
  package static func tree(_ lines: [String]) -> String {
    lines.enumerated().map { number, line in
      number == 0 ? line : (number == lines.count - 1 ? "└ " : "├ ") + line
    }.joined(separator: "\n")
  }
}

extension GroupPlan {
  fileprivate var isCovered: Bool {
    if case .documents = source { false } else { true }
  }

  fileprivate var text: String {
    switch source {
    case .documents: "from the documents"
    case .summary: "from the groups of the summary"
    case .rows:
      order?.isEmpty ?? true ? "from the index alone" : "from the index alone, in its order"
    }
  }
}

extension QueryPlan {
  fileprivate var residualText: String {
    if case .always = residual { return "nothing" }
    if case .nothing = source { return "nothing" }
    return residual.selector.text
  }

  fileprivate var orderText: String {
    switch order {
    case .unordered: "none asked for"
    case .index(let terms): isReversed(terms) ? "by the index, backwards" : "by the index"
    case .score: "by the text index's scores"
    case .id(let isDescending): isDescending ? "by the ids, backwards" : "by the ids"
    case .sorted:
      (sort.isByID ? "by the ids, " : "")
        + (lastWanted.map { "the first \($0) are kept while sorting" } ?? "sorted")
    }
  }

  private func isReversed(_ terms: [OrderTerm]) -> Bool {
    guard let first = terms.first, let driver = source.driver else { return false }
    let isDescending = first.field.map { driver.index.definition.fields[$0].isDescending } ?? false
    return first.isDescending != isDescending
  }
}

extension ConsideredIndex {
  fileprivate var text: String { "index \"\(definition.name)\": \(isUsed ? "used" : "not used"), \(reason)" }
  fileprivate var json: JSONValue {
    ["name": .string(definition.name), "used": .bool(isUsed), "reason": .string(reason)]
  }
}

extension CandidateStatement {
  fileprivate var text: String {
    let lines = sql.split(separator: "\n", omittingEmptySubsequences: false)
    return "SQL\(runs == 1 ? "" : ", run \(runs) times"): " + lines.joined(separator: "\n       ")
  }
}
