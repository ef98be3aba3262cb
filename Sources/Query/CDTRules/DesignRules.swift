package import CDTDatastore
package import CDTJSON
package import CDTSelector

/// The rules of one design document.
package enum DesignRules {
  /// The members of a design document that are its rules.
  package static let members = [RuleSet.writing, RuleSet.reading, "defs"]

  /// Throws if a design document can't be saved, since its rules can't be read, here or by another system.
  package static func check(_ body: JSONObject, of id: String) throws(QueryError) {
    _ = try RuleSet.writingRule(of: id, body, isSaved: true)
    _ = try RuleSet.readingRules(body, isSaved: true)
  }

  /// Reads rules without a design document.
  package static func parse(_ text: String) throws -> JSONObject {
    var rules = try JSONObject(parsing: text)
    try checkMembers(rules)
    rules["language"] = "query"
    try check(rules, of: "rules")
    return rules
  }

  static func checkMembers(_ rules: JSONObject) throws(QueryError) {
    for (key, _) in rules where !members.contains(key) {
      throw QueryError(.unknownRuleMember(key, known: members), at: key)
    }
  }
}

extension DesignRules {
  /// A write that rules decide without a datastore, for golden files.
  ///
  /// ```json
  /// {"old": {"_id": "a", "n": 1}, "new": {"_id": "a", "n": 2}, "user": "anna", "roles": ["team"], "security": {}}
  /// ```
  package struct Write: Sendable {
    private let rules: JSONObject
    private let json: JSONObject

    private static let members = ["new", "old", "user", "roles", "security"]

    package init(parsing text: String, under rules: JSONObject) throws(QueryError) {
      self.rules = rules
      do {
        json = try JSONObject(parsing: text)
      } catch {
        throw QueryError(.invalidJSON(error, what: "write"))
      }
      for (key, _) in json where !Self.members.contains(key) {
        throw QueryError(.unknownRuleMember(key, known: Self.members), at: key)
      }
      for name in ["new", "old", "security"] {
        let isMissing = json[name] == nil && name != "new"
        guard isMissing || json[name]?.objectValue != nil else {
          throw QueryError(.notADocument(json[name] ?? .null), at: name)
        }
      }
    }

    /// The violation; `nil` if the write is allowed.
    package func violation() throws -> RuleViolation? {
      var set = RuleSet()
      set.add(rules, of: "rules")
      if let (_, error) = set.unreadable { throw error }
      let roles = json["roles"]?.arrayValue?.compactMap(\.stringValue) ?? []
      let user = UserContext(name: json["user"]?.stringValue, roles: roles)
      let enforced = EnforcedRules(for: user, security: json["security"]?.objectValue ?? [:])
      let id = json["new"]?["_id"]?.stringValue ?? ""
      return enforced.violation(
        of: id, json["new"]?.utf8Text ?? [], replacing: json["old"]?.utf8Text, set, "db",
        isDeletion: json["new"]?["_deleted"] == true)
    }
  }
}
