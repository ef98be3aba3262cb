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

  static let function = "cdt_sees"
  /// All documents that are seen, and those of them that are not hidden; the same with those that have left.
  private static let all = DocumentTable("temp.seen_documents", withholdsLeaves: true)
  private static let visible = DocumentTable("temp.seen_visible_documents", withholdsLeaves: true)
  private static let allLeft = DocumentTable("temp.left_documents", withholdsLeaves: true)
  private static let visibleLeft = DocumentTable("temp.left_visible_documents", withholdsLeaves: true)

  init(on connection: Connection) throws(SQLiteError) {
    predicate = try Self.predicate(on: connection)
    try HiddenDocuments.createView(on: connection)
    for (view, source, condition) in [
      (Self.all, "main.documents", Self.isSeen), (Self.visible, HiddenDocuments.view.name, Self.isSeen),
      (Self.allLeft, "main.documents", Self.hasLeft),
      (Self.visibleLeft, HiddenDocuments.view.name, Self.hasLeft),
    ] {
      try connection.execute(
        """
        CREATE TEMP VIEW IF NOT EXISTS \(view.name.dropFirst("temp.".count)) AS
          SELECT * FROM \(source) d WHERE CASE WHEN d.deleted THEN \(Self.wasSeen) ELSE \(condition) END
        """)
    }
  }

  private static let isSeen = "\(function)(d.id, d.text, d.stored_revision)"
  /// Whether a document `d` is seen, or an earlier revision of it.
  private static let hasLeft = """
    (\(isSeen) OR EXISTS (SELECT 1 FROM main.revisions r
                          WHERE r.document = d.number AND NOT r.deleted AND NOT r.leaf AND r.body IS NOT NULL
                            AND \(function)(d.id, r.body, r.revision)))
    """
  /// Whether a document `d` had a revision that the user sees, or one whose body is not stored any more.
  static let wasSeen = """
    EXISTS (SELECT 1 FROM main.revisions r WHERE r.document = d.number AND NOT r.deleted
             AND (r.body IS NULL OR \(function)(d.id, r.body, r.revision)))
    """

  /// The losing leaves of a document that the user does not see. A deleted one is seen if what it deletes is, or may have been.
  static func withheldLeaves(
    of id: String, _ number: Int64, on connection: Connection
  ) throws -> Set<RevisionID> {
    let statement = try connection.statement(
      """
      SELECT revision FROM revisions r
       WHERE document = ?2 AND leaf AND NOT CASE WHEN deleted
         THEN NOT EXISTS (SELECT 1 FROM revisions p
                           WHERE p.document = ?2 AND p.revision = r.parent AND p.body IS NOT NULL
                             AND NOT \(function)(?1, p.body, p.revision))
         ELSE \(function)(?1, body, revision) END
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

  /// Has the views show what a user sees; `nil` shows nothing.
  func show(_ visibility: (any DocumentVisibility)?) {
    predicate.decision = visibility.map { visibility in
      { visibility.shows(StoredParts(id: $0[0], text: $0[1], revision: $0[2])) }
    }
  }
}
