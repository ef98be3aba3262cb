import CDTJSON
import CDTSQLite

/// Decides which documents a user sees, by their winners.
package protocol DocumentVisibility: Sendable {
  /// Whether the user sees a document with this revision. Other leaves that the user does not see are withheld.
  func shows(_ document: StoredParts) -> Bool
}

/// The parts of a stored revision, valid during a call.
package struct StoredParts {
  package let id: UnsafeRawBufferPointer
  package let revision: UnsafeRawBufferPointer
  package let body: UnsafeRawBufferPointer

  /// - Parameter text: The text of a winner (``StoredText``), or the body of another revision.
  init(id: UnsafeRawBufferPointer, text: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer) {
    self.id = id
    // A body has no `_id`.
    guard text.starts(with: #"{"_id":"#.utf8) else {
      self.revision = revision
      body = text
      return
    }
    let parts = StoredText(text)
    self.revision = parts.revision ?? revision
    body = parts.body
  }
}

/// The views of the documents that a user sees, of a connection.
///
/// A deleted document is seen if the user has seen, or may have seen, a revision of it: its id and its revision are not secret.
struct SeenDocuments {
  private let predicate: SQLPredicate
  /// Decides by what the user saw at earlier times.
  private let earlier: SQLPredicate
  /// The documents that the views show; `nil` before ``show(_:)``.
  private(set) var visibility: (any DocumentVisibility)?

  static let function = "cdt_sees"
  private static let earlierFunction = "cdt_saw"
  /// All documents that are seen, and those of them that are not hidden; the same with those that have left.
  private static let all = DocumentTable("temp.seen_documents", withholdsLeaves: true)
  private static let visible = DocumentTable("temp.seen_visible_documents", withholdsLeaves: true)
  private static let allLeft = DocumentTable("temp.left_documents", withholdsLeaves: true)
  private static let visibleLeft = DocumentTable("temp.left_visible_documents", withholdsLeaves: true)

  /// All documents, to read those that are known to be seen.
  static let decided = DocumentTable("main.documents", withholdsLeaves: true)

  init(on connection: Connection) throws(SQLiteError) {
    predicate = try Self.predicate(on: connection)
    earlier = try connection.predicate(Self.earlierFunction, arguments: 3)
    try HiddenDocuments.createView(on: connection)
    for (view, source, condition) in [
      (Self.all, "main.documents", Self.isSeen), (Self.visible, HiddenDocuments.view.name, Self.isSeen),
      (Self.allLeft, "main.documents", Self.isOrWasSeen),
      (Self.visibleLeft, HiddenDocuments.view.name, Self.isOrWasSeen),
    ] {
      try connection.execute(
        """
        CREATE TEMP VIEW IF NOT EXISTS \(view.name.dropFirst("temp.".count)) AS
          SELECT * FROM \(source) d WHERE \(condition)
        """)
    }
  }

  /// Whether a document `d` had a revision that the user sees, or one whose body is not stored any more.
  static let wasSeen = """
    EXISTS (SELECT 1 FROM main.revisions r WHERE r.document = d.number AND NOT r.deleted
             AND (r.body IS NULL OR \(function)(d.id, r.body, r.revision)))
    """

  /// Whether the user sees a document `d`.
  private static let isSeen = """
    CASE WHEN d.deleted THEN \(wasSeen) ELSE \(function)(d.id, d.text, d.stored_revision) END
    """

  /// Whether a document `d` that the user does not see has a revision that the user saw. One whose body is not stored any more does
  /// not count: its document need never have been seen.
  private static func hasLeft(_ function: String) -> String {
    """
    (NOT d.deleted AND \(function)(d.id, d.text, d.stored_revision)
      OR EXISTS (SELECT 1 FROM main.revisions r WHERE r.document = d.number AND NOT r.deleted
                  AND r.body IS NOT NULL AND \(function)(d.id, r.body, r.revision)))
    """
  }

  private static let isOrWasSeen = "CASE WHEN d.deleted THEN \(wasSeen) ELSE \(hasLeft(function)) END"

  /// The changes after a sequence, and whether the user sees their documents (2), saw them (1) or does not know of them (0).
  static func changesSQL(in documents: DocumentTable) -> String {
    """
    SELECT sequence, id, \(StoredText.revisionColumn), deleted, leaves,
           CASE WHEN \(isSeen) THEN 2 WHEN sequence > ?3 AND \(hasLeft(earlierFunction)) THEN 1 ELSE 0 END
      FROM \(documents.name) d WHERE sequence > ?1 ORDER BY sequence LIMIT ?2
    """
  }

  /// The revision of a document that has left what the user sees.
  static func leftSQL(in documents: DocumentTable) -> String {
    """
    SELECT \(StoredText.revisionColumn) FROM \(documents.name) d
     WHERE id = ?1 AND NOT deleted AND NOT \(isSeen) AND \(hasLeft(function))
    """
  }

