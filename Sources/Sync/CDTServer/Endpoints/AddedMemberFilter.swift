import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB

/// Decides on the clauses of a selector that name members which the server adds to a document: `_attachments`, and `_conflicts` if
/// they are asked for. The engine, whose documents do not have them, gives the candidates of the other clauses.
///
///     {"type": "photo", "_attachments": {"$exists": true}}   →   {"type": "photo"}  and  {"_attachments": {"$exists": true}}
struct AddedMemberFilter: Sendable {
  /// The clauses that the engine can decide.
  let others: JSONValue
  /// The clauses that the filter decides.
  private let own: JSONValue
  private let filter: SelectorFilter

  private static let names = ["_attachments", "_conflicts"]

  /// - Returns: `nil` for a selector that names no such member.
  init?(_ selector: JSONValue) throws {
    guard case .object(let clauses) = selector, Self.isNamed(in: selector) else { return nil }
    var (others, own) = (JSONObject(), JSONObject())
    for (name, value) in clauses {
      if Self.isNamed(in: .object([name: value])) { own[name] = value } else { others[name] = value }
    }
    self.others = .object(others)
    self.own = .object(own)
    filter = try SelectorFilter(QuerySelector(own))
  }

  private static func isNamed(in selector: JSONValue) -> Bool {
    guard case .object(let clauses) = selector else { return false }
    return clauses.contains { name, value in
      switch name {
      case "$and", "$or", "$nor": value.arrayValue?.contains(where: isNamed) == true
      case "$not": isNamed(in: value)
      default: isAdded(name)
      }
    }
  }

  /// Whether a path is of such a member, or in one.
  static func isAdded(_ path: String) -> Bool {
    names.contains { path.hasSameBytes(as: $0) || path.hasBytePrefix("\($0).") }
  }

  /// The plan of the engine with the clauses that the engine does not see.
  func completed(_ plan: JSONObject) -> JSONObject {
    var plan = plan
    let residual = plan["residual"]?.stringValue ?? "nothing"
    plan["residual"] = .string(residual == "nothing" ? own.text : "\(residual) and \(own.text)")
    return plan
  }

  /// Whether the filter accepts a document.
  ///
  /// - Parameter written: The document as the server writes it.
  func accepts(_ document: DocumentRevision, written: JSONObject) throws -> Bool {
    var members = JSONObject()
    for name in Self.names { members[name] = written[name] }
    return try filter.matches(document, with: members)
  }
}
