import JSON
import SQLite

extension Datastore {
  /// Looks through everything that is stored: SQLite's own structures, every tree of revisions, every body, the content
  /// of every attachment.
  ///
  /// ```swift
  /// for finding in try store.checkIntegrity() { print(finding) }
  /// ```
  ///
  /// It reads one snapshot and changes nothing.
  ///
  /// - Parameter progress: Learns how many documents of how many have been looked through.
  /// - Returns: What is not as it should be; nothing when all is well.
  /// - Throws: ``DatastoreError`` when the file can't be read at all.
  /// - Complexity: O(*n*) in the size of the store.
  ///
  /// Source: `docs/cli.md`, Check.
  public func checkIntegrity(
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> [IntegrityFinding] {
    try readSnapshot { connection in
      var findings = try connection.integrityFindings().map { IntegrityFinding(.database, $0) }
      guard findings.isEmpty else { return findings }
      findings += try treeFindings(connection, progress)
      findings += try Self.localFindings(connection)
      findings += try Self.strayFindings(connection)
      findings += try attachmentFindings(connection)
      return findings
    }
  }

  private func treeFindings(
    _ connection: Connection, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> [IntegrityFinding] {
    let total = Int(try connection.scalar("SELECT count(*) FROM documents"))
    var done = 0
    let statement = try connection.statement("SELECT id FROM documents ORDER BY id")
    defer { statement.reset() }
    var findings: [IntegrityFinding] = []
    while try statement.step() {
      let id = statement.text(0)
      done += 1
      if done % 1_000 == 0 || done == total { progress(done, total) }
      do {
        guard let tree = try RevisionTree(of: id, on: connection) else {
          findings.append(IntegrityFinding(.tree, documentID: id, "its id is no text that can be asked for"))
          continue
        }
        findings += tree.violations.map { IntegrityFinding(.tree, documentID: id, $0) }
        findings += try Self.bodyFindings(of: id, number: tree.number, connection)
      } catch let error as DatastoreError where error.code == .corrupt {
        findings.append(IntegrityFinding(.tree, documentID: id, error.message))
      }
    }
    return findings
  }

  /// Bodies are stored as compact text, so writing one anew must give the same.
  private static func bodyFindings(
    of id: String, number: Int64, _ connection: Connection
  ) throws -> [IntegrityFinding] {
    let statement = try connection.statement(
      """
      SELECT revision, body FROM documents WHERE id = ?1
      UNION ALL SELECT revision, body FROM revisions WHERE document = ?2 AND body IS NOT NULL
      """)
    defer { statement.reset() }
    try statement.bind(id, at: 1)
    try statement.bind(number, at: 2)
    var findings: [IntegrityFinding] = []
    while try statement.step() {
      if !isSound(statement, column: 1) {
        findings.append(
          IntegrityFinding(.body, documentID: id, "the body of \(statement.text(0)) is not what was saved"))
      }
    }
    return findings
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
      guard !isSound(statement, column: 1) else { continue }
      findings.append(
        IntegrityFinding(
          .body, documentID: statement.text(0), "the local document's body is not what was saved"))
    }
    return findings
  }

  private static func strayFindings(_ connection: Connection) throws -> [IntegrityFinding] {
    let strays = try connection.scalar(
      "SELECT count(*) FROM revisions WHERE document NOT IN (SELECT number FROM documents)")
    let rows = try connection.scalar(
      """
      SELECT count(*) FROM attachments a
       WHERE NOT EXISTS (SELECT 1 FROM revisions r WHERE r.document = a.document AND r.revision = a.revision)
         AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.number = a.document AND d.revision = a.revision)
      """)
    var findings: [IntegrityFinding] = []
    if strays > 0 { findings.append(IntegrityFinding(.tree, "\(strays) revisions belong to no document")) }
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
      let row = AttachmentRow(
        name: statement.text(0), key: statement.withBytes(1) { Array($0) }, type: statement.text(2),
        length: statement.int64(3), generation: Int(clamping: statement.int64(4)))
      do {
        try SavedContent(row, in: attachmentFiles).forEachChunk(of: row.name) { _ in }
      } catch let error as DatastoreError where error.code != .closed {
        let id = statement.isNull(5) ? nil : statement.text(5)
        findings.append(IntegrityFinding(.attachment, documentID: id, error.message))
      }
    }
    return findings
  }
}
