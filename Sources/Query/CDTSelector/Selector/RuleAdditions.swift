package import CDTJSON

/// The operators that selectors have in rules and nowhere else.
package struct RuleAdditions: Sendable {
  package enum Kind: Sendable {
    /// `validate_doc_update`: the root has the members `newDoc`, `oldDoc`, `userCtx` and `security`.
    case writing
    /// `read`: the root is the document, with the member `userCtx`.
    case reading
  }

  package let kind: Kind
  /// The design document, in which `$ref` finds selectors.
  package let designDocument: JSONObject
  /// Whether patterns must be of the portable subset: when a rule is saved, but not when a stored rule is enforced.
  package let requiresPortablePatterns: Bool

  package init(_ kind: Kind, of designDocument: JSONObject, requiresPortablePatterns: Bool) {
    self.kind = kind
    self.designDocument = designDocument
    self.requiresPortablePatterns = requiresPortablePatterns
  }

  package static let user = "userCtx"

  /// The members of the root, by all their names.
  private static let members = [
    "newDoc": "newDoc", "oldDoc": "oldDoc", user: user, "security": "security",
    "$newDoc": "newDoc", "$oldDoc": "oldDoc", "$userCtx": user, "$secObj": "security",
  ]

  /// The operators, for messages in other selectors.
  static let names = ["$data", "$cat", "$if", "$then", "$else", "$ref", "$error", "$reason"]
  /// The names that stand beside fields as well as beside operators.
  static let neutral: Set<String> = ["$if", "$then", "$else", "$ref", "$error", "$reason"]

  /// A path from the root with the member's usual name: `$newDoc.type` is `newDoc.type`.
  func rootPath(_ text: String) -> String {
    let first = String(text.prefix { $0 != "." })
    guard kind == .writing || first == "$\(Self.user)", let name = Self.members[first] else { return text }
    return name + text.dropFirst(first.count)
  }

  /// Whether a condition is that there is no old document, by comparing it with null.
  func isNoOldDocument(_ path: FieldPath, _ value: JSONValue) -> Bool {
    kind == .writing && path.text == "oldDoc" && (value == .null || value == ["$eq": nil])
  }

  /// Throws if a path from the root begins with a member that the root never has.
  func check(_ path: FieldPath, at place: String) throws(QueryError) {
    guard kind == .writing, let first = path.segments.first else { return }
    let name = String(decoding: first.name, as: UTF8.self)
    guard Self.members[name] == name else { throw QueryError(.notInRule(name), at: place) }
  }
}

extension QuerySelector {
  /// Parses a selector of a rule.
  ///
  /// - Throws: ``QueryError`` with the path of the invalid clause.
  package init(_ json: JSONObject, with additions: RuleAdditions) throws(QueryError) {
    try ValueCheck.check(json)
    var parser = SelectorParser(additions: additions)
    self.init(clause: try parser.parse(json))
  }
}

/// A part of a rule that has a meaning of its own for failures.
package enum RuleClause: Sendable, Hashable {
  /// `$if`, `$then` and `$else`.
  case conditional(Clause, then: Clause, otherwise: Clause)
  /// A clause with the `$error` and the `$reason` of its failures.
  case annotated(Clause, isUnauthorized: Bool?, reason: String?)
  /// A clause with patterns about what a user sees: a document whose patterns take too long is not seen, and doesn't end the query.
  case guarded(Clause)

  /// The clauses of which it is made.
  var parts: [Clause] {
    switch self {
    case .conditional(let condition, let then, let otherwise): [condition, then, otherwise]
    case .annotated(let clause, _, _), .guarded(let clause): [clause]
    }
  }
}
