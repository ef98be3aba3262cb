import CDTDatastore
import CDTPlatform
import JSON
import SQLite

/// Compares the index file with the documents and with the indexes that there should be.
struct IndexFileCheck {
  private(set) var findings: [IntegrityFinding] = []
  /// The indexes that disagree.
  private(set) var indexes: [String] = []
  /// Whether the whole file has to be made again.
  private(set) var isFileDamaged = false
  /// The file that was looked at; `nil` where there is none.
  private(set) var file: FileIdentity?

  /// Nothing to compare.
  init() {}

  /// The file is missing.
  init(missing what: String) {
    damaged(what)
  }

  /// - Parameters:
  ///   - path: The index file.
  ///   - definitions: The indexes that should be there.
  ///   - progress: Is told how many documents of how many have been compared.
  init(
    _ path: String, of store: Datastore, _ definitions: [IndexDefinition],
    progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    file = FileIdentity(path)
    do {
      // Opening it checks whose it is.
      let opened = try IndexConnection(path: path, of: store)
      defer { opened.close() }
      try checkWords(opened)
      if findings.isEmpty { try Self.checkPages(path, of: store) }
      try opened.connection.transaction(.deferred) { try compare(opened, definitions, progress) }
    } catch let error as IndexDamage {
      damaged("the index file \(error.what)")
    } catch let error as SQLiteError where error.isMissingTable {
      damaged("the index file can't be used: \(error.message)")
    } catch let error as SQLiteError where error.isCorrupt {
      damaged("the index file is damaged: \(error.message)")
    }
  }

  private mutating func damaged(_ what: String) {
    isFileDamaged = true
    indexes = []
    findings = [IntegrityFinding(.index, what)]
  }

  private mutating func compare(
    _ file: IndexConnection, _ definitions: [IndexDefinition], _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    let connection = file.connection
    let sequence = try file.state().sequence
    let catalog = try file.catalog()
    for definition in definitions where catalog.entry(named: definition.name) == nil {
      throw IndexDamage.unreadable("\(JSONValue.string(definition.name).text), which is missing")
    }
    let checks = try catalog.entries.map { try IndexCheck($0, upTo: sequence, on: connection) }
    try Self.forEachDocument(on: connection, progress) { document, number, sequence in
      for check in checks { try check.take(document, number: number, sequence: sequence) }
    }
    for check in checks { note(try check.finish(), of: check.name) }
  }

  /// Has SQLite check the whole file.
  ///
  /// From 3.44 on it checks words, too. So what `checkWords` finds is not asked for again, as one index is made again for
  /// it and not the file. And the connection is a new one: FTS5 compares the words with what the connection remembers
  /// of them, `checkWords` included, and reports a mismatch if another connection has written since.
  private static func checkPages(_ path: String, of store: Datastore) throws {
    let file = try IndexConnection(path: path, of: store)
    defer { file.close() }
    if let finding = try file.connection.integrityFindings(atMost: 1).first {
      throw IndexDamage.unreadable(finding)
    }
  }

  private static func forEachDocument(
    on connection: Connection, _ progress: (_ done: Int, _ total: Int) -> Void,
    _ body: (DocumentBytes, _ number: Int64, _ sequence: Int64) throws -> Void
  ) throws {
    let documents = "\(IndexConnection.documents).documents WHERE NOT deleted"
    let total = Int(try connection.scalar("SELECT count(*) FROM \(documents)"))
    let statement = try connection.statement(
      "SELECT number, id, revision, body, sequence FROM \(documents) ORDER BY number")
    defer { statement.reset() }
    var done = 0
    while try statement.step() {
      let document = DocumentBytes(
        id: statement.unsafeBytes(1), revision: statement.unsafeBytes(2), body: statement.unsafeBytes(3))
      try body(document, statement.int64(0), statement.int64(4))
      done += 1
      if done % 1_000 == 0 || done == total { progress(done, total) }
    }
  }

  private mutating func note(_ found: [IntegrityFinding], of name: String) {
    guard !found.isEmpty else { return }
    findings += found
    if !indexes.contains(name) { indexes.append(name) }
  }

  /// Has SQLite compare the words with the text that is kept.
  private mutating func checkWords(_ file: IndexConnection) throws {
    guard let entry = try file.catalog().text else { return }
    let (table, name) = (IndexFile.table(entry), entry.definition.name)
    do throws(SQLiteError) {
      try file.connection.execute("INSERT INTO \(table)(\(table)) VALUES ('integrity-check')")
    } catch {
      guard error.isCorrupt else { throw error }
      let lost = "the index \(JSONValue.string(name).text) has lost words"
      note([IntegrityFinding(.index, lost)], of: name)
    }
  }
}
