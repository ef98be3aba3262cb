package import CDTDatastore
import CDTJSON
import CDTSQLite
import Synchronization

/// The rules of datastores, read again when a design document has changed.
package final class RuleCache: Sendable {
  private struct Entry: Sendable {
    /// The sequence up to which design documents were read.
    var sequence: Int64
    let rules: RuleSet
    /// The rules of each design document with the sequence of its change: a document that has not changed is not parsed again.
    let parts: [String: (sequence: Int64, rules: RuleSet)]
  }

  /// By the id of the datastore.
  private let entries = Mutex<[String: Entry]>([:])
  private static let maximumCount = 100
  /// The rules of earlier states, by ``RuleSet/readingText``.
  private let earlier = Mutex<[String: RuleSet]>([:])
  private static let maximumEarlier = 20

  package init() {}

  /// The rules that a write sees, with its own changes of design documents.
  func rules(in transaction: WriteTransaction) throws -> RuleSet {
    guard let changed = transaction.lastDesignSequence else {
      return try rules(in: transaction, at: transaction.firstSequence)
    }
    // They may be rolled back, so they are not kept for others.
    if let known = transaction.extensionStates[Entry.self], known.sequence == changed { return known.rules }
    let known = transaction.extensionStates[Entry.self] ?? entries.withLock { $0[transaction.store.storeID] }
    let entry = try Self.read(in: transaction, at: changed, known)
    transaction.extensionStates[Entry.self] = entry
    return entry.rules
  }

  /// The rules of the state that is read.
  func rules(in transaction: ReadTransaction) throws -> RuleSet {
    try rules(in: transaction, at: transaction.lastSequence())
  }

  private func rules(in transaction: ReadTransaction, at sequence: Int64) throws -> RuleSet {
    let id = transaction.store.storeID
    let known = entries.withLock { $0[id] }
    if var known {
      if known.sequence == sequence { return known.rules }
      if known.sequence < sequence, try !Self.haveChanged(since: known.sequence, in: transaction) {
        known.sequence = sequence
        keep(known, of: id)
        return known.rules
      }
    }
    let entry = try Self.read(in: transaction, at: sequence, known)
    keep(entry, of: id)
    return entry.rules
  }

  /// The documents that a user saw under rules of an earlier time, which are compiled once.
  package func visibility(under text: String, for user: UserContext, inDatabase name: String) -> Visibility {
    let rules = earlier.withLock { known in
      if let rules = known[text] { return rules }
      if known.count >= Self.maximumEarlier { known = [:] }
      let rules = RuleSet(readingText: text)
      known[text] = rules
      return rules
    }
    return Visibility(rules, for: user, inDatabase: name)
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

  private static func read(
    in transaction: ReadTransaction, at sequence: Int64, _ known: Entry?
  ) throws -> Entry {
    var rules = RuleSet()
    var parts: [String: (sequence: Int64, rules: RuleSet)] = [:]
    try transaction.use { connection in
      let statement = try connection.statement(
        """
        SELECT id, sequence, \(StoredText.bodySQL) FROM documents
         WHERE id >= ?1 AND id < ?2 AND NOT deleted ORDER BY id
        """)
      defer { statement.reset() }
      try statement.bind(DocumentID.designPrefix, at: 1)
      try statement.bind(DocumentID.designEnd, at: 2)
      while try statement.step() {
        let (id, changed) = (statement.text(0), statement.int64(1))
        var part = known?.parts[id]
        if part?.sequence != changed {
          guard let body = try? JSONObject(parsing: Array(statement.unsafeBytes(2))) else {
            throw DatastoreError(.unreadableDocument(id, "the body is damaged"))
          }
          part = (changed, RuleSet())
          part?.rules.add(body, of: id)
        }
        parts[id] = part
        if let part { rules.add(part.rules) }
      }
    }
    return Entry(sequence: sequence, rules: rules, parts: parts)
  }
}