  /// Calls `body` while earlier states are those of some times.
  func comparing<R>(with earlier: [any DocumentVisibility], _ body: () throws -> R) rethrows -> R {
    self.earlier.decision = { document in
      let parts = StoredParts(id: document[0], text: document[1], revision: document[2])
      return earlier.contains { $0.shows(parts) }
    }
    defer { self.earlier.decision = nil }
    return try body()
  }

  /// The losing leaves of a document that the user does not see. Deleted ones are seen: otherwise a user who has seen what they delete would
  /// keep it.
  static func withheldLeaves(
    of id: String, _ number: Int64, on connection: Connection
  ) throws -> Set<RevisionID> {
    let statement = try connection.statement(
      """
      SELECT revision FROM revisions
       WHERE document = ?2 AND leaf AND NOT deleted AND NOT \(function)(?1, body, revision)
      """)
    defer { statement.reset() }
    try statement.bind(id, at: 1)
    try statement.bind(number, at: 2)
    var withheld: Set<RevisionID> = []
    while try statement.step() { withheld.insert(try RevisionID(stored: statement.unsafeBytes(0))) }
    return withheld
  }

  /// The function of a connection. It can't be made while a statement runs.
  static func predicate(on connection: Connection) throws(SQLiteError) -> SQLPredicate {
    try connection.predicate(function, arguments: 3)
  }

  func table(hidesDocuments: Bool, _ includesLeft: Bool = false) -> DocumentTable {
    includesLeft
      ? hidesDocuments ? Self.visibleLeft : Self.allLeft : hidesDocuments ? Self.visible : Self.all
  }

  /// Sets the documents that the views show; `nil` for none.
  mutating func show(_ visibility: (any DocumentVisibility)?) {
    self.visibility = visibility
    predicate.decision = visibility.map { visibility in
      { visibility.shows(StoredParts(id: $0[0], text: $0[1], revision: $0[2])) }
    }
  }
}

extension ReadTransaction {
  /// Of the next changes after a sequence those that the user sees, and documents that the user does not see any more.
  ///
  /// - Parameters:
  ///   - limit: The number of changes that are looked at.
  ///   - earlier: The documents that the user saw at earlier times.
  ///   - leftAfter: The sequence after which documents are listed that have left what the user sees.
  /// - Returns: The changes, and the sequence of the last one that was looked at; `nil` if fewer than `limit` are left.
  package func changesSeen(
    since sequence: Int64, limit: Int, comparedWith earlier: [any DocumentVisibility], leftAfter: Int64
  ) throws -> (changes: [Change], last: Int64?) {
    guard let seen = try seenDocuments() else {
      let changes = try changes(since: sequence, limit: limit).documents
      return (changes, changes.count < limit ? nil : changes.last?.sequence)
    }
    let sql = SeenDocuments.changesSQL(in: try hiddenDocuments().visible)
    return try use { connection in
      let statement = try connection.statement(sql)
      defer { statement.reset() }
      try statement.bind(sequence, at: 1)
      try statement.bind(Int64(limit), at: 2)
      try statement.bind(leftAfter, at: 3)
      return try seen.comparing(with: earlier) {
        var (changes, count, last): ([Change], Int, Int64) = ([], 0, sequence)
        while try statement.step() {
          count += 1
          last = statement.int64(0)
          let state = statement.int64(5)
          guard state > 0 else { continue }
          changes.append(try Change(statement))
          changes[changes.count - 1].hasLeft = state == 1
        }
        return (changes, count < limit ? nil : last)
      }
    }
  }

  /// The winner of a change that this transaction has read, so that the user sees it: its visibility is not decided again.
  package func document(of change: Change) throws -> DocumentRevision? {
    let table = try seenDocuments().map { _ in SeenDocuments.decided }
    return try reading(change.id, in: table) { documents in
      try documents.documents(withIDs: [change.id]).first { $0.revisionID == change.revisionID }
    }
  }

  /// The revisions of a document, also of one that the user does not see any more; `nil` if it does not exist.
  package func wholeTree(ofDocument id: String) throws -> DocumentTree? {
    try use { try DocumentTree(of: id, in: DocumentTable.all.name, on: $0) }
  }

  /// The winner of a document that the user has seen, and does not see any more.
  package func leftRevision(of id: String) throws -> RevisionID? {
    guard try seenDocuments() != nil else { return nil }
    let sql = SeenDocuments.leftSQL(in: try hiddenDocuments().visible)
    return try use { connection in
      let statement = try connection.statement(sql)
      defer { statement.reset() }
      try statement.bind(id, at: 1)
      return try statement.step() ? RevisionID(stored: statement.unsafeBytes(0)) : nil
    }
  }
}
