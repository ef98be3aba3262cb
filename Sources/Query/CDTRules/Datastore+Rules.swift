public import CDTDatastore
public import CDTJSON
import CDTSelector

extension WriteTransaction {
  /// Writes the rules of a design document. See `Datastore.setRules(_:named:)`.
  ///
  /// - Returns: The revision; the current one if it has these rules already.
  @discardableResult
  public func setRules(_ rules: JSONObject, named name: String = Datastore.rulesName) throws -> RevisionID? {
    try DesignRules.checkMembers(rules)
    let id = DocumentID.designPrefix + name
    var known: DocumentRevision?
    if let entry = try currentRevision(of: id), !entry.isDeleted {
      try checkSeen(id)
      known = try document(withID: id)
    }
    var body = known?.body ?? [:]
    for member in DesignRules.members { body[member] = rules[member] }
    if body["language"] ?? "query" != "query" { throw QueryError(.otherLanguage(id), at: "language") }
    body["language"] = "query"
    try DesignRules.check(body, of: id)
    guard var changed = known else {
      return try createDocument(from: DocumentDraft(id: id, body: body)).revisionID
    }
    if changed.body == body { return changed.revisionID }
    changed.body = body
    return try updateDocument(from: changed).revisionID
  }
}

extension ReadTransaction {
  /// The rules of the design documents, by the names of these.
  public func rules() throws -> [(name: String, rules: JSONObject)] {
    var found: [(name: String, rules: JSONObject)] = []
    let designs = DocumentRange(
      from: .init(DocumentID.designPrefix), to: .init(DocumentID.designEnd, isIncluded: false))
    try forEachDocument(in: designs, limit: .max) { document in
      let rules = document.body.filter { DesignRules.members.contains($0.key) && $0.value != .null }
      if document.body["language"] == "query", !rules.isEmpty {
        let name = String(document.id.dropFirst(DocumentID.designPrefix.count))
        found.append((name, JSONObject(rules.map { ($0.key, $0.value) })))
      }
      return true
    }
    return found
  }

  /// Calls a closure for each document that the rules of writing refuse if a user saves it again as it is.
  ///
  /// - Parameter user: The user. Rules that name one can refuse documents to others.
  /// - Complexity: O(*n*) in the number of documents.
  public func forEachViolation(
    as user: UserContext = UserContext(name: nil, roles: ["_admin"]), _ body: (RuleViolation) throws -> Void
  ) throws {
    try EnforcedRules(for: user).forEachViolation(in: self, body)
  }
}

extension Datastore {
  /// The name of the design document in which rules are if no other is given.
  public static let rulesName = "rules"

  /// Writes the rules of a design document: what may be written, and who sees what. Rules of other design documents hold as well.
  ///
  /// ```swift
  /// try store.setRules(["validate_doc_update": ["newDoc": ["title": ["$type": "string"]]]])
  /// ```
  ///
  /// They are enforced by servers, and by datastores that are opened with ``CDTDatastore/DatastoreOptions/rules``.
  ///
  /// - Parameters:
  ///   - rules: The members `validate_doc_update`, `read` and `defs`. Other members of the design document are kept.
  ///   - name: The name of the design document, without `_design/`.
  /// - Throws: ``QueryError`` with the path of a clause that can't be read; `DatastoreError`.
  ///
  /// See `docs/rules.md`.
  @discardableResult
  public func setRules(_ rules: JSONObject, named name: String = Datastore.rulesName) throws -> RevisionID? {
    try write { try $0.setRules(rules, named: name) }
  }
}
