import CDTDatastore
import CDTJSON
import CDTSQLite
import Synchronization

/// The rules of datastores, read again when a design document has changed.
package final class RuleCache: Sendable {
  private struct Entry: Sendable {
    /// The sequence up to which design documents were read.
    var sequence: Int64
    let rules: RuleSet
  }

  /// By the id of the datastore.
  private let entries = Mutex<[String: Entry]>([:])
  private static let maximumCount = 100

  package init() {}

  /// The rules that a write sees, with its own changes of design documents.
  func rules(in transaction: WriteTransaction) throws -> RuleSet {
    guard let changed = transaction.lastDesignSequence else {
      return try rules(in: transaction, at: transaction.firstSequence)
    }
    // They may be rolled back, so they are not kept for others.
    if let known = transaction.extensionStates[Entry.self], known.sequence == changed { return known.rules }
    let rules = try Self.read(in: transaction)
    transaction.extensionStates[Entry.self] = Entry(sequence: changed, rules: rules)
    return rules
  }

  /// The rules of the state that is read.
  func rules(in transaction: ReadTransaction) throws -> RuleSet {
    try rules(in: transaction, at: transaction.lastSequence())
  }

  private func rules(in transaction: ReadTransaction, at sequence: Int64) throws -> RuleSet {
    let id = transaction.store.storeID
    if let known = entries.withLock({ $0[id] }) {
      if known.sequence == sequence { return known.rules }
      if known.sequence < sequence, try !Self.haveChanged(since: known.sequence, in: transaction) {
        keep(Entry(sequence: sequence, rules: known.rules), of: id)
        return known.rules
      }
    }
    let rules = try Self.read(in: transaction)
    keep(Entry(sequence: sequence, rules: rules), of: id)
    return rules
  }

  private func keep(_ entry: Entry, of id: String) {
    entries.withLock { entries in
      if entries.count >= Self.maximumCount, entries[id] == nil { entries = [:] }
      if (entries[id]?.sequence ?? 0) <= entry.sequence { entries[id] = entry }
    }
  }

  private static func haveChanged(since sequence: Int64, in transaction: ReadTransaction) throws -> Bool {
    try transaction.use { connection in
      let statement = try connection.statement(
        "SELECT EXISTS (SELECT 1 FROM documents WHERE id >= ?1 AND id < ?2 AND sequence > ?3)")
      defer { statement.reset() }
      try statement.bind(DocumentID.designPrefix, at: 1)
      try statement.bind(DocumentID.designEnd, at: 2)
      try statement.bind(sequence, at: 3)
      return try statement.step() && statement.int64(0) != 0
    }
  }

  private static func read(in transaction: ReadTransaction) throws -> RuleSet {
    var rules = RuleSet()
    try transaction.use { connection in
      let statement = try connection.statement(
        """
        SELECT id, \(StoredText.bodySQL) FROM documents WHERE id >= ?1 AND id < ?2 AND NOT deleted ORDER BY id
        """)
      defer { statement.reset() }
      try statement.bind(DocumentID.designPrefix, at: 1)
      try statement.bind(DocumentID.designEnd, at: 2)
      while try statement.step() {
        let id = statement.text(0)
        guard let body = try? JSONObject(parsing: Array(statement.unsafeBytes(1))) else {
          throw DatastoreError(.unreadableDocument(id, "the body is damaged"))
        }
        rules.add(body, of: id)
      }
    }
    return rules
  }
}
