import Synchronization

/// Decides which revisions a user may write. See `EnforcedRules` of the module CDTRules.
package protocol DocumentRules: AnyObject, Sendable {
  /// The user who writes.
  var user: UserContext { get }

  /// The name of the user of a server who sends the changes; `nil` if it is not known. Rules may be those of another user.
  var sender: String? { get }

  /// The documents that the user sees in a state; `nil` for all.
  func visibility(in transaction: ReadTransaction) throws -> (any DocumentVisibility)?

  /// Decides on a revision before anything of it is saved.
  ///
  /// - Throws: ``RuleViolation``, or an error of a rule that can't be decided. The revision is then not saved.
  func check(_ revision: ProposedRevision, in transaction: WriteTransaction) throws
}

/// A revision that a user wants to write.
package struct ProposedRevision {
  package let id: String
  package let isDeleted: Bool
  package let body: BodyText
  package let attachments: Attachments
  /// The revisions that it follows, newest first: one for an edit, a whole history for a revision made elsewhere.
  package let ancestors: [RevisionID]
  /// Whether it was made elsewhere.
  package let isReplicated: Bool
}

extension ReadTransaction {
  /// Reads and writes everything from here on, for operations on the whole datastore.
  package func ignoreRules() { view.enforce(nil) }

  /// Runs `body` with the rules of a user.
  package func enforcing<R>(_ rules: (any DocumentRules)?, _ body: () throws -> R) rethrows -> R {
    let others = view.rules
    view.enforce(rules)
    defer { view.enforce(others) }
    return try body()
  }

  /// Whether the user sees every document.
  package var seesEverything: Bool { get throws { try visibility() == nil } }

  /// Whether the user sees a document that exists.
  package func sees(_ id: String) throws -> Bool {
    guard let table = try seenDocuments()?.table(hidesDocuments: false) else { return true }
    return try use { try DocumentRow.find(id, in: table, on: $0) != nil }
  }
}

/// The rules that a manager and its datastores enforce, which change when another user logs in.
final class CurrentRules: Sendable {
  private let rules: Mutex<(any DocumentRules)?>

  init(_ rules: (any DocumentRules)?) {
    self.rules = Mutex(rules)
  }

  var value: (any DocumentRules)? {
    get { rules.withLock { $0 } }
    set { rules.withLock { $0 = newValue } }
  }
}

extension DatastoreManager {
  /// The rules that the datastores enforce; `nil` for none.
  ///
  /// If a datastore is being opened on another thread, a change waits for it.
  package var documentRules: (any DocumentRules)? {
    get { rules.value }
    set {
      rules.value = newValue
      for store in knownDatastores { store.rulesDidChange() }
    }
  }
}

extension Datastore {
  /// The rules that are enforced; `nil` for none.
  package var documentRules: (any DocumentRules)? { rules.value }

  /// Whether rules are enforced for a user, who may not see every document.
  package var hasUser: Bool { documentRules != nil }

  /// Lets everything that follows the documents notice that other rules are enforced.
  fileprivate func rulesDidChange() {
    for each in extensionObjects.all { each.rulesDidChange() }
    changeListeners.didCommit()
  }
}

extension ReadTransaction {
  /// - Throws: ``DatastoreError`` with the code `.userChanged` if the rules are not those with which something began.
  package func checkRules(are rules: (any DocumentRules)?) throws(DatastoreError) {
    if view.rules !== rules { throw DatastoreError(.userChanged(store.name)) }
  }
}

extension WriteTransaction {
  /// Throws if a document exists that the user does not see.
  package func checkSeen(_ id: String) throws {
    guard deleting == nil, try !seesEverything,
      let row = try use({ try DocumentRow.find(id, on: $0) }), !row.isDeleted, try !sees(id)
    else { return }
    throw RuleViolation(
      documentID: id, isUnauthorized: false, failures: [], reason: "you may not change this document")
  }

  /// The leaves of a document that the user does not see, which the user can't change.
  func withheldLeaves(of id: String, _ row: DocumentRow) throws -> Set<RevisionID> {
    guard row.leaves > 1, deleting == nil, try seenDocuments() != nil else { return [] }
    return try use { try SeenDocuments.withheldLeaves(of: id, row.number, on: $0) }
  }

  /// Throws if the rules refuse a revision. Deletions by the datastore itself are not a user's.
  func checkRules(_ revision: @autoclosure () -> ProposedRevision) throws {
    guard let rules = view.rules, deleting == nil else { return }
    try rules.check(revision(), in: self)
  }
}
