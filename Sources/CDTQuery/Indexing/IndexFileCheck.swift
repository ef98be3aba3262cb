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
  ///   - connection: One of the datastore's, for this alone.
  ///   - definitions: The indexes that should be there.
  ///   - progress: Learns how many documents of how many were compared.
  init(
    path: String, connection: Connection, definitions: [IndexDefinition],
    progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    do {
      let reader = try QueryReader(connection)
      try compare(reader, path: path, definitions: definitions, progress)
    } catch let error as IndexDamage {
      self = IndexFileCheck(damaged: "the index file \(error.what)")
    } catch let error as SQLiteError where error.isCorrupt {
      self = IndexFileCheck(damaged: "the index file is damaged: \(error.message)")
    }
  }

  private mutating func compare(
    _ reader: QueryReader, path: String, definitions: [IndexDefinition],
    _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    let catalog = try reader.begin(indexFile: path).catalog
    var text = catalog.text.map { TextIndexCheck($0, on: reader.connection) }
    do {
      defer { reader.end() }
      try checkFile(reader.connection)
      for definition in definitions where catalog.entry(named: definition.name) == nil {
        throw IndexDamage.unreadable("\(JSONValue.string(definition.name).text), which is missing")
      }
      var checks = catalog.ordered.map { IndexCheck($0, on: reader.connection) }
      try Self.forEachDocument(reader.connection, progress) { document in
        try document.withBytes(3) { body in
          let (id, sequence) = (document.text(0), document.int64(2))
          for index in checks.indices { try checks[index].take(id: id, sequence: sequence, body: body) }
          try text?.take(id: id, number: document.int64(1), sequence: sequence, body: body)
        }
      }
      for index in checks.indices { try checks[index].finish() }
      try text?.finish()
      for check in checks { note(check.findings) }
    }
    try text?.checkWords()
    if let text { note(text.findings) }
  }

  private mutating func note(_ found: IndexFindings) {
    guard !found.all.isEmpty else { return }
    findings += found.all
    indexes.append(found.name)
  }

  private func checkFile(_ connection: Connection) throws {
    let statement = try connection.statement("PRAGMA \(IndexFile.schema).integrity_check(1)")
    defer { statement.reset() }
    guard try statement.step(), statement.text(0) != "ok" else { return }
    throw IndexDamage.unreadable(statement.text(0))
  }

  private static func forEachDocument(
    _ connection: Connection, _ progress: (_ done: Int, _ total: Int) -> Void,
    _ body: (Statement) throws -> Void
  ) throws {
    let total = Int(try connection.scalar("SELECT count(*) FROM main.documents WHERE NOT deleted"))
    let statement = try connection.statement(
      "SELECT id, number, sequence, body FROM main.documents WHERE NOT deleted ORDER BY sequence")
    defer { statement.reset() }
    var done = 0
    while try statement.step() {
      try body(statement)
      done += 1
      if done % 1_000 == 0 || done == total { progress(done, total) }
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
