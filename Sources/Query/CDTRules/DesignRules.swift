package import CDTJSON
package import CDTSelector

/// The rules of one design document.
package enum DesignRules {
  /// The members of a design document that are its rules.
  package static let members = [RuleSet.writing, "defs"]

  /// Throws if the rules of a design document can't be read.
  package static func check(_ body: JSONObject, of id: String) throws(QueryError) {
    _ = try RuleSet.writingRule(of: id, body)
  }
}
