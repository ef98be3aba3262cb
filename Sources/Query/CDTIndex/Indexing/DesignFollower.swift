import CDTDatastore
import CDTJSON
import CDTSQLite

/// Changes the indexes as the design documents that define them change.
///
/// A design document is a document like others: clients write it, and it is replicated. The indexes follow: after a write of one by
/// this process, when a datastore's indexes are first used, and before they are listed or updated.
struct DesignFollower: Sendable {
  let indexes: IndexManager
  private var recovery: IndexRecovery { indexes.recovery }

  /// Creates and deletes indexes until they are those that the design documents define. Indexes that an app made are
  /// left alone.
  func follow() throws {
    let store = try indexes.openStore()
    guard !store.access.isReadOnly else { return }
    // Without the indexes of a state, which may be what is damaged or locked.
    let wanted = try store.readWithoutExtensions { try Self.definitions(in: "main", on: $0.connection()) }
    let known = try recovery.definitions.filter { $0.designDocument != nil }
    if Set(wanted) == Set(known) { return }
    try indexes.changing { file in
      let wanted = try file.readingDocuments {
        try Self.definitions(in: IndexConnection.documents, on: file.connection)
      }
      let entries = try file.catalog().entries
      let obsolete = entries.filter { entry in
        entry.definition.designDocument != nil && !wanted.contains(entry.definition)
      }
      var definitions = entries.map(\.definition).filter { definition in
        !obsolete.contains { $0.definition == definition }
      }
      // As with one index: what is deleted goes from the definitions first, and what is new comes into them last.
      if !obsolete.isEmpty { try indexes.save(definitions) }
      for entry in obsolete { try file.delete(entry) }
      for definition in wanted
      where !definitions.contains(where: { $0.name.hasSameBytes(as: definition.name) }) {
        try file.create(definition)
        definitions.append(definition)
      }
      if try Set(recovery.definitions) != Set(definitions) { try indexes.save(definitions) }
    }
  }

  private static func definitions(in schema: String, on connection: Connection) throws -> [IndexDefinition] {
    var definitions: [IndexDefinition] = []
    try forEachDesignDocument(in: schema, on: connection) { _, document in
      definitions += document.indexes
    }
    return definitions
  }

  private static func forEachDesignDocument(
    in schema: String, on connection: Connection, _ body: (String, DesignDocument) throws -> Void
  ) throws {
    let statement = try connection.statement(
      """
      SELECT id, \(StoredText.bodySQL) FROM \(schema).documents
       WHERE id >= ?1 AND id < ?2 AND NOT deleted ORDER BY id
      """)
    defer { statement.reset() }
    try statement.bind(DocumentID.designPrefix, at: 1)
    try statement.bind(DocumentID.designEnd, at: 2)
    while try statement.step() {
      // A damaged body is for the check of the documents to find.
      guard let json = try? JSONObject(parsing: Array(statement.unsafeBytes(1))) else { continue }
      let id = statement.text(0)
      try body(id, DesignDocument(id: id, body: json))
    }
  }

  /// The definitions of the indexes, sorted by name.
  func definitions() throws -> [IndexDefinition] {
    try follow()
    return try recovery.definitions.sorted { $0.name.precedesInBytes($1.name) }
  }

  /// The indexes, sorted by name, with their sizes.
  func listIndexes(stop: StopSignal?) throws -> [IndexInfo] {
    try indexes.checkAccess()
    try follow()
    guard try recovery.mayBeNeeded else { return [] }
    if indexes.isReadOnly { return try indexes.reading { try IndexInfo.all(in: $0, stop: stop) } }
    // The worker may be about to delete those that a design document had before.
    let defined = try Set(recovery.definitions)
    return try indexes.withFile { file, _ in try IndexInfo.all(in: file, stop: stop) }.filter {
      $0.definition.designDocument == nil || defined.contains($0.definition)
    }
  }

  /// Findings about members of design documents that are never used: functions, and indexes that can't be made.
  func notes() throws -> [IntegrityFinding] {
    try follow()
    let made = try Set(recovery.definitions)
    return try indexes.openStore().read { transaction in
      var findings: [IntegrityFinding] = []
      try Self.forEachDesignDocument(in: "main", on: transaction.connection()) { id, document in
        findings += document.notes.map { IntegrityFinding(.design, documentID: id, $0) }
        for index in document.indexes where !made.contains(index) {
          findings.append(
            IntegrityFinding(
              .design, documentID: id,
              "The index \(JSONValue.string(index.name).text) is not made: there is another index of this name."
            ))
        }
      }
      return findings
    }
  }

  /// A finding for each design document with functions or rules that an app may rely on in vain.
  func unenforced() throws -> [IntegrityFinding] {
    try indexes.openStore().readWithoutExtensions { transaction in
      var findings: [IntegrityFinding] = []
      try Self.forEachDesignDocument(in: "main", on: transaction.connection()) { id, document in
        guard let note = document.unenforcedNote else { return }
        findings.append(IntegrityFinding(.design, documentID: id, note))
      }
      return findings
    }
  }
}

extension Datastore {
  /// The definitions of the indexes, sorted by name; unlike ``listIndexes()`` this reads no index.
  package func indexDefinitions() async throws -> [IndexDefinition] {
    try await runReading { _ in try self.mapped { try self.queryExtension().design.definitions() } }
  }

  /// Finds members of design documents that are stored and never used: JavaScript functions, and indexes that can't be made.
  ///
  /// - Returns: A finding for each; these findings are not damage.
  package func checkDesignDocuments() throws -> [IntegrityFinding] {
    try mapped { try queryExtension().design.notes() }
  }

  /// Finds design documents with functions and rules that are not enforced, although an app may rely on them to protect documents.
  package func checkProtections() async throws -> [IntegrityFinding] {
    try await runReading { _ in try self.mapped { try self.queryExtension().design.unenforced() } }
  }
}
