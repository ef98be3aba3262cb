import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTSQLite

/// Compares the index file with the documents and the index definitions.
struct IndexFileCheck {
  private(set) var findings: [IntegrityFinding] = []
  /// The indexes with problems.
  private(set) var indexes: [String] = []
  /// Whether the whole file must be rebuilt.
  private(set) var isFileDamaged = false
  /// The checked file; `nil` if there is none.
  private(set) var file: FileIdentity?

  /// Nothing to compare.
  init() {}

  /// The file is missing.
  static let missing: IndexFileCheck = {
    var check = IndexFileCheck()
    check.damaged("the index file is missing")
    return check
  }()

  /// - Parameters:
  ///   - path: The index file.
  ///   - recovery: Knows the definitions of the indexes that should be there.
  ///   - progress: Called with the number of documents checked and the total.
  init(
    _ path: String, of store: Datastore, _ recovery: IndexRecovery,
    progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    file = FileIdentity(path)
    do {
      // Opening the file checks that it belongs to the store.
      let opened = try IndexConnection(path: path, of: store)
      defer { opened.close() }
      // FTS5 checks words by a statement that needs a file that can be written.
      if !store.access.isReadOnly { try checkWords(opened) }
      if findings.isEmpty { try Self.checkPages(path, of: store) }
      try opened.connection.transaction(.deferred) { try compare(opened, recovery, progress) }
    } catch let error as IndexDamage {
      damaged("the index file \(error.what)")
    } catch let error as SQLiteError where error.isMissingTable {
      damaged("the index file can't be used: \(error.message)")
    } catch let error as SQLiteError where IndexRecovery.isDamage(error) {
      damaged("the index file is damaged: \(error.message)")
    }
  }

  private mutating func damaged(_ what: String) {
    isFileDamaged = true
    indexes = []
    findings = [IntegrityFinding(.index, what)]
  }

  private mutating func compare(
    _ file: IndexConnection, _ recovery: IndexRecovery, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    let connection = file.connection
    var sequence: Int64 = 0
    // An index that is created or deleted is in one of the two files first. The snapshot begins with the first read.
    let wanted = try recovery.changingDefinitions {
      sequence = try file.state().sequence
      return try recovery.definitions
    }
    let catalog = try file.catalog()
    for definition in wanted where catalog.entry(named: definition.name) == nil {
      throw IndexDamage.unreadable("the index \(JSONValue.string(definition.name).text) is missing")
    }
    // An index that is no longer defined is about to be deleted.
    let entries = catalog.entries.filter { wanted.contains($0.definition) }
    for entry in entries where !entry.definition.isUsable {
      let name = JSONValue.string(entry.definition.name).text
      let finding = "the index \(name) can't be checked: \(IndexDefinition.unusableReason)"
      findings.append(IntegrityFinding(.index, finding))
    }
    let checks = try entries.filter(\.definition.isUsable).map {
      try IndexCheck($0, upTo: sequence, on: connection)
    }
    let total = Int(
      try connection.scalar("SELECT count(*) FROM \(IndexConnection.documents).documents WHERE NOT deleted"))
    let stored = try StoredDocuments(
      "WHERE NOT deleted ORDER BY number", in: IndexConnection.documents, on: connection)
    defer { stored.reset() }
    var done = 0
    while try stored.next() {
      guard let document = stored.document else { continue }
      for check in checks { try check.take(document, number: stored.number, sequence: stored.sequence) }
      done += 1
      if done % 1_000 == 0 || done == total { progress(done, total) }
    }
    for check in checks { note(try check.finish(), of: check.name) }
  }

  /// Runs SQLite's integrity check on the whole file.
  ///
  /// Since 3.44 this includes words. So it only runs if `checkWords` found nothing, because lost words only require
  /// one index to be rebuilt. It uses a new connection: FTS5 compares the words with its cached structure, and reports
  /// a mismatch if another connection has written since.
  private static func checkPages(_ path: String, of store: Datastore) throws {
    let file = try IndexConnection(path: path, of: store)
    defer { file.close() }
    if let finding = try file.connection.integrityFindings(atMost: 1).first {
      throw IndexDamage.unreadable(finding)
    }
  }

  private mutating func note(_ found: [IntegrityFinding], of name: String) {
    guard !found.isEmpty else { return }
    findings += found
    if !indexes.contains(where: { $0.hasSameBytes(as: name) }) { indexes.append(name) }
  }

  /// Runs FTS5's integrity check, which compares the words with the stored text.
  private mutating func checkWords(_ file: IndexConnection) throws {
    for entry in try file.catalog().texts where entry.definition.isUsable {
      let (table, name) = (IndexFile.table(entry), entry.definition.name)
      do throws(SQLiteError) {
        try file.connection.execute("INSERT INTO \(table)(\(table)) VALUES ('integrity-check')")
      } catch {
        guard IndexRecovery.isDamage(error) else { throw error }
        let lost = "the index \(JSONValue.string(name).text) has lost words"
        note([IntegrityFinding(.index, lost)], of: name)
      }
    }
  }
}
