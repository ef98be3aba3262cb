import CDTDatastore
import JSON
import SQLite

/// Compares every index with the documents.
struct IndexFileCheck {
  private(set) var findings: [IntegrityFinding] = []
  /// The indexes that disagree.
  private(set) var indexes: [String] = []
  /// Whether the whole file has to be made again.
  private(set) var isFileDamaged = false

  /// Nothing to compare.
  init() {}

  /// The file is not what it should be.
  init(damaged what: String) {
    isFileDamaged = true
    findings = [IntegrityFinding(.index, what)]
  }

  /// - Parameters:
  ///   - storeID: The datastore's, which the file has to name.
  ///   - connection: One of the datastore's, for this alone.
  ///   - definitions: The indexes that should be there.
  ///   - progress: Learns how many documents of how many were compared.
  init(
    path: String, storeID: String, connection: Connection, definitions: [IndexDefinition],
    progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    do {
      let reader = try QueryReader(open: { connection })
      try compare(reader, path: path, storeID: storeID, definitions: definitions, progress)
    } catch let error as IndexDamage {
      self = IndexFileCheck(damaged: "the index file \(error.what)")
    } catch let error as SQLiteError where error.isUnknownName {
      self = IndexFileCheck(damaged: "the index file can't be used: \(error.message)")
    } catch let error as SQLiteError where error.isCorrupt {
      self = IndexFileCheck(damaged: "the index file is damaged: \(error.message)")
    }
  }

  private mutating func compare(
    _ reader: QueryReader, path: String, storeID: String, definitions: [IndexDefinition],
    _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    let catalog = try reader.begin(indexFile: path).catalog
    var checks = IndexChecks(catalog, on: reader.connection)
    do {
      try Self.checkFile(reader.connection, storeID: storeID)
      for definition in definitions where catalog.entry(named: definition.name) == nil {
        throw IndexDamage.unreadable("\(JSONValue.string(definition.name).text), which is missing")
      }
      try checks.run(reader.connection, progress)
    } catch {
      reader.end()
      throw error
    }
    reader.end()
    try checks.text?.checkWords()
    for found in checks.findings { note(found) }
  }

  private mutating func note(_ found: IndexFindings) {
    guard !found.all.isEmpty else { return }
    findings += found.all
    indexes.append(found.name)
  }

  private static func checkFile(_ connection: Connection, storeID: String) throws {
    guard try connection.scalar("PRAGMA \(IndexFile.schema).user_version") == IndexFile.version else {
      throw IndexDamage.unreadable("another version")
    }
    let state = try connection.statement("SELECT store FROM \(IndexFile.schema).state")
    defer { state.reset() }
    guard try state.step(), state.text(0).hasSameBytes(as: storeID) else { throw IndexDamage.foreignStore }
    let integrity = try connection.statement("PRAGMA \(IndexFile.schema).integrity_check(1)")
    defer { integrity.reset() }
    guard try integrity.step(), integrity.text(0) != "ok" else { return }
    throw IndexDamage.unreadable(integrity.text(0))
  }
}

/// The checks of all indexes, which one walk through the documents feeds.
private struct IndexChecks {
  private var ordered: [IndexCheck]
  var text: TextIndexCheck?

  init(_ catalog: IndexCatalog, on connection: Connection) {
    ordered = catalog.ordered.map { IndexCheck($0, on: connection) }
    text = catalog.text.map { TextIndexCheck($0, on: connection) }
  }

  var findings: [IndexFindings] { ordered.map(\.findings) + (text.map { [$0.findings] } ?? []) }

  /// Compares every live document, and then looks for what none of them gives.
  mutating func run(_ connection: Connection, _ progress: (_ done: Int, _ total: Int) -> Void) throws {
    let total = Int(try connection.scalar("SELECT count(*) FROM main.documents WHERE NOT deleted"))
    let statement = try connection.statement(
      "SELECT id, number, sequence, body FROM main.documents WHERE NOT deleted ORDER BY sequence")
    defer { statement.reset() }
    var done = 0
    while try statement.step() {
      try take(statement)
      done += 1
      if done % 1_000 == 0 || done == total { progress(done, total) }
    }
    for index in ordered.indices { try ordered[index].finish() }
    try text?.finish()
  }

  private mutating func take(_ row: Statement) throws {
    let (id, number, sequence) = (row.text(0), row.int64(1), row.int64(2))
    try row.withBytes(3) { body in
      for index in ordered.indices { try ordered[index].take(id: id, sequence: sequence, body: body) }
      try text?.take(id: id, number: number, sequence: sequence, body: body)
    }
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
