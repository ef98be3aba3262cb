public import JSON

/// How a query is answered: as text for people, as data for programs.
///
/// ```
/// index "name_age", 1 equality, 1 range
/// ├ left to the matcher: nothing
/// ├ order: by the index
/// …
/// ```
///
/// Source: `docs/query.md`, explain.
public struct Explanation: Sendable, CustomStringConvertible {
  /// The plan as data.
  public let json: JSONObject

  /// The plan as a tree.
  public let description: String

  init(query: Query, plan: QueryPlan, sql: QuerySQL, lastSequence: Int64, store: String) {
    let source = plan.sourceText
    let residual = plan.residualText
    let order = plan.orderText
    let command = plan.wishedIndex?.command(store: store)
    let waiting = max(0, lastSequence - (plan.indexes.map(\.watermark).min() ?? lastSequence))
    var lines = [source]
    lines.append("left to the matcher: \(residual)")
    lines.append("order: \(order)")
    if plan.skip > 0 { lines.append("skip: \(plan.skip)") }
    if plan.limit > 0 { lines.append("limit: \(plan.limit)") }
    if waiting > 0 {
      lines.append(
        "not in the index yet: up to \(waiting) \(waiting == 1 ? "write" : "writes"), put to the matcher")
    }
    for index in plan.considered {
      lines.append("index \"\(index.name)\": \(index.isUsed ? "used" : "not used"), \(index.reason)")
    }
    if let command { lines.append("an index that would help: \(command)") }
    lines.append("SQL: " + sql.text.replacingNewlines(with: "\n       "))
    description = Self.tree(lines)
    json = [
      "source": .string(source), "residual": .string(residual), "order": .string(order),
      "skip": .int(Int64(plan.skip)), "limit": .int(Int64(plan.limit)), "waiting": .int(waiting),
      "indexes": .array(
        plan.considered.map {
          ["name": .string($0.name), "used": .bool($0.isUsed), "reason": .string($0.reason)]
        }),
      "wishedIndex": command.map(JSONValue.string) ?? .null, "sql": .string(sql.text),
    ]
  }

  private static func tree(_ lines: [String]) -> String {
    lines.enumerated().map { number, line in
      number == 0 ? line : (number == lines.count - 1 ? "└ " : "├ ") + line
    }.joined(separator: "\n")
  }
}

extension QueryPlan {
  fileprivate var sourceText: String {
    switch source {
    case .nothing: "no document can match"
    case .scan: "every document"
    case .ids(let ids): ids.count == 1 ? "one document by its id" : "\(ids.count) documents by their ids"
    case .index(let access): access.text
    case .text(let access): access.text
    case .union(let branches): "any of: " + branches.map(\.text).joined(separator: "; ")
    }
  }

  fileprivate var residualText: String {
    if case .always = residual { return "nothing" }
    if case .nothing = source { return "nothing" }
    return residual.selector.text
  }

  fileprivate var orderText: String {
    switch order {
    case .unordered: "none asked for"
    case .index(_, _, let reversed): reversed ? "by the index, backwards" : "by the index"
    case .score: "by the text index's scores"
    case .id(let isDescending): isDescending ? "by the ids, backwards" : "by the ids"
    case .sorted: limit > 0 ? "the first \(limit + skip) are kept while sorting" : "sorted"
    }
  }
}

extension QueryPlan.Branch {
  fileprivate var text: String {
    switch self {
    case .index(let access): access.text
    case .text(let access): access.text
    }
  }
}

extension TextAccess {
  fileprivate var text: String { "text index \"\(index.definition.name)\": \(match)" }
}

extension IndexAccess {
  fileprivate var text: String {
    let parts = zip(index.definition.fields, fields).map { field, access in
      "\(field.path) \(access.text)"
    }
    let whole = parts.isEmpty ? "all of it" : parts.joined(separator: ", ")
    return "index \"\(index.definition.name)\": \(whole)"
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
