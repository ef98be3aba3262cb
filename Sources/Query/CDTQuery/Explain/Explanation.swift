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
  /// The decision of the planner about each index.
  package let considered: [ConsideredIndex]

  /// An index that would help.
  package let suggested: SuggestedIndex?

  private let source: String
  private let residual: String
  private let collation: Collation?
  /// The plan of the groups, if the query is one for groups.
  private let groups: String?
  private let order: String
  private let isCovered: Bool
  private let skip: Int
  private let limit: Int?
  private let included: String?
  /// The writes that may not be in the index yet.
  private let waiting: Int64
  /// The command that creates an index that would help.
  private let suggestedCommand: String?
  private let statements: [CandidateStatement]
  /// The counts of a run, if there was one.
  private let measured: JSONObject?

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
    suggested = indexes.suggestedIndex
    let store = engine.transaction.store
    suggestedCommand = store.stateTime == nil ? suggested?.command(store: store.directory) : nil
    source = PlanNode(plan.source).text
    residual = plan.residualText
    collation = query.collation
    self.groups = groups?.text
    order = plan.orderText
    isCovered = groups?.isCovered ?? plan.isCovered
    (skip, limit) = (plan.skip, plan.limit)
    let paths = query.includes.map { "\($0.name) by \($0.path.text)" }
    included = paths.isEmpty ? nil : paths.joined(separator: ", ")
    waiting = plan.completeUpTo.map { engine.indexes.lastSequence - $0 } ?? 0
    statements = plan.otherStatements.joined() + (groups?.statements ?? plan.statements(.documents))
    self.measured = measured
  }

  /// The plan as data.
  public var json: JSONObject {
    var json: JSONObject = ["source": .string(source), "residual": .string(residual)]
    if groups == nil { json["order"] = .string(order) }
    json["covered"] = .bool(isCovered)
    json["skip"] = .int(Int64(skip))
    json["limit"] = limit.map { .int(Int64($0)) } ?? .null
    json["include"] = included.map { .string($0) }
    json["waiting"] = .int(waiting)
    json["indexes"] = .array(considered.map(\.json))
    json["suggestedIndex"] = suggestedCommand.map { .string($0) } ?? .null
    json["sql"] = .array(statements.map { .string($0.sql) })
    json["collation"] = collation.map { .string($0.rawValue) }
    json["groups"] = groups.map { .string($0) }
    if var measured {
      measured["suggested"] = suggested?.json["fields"] ?? .null
      json["measured"] = .object(measured)
    }
    return json
  }

  /// The plan as a tree.
  public var description: String {
    let lines: [String?] = [
      source,
      "left to the matcher: \(residual)",
      collation.map { "strings are compared \(Optional($0).text)" },
      groups.map { "groups: \($0)" } ?? "order: \(order)",
      isCovered && groups == nil ? "ids and counts: from the index alone" : nil,
      skip > 0 ? "skip: \(skip)" : nil,
      limit.map { "limit: \($0)" },
      included.map { "included, read by their ids after the results: \($0)" },
      waiting > 0
        ? "not in the index yet: up to \(waiting) \(waiting == 1 ? "write" : "writes"), checked by the matcher"
        : nil,
    ]
    let suggestion = suggestedCommand.map { ["an index that would help: \($0)"] } ?? []
    return Self.tree(
      lines.compactMap(\.self) + considered.map(\.text) + suggestion + statements.map(\.text))
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
    let text = residual.selector.text
    guard case .vector(let vector, _)? = residual.near?.condition.distance, vector.count > 8 else {
      return text
    }
    // The numbers would fill a page.
    let numbers = JSONValue.array(vector.map { .double($0) }).text
    let first = JSONValue.array(vector.prefix(3).map { .double($0) }).text.dropLast()
    return text.replacing(numbers, with: "\(first),… \(vector.count) numbers]")
  }

  fileprivate var orderText: String {
    switch order {
    case .unordered: "none asked for"
    case .index(let terms): isReversed(terms) ? "by the index, backwards" : "by the index"
    case .score: "by the text index's scores"
    case .distance: "by distance"
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
