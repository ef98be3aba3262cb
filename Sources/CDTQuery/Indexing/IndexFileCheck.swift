import CDTDatastore
import CDTPlatform
import JSON
import SQLite

/// Compares every index with the documents.
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
    isFileDamaged = true
    findings = [IntegrityFinding(.index, what)]
  }

  /// - Parameters:
  ///   - manager: The indexes of the store.
  ///   - definitions: The indexes that should be there.
  ///   - progress: Is told how many documents of how many have been compared.
  init(
    _ store: Datastore, _ manager: IndexManager, definitions: [IndexDefinition],
    progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    file = FileIdentity(manager.path)
    do {
      // Opening it checks whose it is.
      let opened = try IndexConnection(path: manager.path, of: store)
      defer { opened.close() }
      _ = try opened.catalog()
      try compare(QuerySnapshot(of: store, manager), definitions, progress)
      try checkWords(manager.path, store)
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
    _ snapshot: consuming QuerySnapshot, _ definitions: [IndexDefinition],
    _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    guard snapshot.indexes.isReadable else { throw IndexDamage.unreadable("it is being replaced") }
    let integrity = try snapshot.connection.statement("PRAGMA \(IndexFile.schema).integrity_check(1)")
    defer { integrity.reset() }
    if try integrity.step(), integrity.text(0) != "ok" { throw IndexDamage.unreadable(integrity.text(0)) }
    for definition in definitions where snapshot.indexes.catalog.entry(named: definition.name) == nil {
      throw IndexDamage.unreadable("\(JSONValue.string(definition.name).text), which is missing")
    }
    for found in try IndexChecks(snapshot).run(snapshot.connection, progress) { note(found) }
  }

  private mutating func note(_ found: IndexFindings) {
    guard !found.all.isEmpty else { return }
    findings += found.all
    if !indexes.contains(found.name) { indexes.append(found.name) }
  }

  /// Has SQLite compare the words with the text that is kept, which takes a connection that may write.
  private mutating func checkWords(_ path: String, _ store: Datastore) throws {
    let file = try IndexConnection(path: path, of: store)
    defer { file.close() }
    guard let entry = try file.catalog().text else { return }
    let name = TextIndexTable.name(entry.number)
    do throws(SQLiteError) {
      try file.connection.execute("INSERT INTO \(name)(\(name)) VALUES ('integrity-check')")
    } catch {
      guard error.isCorrupt else { throw error }
      var found = IndexFindings(entry.definition.name)
      found.add("has lost words")
      note(found)
    }
  }
}

/// The checks of all indexes, which one walk through the documents feeds.
private struct IndexChecks {
  private var ordered: [IndexCheck]
  private var text: TextIndexCheck?

  init(_ snapshot: borrowing QuerySnapshot) {
    ordered = []
    for entry in snapshot.indexes.catalog.ordered { ordered.append(IndexCheck(entry, in: snapshot)) }
    if let entry = snapshot.indexes.catalog.text { text = TextIndexCheck(entry, in: snapshot) }
  }

  /// Compares every document, and then looks for what none of them gives.
  consuming func run(
    _ connection: Connection, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> [IndexFindings] {
    let total = Int(try connection.scalar("SELECT count(*) FROM main.documents WHERE NOT deleted"))
    let statement = try connection.statement(
      "SELECT number, id, revision, body, sequence FROM main.documents WHERE NOT deleted ORDER BY number")
    defer { statement.reset() }
    var done = 0
    while try statement.step() {
      let document = DocumentBytes(
        id: statement.unsafeBytes(1), revision: statement.unsafeBytes(2), body: statement.unsafeBytes(3))
      let (number, sequence) = (statement.int64(0), statement.int64(4))
      for index in ordered.indices { try ordered[index].take(document, number: number, sequence: sequence) }
      try text?.take(document, number: number, sequence: sequence)
      done += 1
      if done % 1_000 == 0 || done == total { progress(done, total) }
    }
    for index in ordered.indices { try ordered[index].finish() }
    try text?.finish()
    return ordered.map(\.findings) + (text.map { [$0.findings] } ?? [])
  }
}

extension IndexDamage {
  /// What is told of it, behind "the index file".
  fileprivate var what: String {
    switch self {
    case .unreadable(let what): "can't be used: \(what)"
    case .foreignStore: "is of another store"
    case .foreignHistory: "was made from another history of the documents"
    }
  }
}
