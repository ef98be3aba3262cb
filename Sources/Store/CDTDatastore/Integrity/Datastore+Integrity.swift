import CDTJSON
import CDTPlatform
import CDTSQLite

extension Datastore {
  /// Checks the integrity of the store: SQLite's structures, every revision tree, every body, and the content of every
  /// attachment.
  ///
  /// ```swift
  /// for finding in try store.checkIntegrity() { print(finding) }
  /// ```
  ///
  /// The check reads one snapshot.
  ///
  /// - Parameters:
  ///   - repair: Whether to write the checksums of pages that have none (``IntegrityFinding/Kind/checksum``), if nothing else
  ///     is found. Nothing else is changed.
  ///   - progress: Called with the number of documents checked and the total.
  /// - Returns: The problems found; empty if there are none.
  /// - Throws: ``DatastoreError`` if the file can't be read at all; `.busy` if other readers prevent the repair.
  /// - Complexity: O(*n*) in the size of the store.
  public func checkIntegrity(
    repair: Bool = false, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> [IntegrityFinding] {
    try checkIntegrity(repair: repair, stop: nil, progress)
  }

  /// Checks the integrity of the store on one of the datastore's threads.
  public func checkIntegrity(
    repair: Bool = false, progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> [IntegrityFinding] {
    try await WorkQueue.long.run { try self.checkIntegrity(repair: repair, stop: $0, progress) }
  }

  package func checkIntegrity(
    repair: Bool, stop: StopSignal?, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> [IntegrityFinding] {
    let findings = try readSnapshot(stop: stop) { state in
      let connection = try state.connection()
      var findings = try databaseFindings(connection)
      guard findings.isEmpty else { return findings }
      findings += try Self.contentFindings(connection, stop, progress)
      findings += try attachmentFindings(connection)
      if let copied = try copiedPageFinding(connection) { findings.append(copied) }
      return findings
    }
    if repair, findings.contains(where: { $0.kind == .checksum }),
      !findings.contains(where: { [.database, .tree, .body].contains($0.kind) })
    {
      try sealCopiedPages(stop)
    }
    return findings
  }

  /// The findings in the documents of a database whose structure is right.
  private static func contentFindings(
    _ connection: Connection, _ stop: StopSignal?, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> [IntegrityFinding] {
    // A file with copied pages is checked before it is upgraded.
    let hasTexts = try connection.scalar("PRAGMA user_version") >= DatabaseFile.versionWithoutChecksums
    return try treeFindings(connection, hasTexts, stop, progress) + localFindings(connection)
      + strayFindings(connection, hasTexts)
  }

  /// Whether nothing is found in a database, apart from the content of attachments.
  static func isSound(_ connection: Connection) throws -> Bool {
    guard try connection.integrityFindings(atMost: 1).isEmpty else { return false }
    return try contentFindings(connection, nil) { _, _ in }.isEmpty
  }

  private func databaseFindings(_ connection: Connection) throws -> [IntegrityFinding] {
    var messages: [String] = []
    do throws(SQLiteError) {
      messages = try connection.integrityFindings()
      guard !messages.isEmpty else { return [] }
    } catch {
      guard error.isCorrupt else { throw error }
      messages = [error.message]
    }
    // SQLite stops at the first damaged page, or names only what leads to it.
    let pages = try damagedPages().map { "page \($0) of \(databasePath) differs from what was written" }
    return (pages.isEmpty ? messages : pages).map { IntegrityFinding(.database, $0) }
  }

  private func damagedPages() throws -> [Int64] {
    try FileSystem.reading(databasePath) {
      let database = try RawDatabase(
        databasePath, versionsWithChecksums: DatabaseFile.versionsWithChecksums, cipher: keys?.documents)
      guard let database else { return [] }
      try database.forEachRow { _ in }
      return (database.damagedPages + database.copiedPages).sorted()
    }
  }

  private static func treeFindings(
    _ connection: Connection, _ hasTexts: Bool, _ stop: StopSignal?,
    _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> [IntegrityFinding] {
    let total = Int(try connection.scalar("SELECT count(*) FROM documents"))
    var done = 0
    let statement = try connection.statement("SELECT id FROM documents ORDER BY id")
    defer { statement.reset() }
    var findings: [IntegrityFinding] = []
    while try statement.step() {
      let id = statement.text(0)
      try stop?.check()
      done += 1
      if done % 1_000 == 0 || done == total { progress(done, total) }
      do {
        guard
          let tree = try DocumentTree(
            of: id, revision: hasTexts ? StoredText.revisionSQL : "documents.revision", on: connection)
        else {
          findings.append(IntegrityFinding(.tree, documentID: id, "the id is not valid UTF-8 text"))
          continue
        }
        findings += tree.violations.map { IntegrityFinding(.tree, documentID: id, $0) }
        findings += try bodyFindings(
          of: id, tree, hasTexts ? StoredText.bodySQL : "body", connection)
        if hasTexts { findings += try textFindings(of: id, tree.winner.id, connection) }
      } catch let error as DatastoreError where error.code == .corrupt {
        findings.append(IntegrityFinding(.tree, documentID: id, error.message))
      }
    }
    return findings
  }

  /// Bodies are stored as compact text, so normalizing one must not change it.
  private static func bodyFindings(
    of id: String, _ tree: DocumentTree, _ body: String, _ connection: Connection
  ) throws -> [IntegrityFinding] {
    let statement = try connection.statement(
      """
      SELECT ?3, \(body) FROM documents WHERE id = ?1
      UNION ALL SELECT revision, body FROM revisions WHERE document = ?2 AND body IS NOT NULL
      """)
    defer { statement.reset() }
    try statement.bind(id, at: 1)
    try statement.bind(tree.number, at: 2)
    try statement.bind(tree.winner.id.description, at: 3)
    var findings: [IntegrityFinding] = []
    while try statement.step() {
      if !isSound(statement, column: 1) {
        findings.append(
          IntegrityFinding(
            .body, documentID: id, "the body of \(statement.text(0)) differs from what was saved"))
      }
    }
    return findings
  }

  /// The text and the columns that depend on it must be what a write of the body would make them.
  private static func textFindings(
    of id: String, _ winner: RevisionID, _ connection: Connection
  ) throws -> [IntegrityFinding] {
    let statement = try connection.statement(
      "SELECT text, head, stored_revision FROM documents WHERE id = ?1")
    defer { statement.reset() }
    try statement.bind(id, at: 1)
    guard try statement.step() else { return [] }
    let text = statement.unsafeBytes(0)
    guard let body = StoredBody(StoredText(text).body) else { return [] }
    let right = StoredText.Columns(id: id, revision: winner, body: body.text)
    guard right.text.elementsEqual(text), right.head == statement.int64(1),
      right.hasStoredRevision != statement.isNull(2)
    else {
      return [IntegrityFinding(.body, documentID: id, "the text differs from what was saved")]
    }
    return []
  }

  private static func isSound(_ row: Statement, column: Int) -> Bool {
    row.withBytes(column) { text in
      guard let normal = try? JSONText.normalize(text), normal.end == text.count else { return false }
      return normal.text.elementsEqual(text)
    }
  }

  private static func localFindings(_ connection: Connection) throws -> [IntegrityFinding] {
    let statement = try connection.statement("SELECT id, body FROM local_documents ORDER BY id")
    defer { statement.reset() }
    var findings: [IntegrityFinding] = []
    while try statement.step() {
      let isSound = statement.withBytes(1) { text in
        (try? JSONObject(parsing: text)).map { LocalDocument(stored: $0).text.elementsEqual(text) } ?? false
      }
      guard !isSound else { continue }
      findings.append(
        IntegrityFinding(
          .body, documentID: statement.text(0), "the body of the local document differs from what was saved"))
    }
    return findings
  }

  private static func strayFindings(_ connection: Connection, _ hasTexts: Bool) throws -> [IntegrityFinding] {
    let revision = hasTexts ? StoredText.revisionSQL : "d.revision"
    let orphans = try connection.scalar(
      "SELECT count(*) FROM revisions WHERE document NOT IN (SELECT number FROM documents)")
    let rows = try connection.scalar(
      """
      SELECT count(*) FROM attachments a
       WHERE NOT EXISTS (SELECT 1 FROM revisions r WHERE r.document = a.document AND r.revision = a.revision)
         AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.number = a.document AND a.revision = \(revision))
      """)
    var findings: [IntegrityFinding] = []
    if orphans > 0 { findings.append(IntegrityFinding(.tree, "\(orphans) revisions belong to no document")) }
    if rows > 0 {
      findings.append(IntegrityFinding(.attachment, "\(rows) attachments belong to no revision"))
    }
    return findings
  }

  private func attachmentFindings(_ connection: Connection) throws -> [IntegrityFinding] {
    let statement = try connection.statement(
      """
      SELECT a.name, a.key, a.type, a.length, a.revpos, d.id
        FROM attachments a LEFT JOIN documents d ON d.number = a.document GROUP BY a.key
      """)
    defer { statement.reset() }
    var findings: [IntegrityFinding] = []
    while try statement.step() {
      let row = AttachmentRow(statement)
      do {
        try SavedContent(row, in: attachmentFiles).forEachChunk(of: row.name) { _ in }
      } catch let error as DatastoreError where error.code != .closed {
        // If the datastore is deleted meanwhile, its files are gone, too.
        try checkFile()
        let id = statement.isNull(5) ? nil : statement.text(5)
        findings.append(IntegrityFinding(.attachment, documentID: id, error.message))
      }
    }
    return findings
  }
}
