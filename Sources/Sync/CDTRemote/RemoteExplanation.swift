public import CDTJSON
import CDTQuery
import CDTReplication

/// The plan of a query of a database at a server, as text and as data.
///
/// ```
/// POST _find {"$and":[{"age":{"$gte":18}},…]}, and the design documents
/// ├ left to the matcher: {"age":{"$gte":18}}
/// ├ order: sorted here
/// └ index at the server: "age", json, [{"age":"asc"}]
/// ```
///
/// See <doc:QueryingServers>.
public struct RemoteExplanation: Sendable, CustomStringConvertible {
  /// The explanation as data: `request`, `residual`, `order`, and the `index` that the server reports, or null.
  public let json: JSONObject

  /// The explanation as a tree.
  public let description: String

  init(_ query: Query, _ plan: RemotePlan, index: JSONValue?) {
    let residual = plan.residual == .always ? "nothing" : plan.residual.selector.text
    let order = !query.isOrdered ? "none asked for" : plan.isInOrder ? "by the ids" : "sorted here"
    var lines = [plan.source.text, "left to the matcher: \(residual)", "order: \(order)"]
    if query.skip > 0 { lines.append("skip: \(query.skip)") }
    if let limit = query.limit {
      lines.append("limit: \(limit)" + (plan.isInOrder ? "" : ", after all candidates"))
    }
    if let index { lines.append("index at the server: \(Self.text(index))") }
    description = Explanation.tree(lines)
    json = [
      "request": plan.source.json, "residual": .string(residual), "order": .string(order),
      "skip": .int(Int64(query.skip)), "limit": query.limit.map { .int(Int64($0)) } ?? .null,
      "index": index ?? .null,
    ]
  }

  private static func text(_ index: JSONValue) -> String {
    let parts = [index["name"]?.text, index["type"]?.stringValue, index["def"]?["fields"]?.text]
    return parts.compactMap(\.self).joined(separator: ", ")
  }
}

extension RemotePlan.Source {
  fileprivate var text: String {
    switch self {
    case .nothing: "no document can match, so nothing is sent"
    case .ids(let ids):
      "POST _all_docs: " + (ids.count == 1 ? "one document by its id" : "\(ids.count) documents by their ids")
    case .find(let selector): "POST _find \(selector.text), and the design documents"
    case .allDocuments(let isDescending):
      "GET _all_docs: every document" + (isDescending ? ", backwards" : "")
    }
  }

  fileprivate var json: JSONValue {
    switch self {
    case .nothing: .null
    case .ids(let ids): ["path": "_all_docs", "keys": .array(ids.map { .string($0) })]
    case .find(let selector): ["path": "_find", "selector": .object(selector)]
    case .allDocuments(let isDescending): ["path": "_all_docs", "descending": .bool(isDescending)]
    }
  }
}
