import CDTJSON
import CDTQuery

@testable import CDTDatastore
@testable import CDTRules
@testable import CDTSelector

/// A rule of writing, to be decided without a datastore.
struct RuleTrial {
  let clause: Clause

  /// - Parameter definitions: The member `defs` of the design document.
  init(_ rule: String, definitions: String = "{}") throws {
    try self.init(JSONObject(parsing: rule), definitions: JSONObject(parsing: definitions))
  }

  init(_ rule: JSONObject, definitions: JSONObject = [:]) throws(QueryError) {
    clause = try QuerySelector(
      rule,
      with: RuleAdditions(
        .writing, of: ["language": "query", "defs": .object(definitions)], requiresPortablePatterns: false)
    ).clause
  }

  func holds(_ input: JSONObject) throws -> Bool {
    try DocumentBytes.with(input, id: "", revision: "") { document throws(QueryError) in
      try Matcher(clause).accepts(document)
    }
  }

  func violation(_ input: JSONObject) throws -> RuleViolation? {
    var text: [UInt8] = []
    input.write(to: &text)
    var search = FailureSearch()
    let outcome = text.withUnsafeBytes { text in
      Result { () throws(MatchFailure) in try search.search(clause, in: JSONBytes(text)) }
    }
    try outcome.get()
    return search.violation(of: "a")
  }
}
