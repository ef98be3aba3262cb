public import CDTDatastore
import CDTJSON
import CDTSelector
import Synchronization

/// The enforcement of a datastore's rules for a user, see ``CDTDatastore/DatastoreOptions/rules``.
///
/// ```swift
/// let rules = user.map { RuleEnforcement.enforced(as: $0) } ?? .notEnforced
/// ```
public struct RuleEnforcement: Sendable {
  let rules: EnforcedRules?

  /// No rules are enforced: everything can be read and written.
  public static let notEnforced = RuleEnforcement(rules: nil)

  /// The rules of the design documents are enforced for a user: what they refuse is not written.
  ///
  /// On a device, this refuses at once what the server would refuse when it is replicated.
  public static func enforced(as user: UserContext) -> RuleEnforcement {
    RuleEnforcement(rules: EnforcedRules(for: user))
  }
}

extension DatastoreOptions {
  /// The user for whom the rules of datastores are enforced, who reads and writes what they allow. By default they are not enforced.
  ///
  /// ```swift
  /// var options = DatastoreOptions()
  /// options.rules = .enforced(as: UserContext(name: "anna"))
  /// ```
  public var rules: RuleEnforcement {
    get { RuleEnforcement(rules: documentRules as? EnforcedRules) }
    set { documentRules = newValue.rules }
  }

  /// Options of datastores whose rules are enforced for a user.
  ///
  /// - Parameters:
  ///   - rules: The user for whom they are enforced.
  ///   - encryption: The secret with which datastores are encrypted, if they are.
  public init(rules: RuleEnforcement, encryption: Encryption? = nil) {
    self.init(encryption: encryption)
    self.rules = rules
  }
}

extension DatastoreManager {
  /// The user for whom the rules of the datastores are enforced, at first that of the options. It is changed when a user logs in or out.
  ///
  /// ```swift
  /// manager.rules = .enforced(as: UserContext(name: "anna"))  // anna logs in
  /// manager.rules = .enforced(as: .anonymous)  // and out
  /// ```
  ///
  /// It holds for the open datastores of the manager, and for those that it opens later. A transaction keeps the user with whom it began.
  /// Live queries run again as the new user. `liveChanges(since:)` and replications end with a `DatastoreError` with the code
  /// `.userChanged`.
  ///
  /// See `docs/rules.md`.
  public var rules: RuleEnforcement {
    get { RuleEnforcement(rules: documentRules as? EnforcedRules) }
    set { documentRules = newValue.rules }
  }
}

/// The rules of a datastore for one user.
package final class EnforcedRules: DocumentRules {
  package let user: UserContext
  package let sender: String?
  /// Whether the user is an admin, who sees every document.
  package let seesEverything: Bool
  private let security: JSONObject
  private let cache: RuleCache
  /// The text of the user and the security of the database that was written last.
  private let context = Mutex<(database: String, text: [UInt8])?>(nil)

  /// - Parameters:
  ///   - isAdmin: Whether the user is an admin of the database, who sees every document.
  ///   - sender: The name of the user of a server who sends changes.
  ///   - security: The `_security` of the database.
  ///   - cache: The rules that are known, which users can share.
  package init(
    for user: UserContext, isAdmin: Bool = false, sender: String? = nil, security: JSONObject = [:],
    cache: RuleCache = RuleCache()
  ) {
    seesEverything = isAdmin || user.roles.contains { $0.hasSameBytes(as: "_admin") }
    self.user = user
    self.sender = sender
    self.security = security
    self.cache = cache
  }

  /// The documents that the user sees; `nil` for all, as for the admins of the database.
  package func visibility(in transaction: ReadTransaction) throws -> (any DocumentVisibility)? {
    if seesEverything { return nil }
    let rules =
      try (transaction as? WriteTransaction).map { try cache.rules(in: $0) } ?? cache.rules(in: transaction)
    guard rules.hidesEverything || rules.reading != nil else { return nil }
    return Visibility(rules, for: user, inDatabase: transaction.store.name)
  }

  package func check(_ revision: ProposedRevision, in transaction: WriteTransaction) throws {
    guard !DocumentID.isDesign(revision.id) else { return try checkDesign(revision) }
    let rules = try cache.rules(in: transaction)
    if let (id, error) = rules.unreadable {
      throw RuleViolation(
        documentID: revision.id,
        "the rules of \(id) can't be read: \(error); repair them, as nothing can be written before")
    }
    guard !rules.writing.isEmpty else { return }
    let old = rules.readsOldDocument ? try transaction.documentReplaced(by: revision) : nil
    let document = RuleInput.document(
      revision.id, isDeleted: revision.isDeleted, revision.attachments, body: revision.body.text)
    let database = transaction.store.name
    if let violation = violation(
      of: revision.id, document, replacing: old, rules, database, isDeletion: revision.isDeleted)
    {
      throw violation
    }
  }

  /// Calls a closure for each document that could not be saved as it is.
  ///
  /// - Parameter id: The only document to look at; `nil` for all.
  package func forEachViolation(
    ofDocument id: String? = nil, in transaction: ReadTransaction, _ body: (RuleViolation) throws -> Void
  ) throws {
    let rules = try cache.rules(in: transaction)
    if let (id, error) = rules.unreadable { throw error.below(id) }
    guard !rules.writing.isEmpty else { return }
    let range = id.map { DocumentRange(from: .init($0), to: .init($0)) } ?? DocumentRange()
    try transaction.forEachDocument(in: range, limit: .max) { document in
      try transaction.stop?.check()
      guard !DocumentID.isDesign(document.id) else { return true }
      let text = RuleInput.text(of: document)
      let database = transaction.store.name
      if let violation = violation(of: document.id, text, replacing: text, rules, database) {
        try body(violation)
      }
      return true
    }
  }

  /// The violation of rules by a document; `nil` if all hold.
  func violation(
    of id: String, _ document: [UInt8], replacing old: [UInt8]?, _ rules: RuleSet, _ database: String,
    isDeletion: Bool = false
  ) -> RuleViolation? {
    let input = RuleInput(document, replacing: old, in: context(of: database))
    var search = FailureSearch()
    do throws(MatchFailure) {
      try input.withBytes { bytes throws(MatchFailure) in
        for rule in rules.writing where try !rule.holds(for: bytes) {
          try search.search(rule.clause, in: bytes.body)
        }
      }
    } catch {
      return RuleViolation(
        documentID: id,
        "the pattern \(JSONValue.string(error.pattern).text) of a rule takes too long; use a simpler one")
    }
    return search.violation(of: id, isDeletion: isDeletion)
  }

  private func context(of database: String) -> [UInt8] {
    context.withLock { context in
      if let context, context.database == database { return context.text }
      let text = RuleInput.context(user, inDatabase: database, security)
      context = (database, text)
      return text
    }
  }

  /// Throws if the user may not change a design document, or if its rules can't be read. One that was made elsewhere is kept.
  private func checkDesign(_ revision: ProposedRevision) throws {
    if revision.isReplicated { return }
    guard seesEverything else {
      throw RuleViolation(
        documentID: revision.id,
        "design documents, which contain the rules, are changed by admins alone: users with the role _admin")
    }
    guard !revision.isDeleted, let body = try? JSONObject(parsing: revision.body.text) else { return }
    try DesignRules.check(body, of: revision.id)
  }
}

extension RuleViolation {
  init(documentID: String, _ reason: String) {
    self.init(documentID: documentID, isUnauthorized: false, failures: [], reason: reason)
  }
}
