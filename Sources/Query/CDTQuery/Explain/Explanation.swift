public import CDTJSON

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

  /// - Parameter groups: The plan of the groups, if the query is one for groups.
  init(
    query: ResolvedQuery, plan: QueryPlan, groups: GroupPlan? = nil, indexes view: IndexView, store: String
  ) {
    let indexes = PlanDescription(query, plan, groups: groups?.groups, catalog: view.catalog)
    let statements = plan.otherStatements.joined() + (groups?.statements ?? plan.statements(.documents))
    considered = indexes.considered
    let source = plan.source.text
    let residual = plan.residualText
    let order = plan.orderText
    let command = indexes.wishedIndex?.command(store: store)
    let waiting = plan.floor.map { view.lastSequence - $0 } ?? 0
    var lines = [source]
    lines.append("left to the matcher: \(residual)")
    if let collation = query.collation { lines.append("strings are compared \(Optional(collation).text)") }
    if let groups {
      lines.append("groups: \(groups.text)")
    } else {
      lines.append("order: \(order)")
    }
    if groups == nil, plan.isCovered { lines.append("ids and counts: from the index alone") }
    if plan.skip > 0 { lines.append("skip: \(plan.skip)") }
    if let limit = plan.limit { lines.append("limit: \(limit)") }
    if waiting > 0 {
      lines.append(
        "not in the index yet: up to \(waiting) \(waiting == 1 ? "write" : "writes"), checked by the matcher")
    }
    for index in considered {
      lines.append("index \"\(index.name)\": \(index.isUsed ? "used" : "not used"), \(index.reason)")
    }
    if let command { lines.append("an index that would help: \(command)") }
    for statement in statements {
      let times = statement.runs == 1 ? "" : ", run \(statement.runs) times"
      lines.append("SQL\(times): " + statement.sql.replacingNewlines(with: "\n       "))
    }
    description = Self.tree(lines)
    var json: JSONObject = [
      "source": .string(source), "residual": .string(residual), "order": .string(order),
      "covered": .bool(groups?.isCovered ?? plan.isCovered),
      "skip": .int(Int64(plan.skip)), "limit": plan.limit.map { .int(Int64($0)) } ?? .null,
      "waiting": .int(waiting),
      "indexes": .array(
        considered.map {
          ["name": .string($0.name), "used": .bool($0.isUsed), "reason": .string($0.reason)]
        }),
      "wishedIndex": command.map(JSONValue.string) ?? .null,
      "sql": .array(statements.map { .string($0.sql) }),
    ]
    if let collation = query.collation { json["collation"] = .string(collation.rawValue) }
    if let groups {
      json["order"] = nil
      json["groups"] = .string(groups.text)
    }
    self.json = json
  }

  private static func tree(_ lines: [String]) -> String {
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
    case .rows, .grouped:
      order?.isEmpty ?? true ? "from the index alone" : "from the index alone, in its order"
    }
  }
}

extension QueryPlan.Source {
  /// The source in words.
  var text: String {
    switch self {
    case .nothing: "no document can match"
    case .scan(let range):
      range.isEverything ? "every document" : "the documents whose ids are in a range"
    case .ids(let ids): ids.count == 1 ? "one document by its id" : "\(ids.count) documents by their ids"
    case .index(let access): access.text
    case .text(let access): access.text
    case .union(let branches): "any of: " + branches.map(\.text).joined(separator: "; ")
    case .intersection(let first, let others):
      "all of: " + ([first] + others).map(\.text).joined(separator: "; ")
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

extension TextAccess {
  fileprivate var text: String { "text index \"\(index.definition.name)\": \(match)" }
}

extension IndexAccess {
  fileprivate var text: String {
    let parts = zip(index.definition.fields, fields).enumerated().map { number, part in
      "\(part.0.path) \(absence[number].map(\.text) ?? part.1.text)"
    }
    let whole = parts.isEmpty ? "all of it" : parts.joined(separator: ", ")
    let rows = "index \"\(index.definition.name)\": \(whole)"
    if filters.isEmpty, ids.isEverything { return rows }
    var asked = filters.map {
      "\(index.definition.fields[$0.field].path) \($0.absence?.text ?? $0.access.text)"
    }
    if !ids.isEverything { asked.append("_id in a range") }
    return "\(rows), of these \(asked.joined(separator: ", "))"
  }
}

extension PredicateAccess.AbsenceFilter {
  fileprivate var text: String {
    switch self {
    case .only(IndexRows.Absence.missing): "missing"
    case .only: "null"
    case .except: "present"
    }
  }
}

extension FieldAccess {
  fileprivate var text: String {
    switch self {
    case .points(let keys): keys.count == 1 ? "at one value" : "at \(keys.count) values"
    case .range(nil, nil): "at any value"
    case .range: "in a range"
    }
  }
}

extension String {
  fileprivate func replacingNewlines(with separator: String) -> String {
    split(separator: "\n", omittingEmptySubsequences: false).joined(separator: separator)
  }
}
