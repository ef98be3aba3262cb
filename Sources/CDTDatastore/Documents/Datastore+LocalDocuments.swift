public import JSON
import SQLite

extension Datastore {
  /// The body of a local document, or `nil` when there is none of that id.
  ///
  /// Local documents have no history, changes, conflicts or queries: a replicator keeps its checkpoints in them. Their
  /// ids are apart from those of documents.
  ///
  /// Source: `docs/crud.md`, Local documents.
  public func localDocument(withID id: String) throws -> JSONObject? {
    try read { try reading($0).localDocument(withID: id) }
  }

  /// Saves the body of a local document, in place of the one before; `nil` removes it.
  ///
  /// - Throws: ``DatastoreError``: `.invalidID` for an empty id, `.reservedKey`, `.invalidBody`.
  public func setLocalDocument(_ body: JSONObject?, withID id: String) throws {
    try write { try $0.setLocalDocument(body, withID: id) }
  }

  /// The ids of all local documents, sorted.
  public func localDocumentIDs() throws -> [String] {
    try read { connection in
      let statement = try connection.statement("SELECT id FROM local_documents ORDER BY id")
      defer { statement.reset() }
      var ids: [String] = []
      while try statement.step() { ids.append(statement.text(0)) }
      return ids
    }
  }
}

extension DocumentReading {
  func localDocument(withID id: String) throws -> JSONObject? {
    let statement = try connection.statement("SELECT body FROM local_documents WHERE id = ?1")
    defer { statement.reset() }
    try statement.bind(id, at: 1)
    guard try statement.step() else { return nil }
    return try DocumentRevision.body(of: statement, column: 0, id: id)?.object
  }
}

extension WriteTransaction {
  /// The body of a local document, as ``Datastore/localDocument(withID:)``.
  public func localDocument(withID id: String) throws -> JSONObject? {
    try use { try DocumentReading(connection: $0, files: files).localDocument(withID: id) }
  }

  /// Saves or removes a local document, as ``Datastore/setLocalDocument(_:withID:)``.
  public func setLocalDocument(_ body: JSONObject?, withID id: String) throws {
    guard !id.isEmpty else { throw DatastoreError.invalidID(id) }
    guard let body else {
      return try use { connection in
        let statement = try connection.statement("DELETE FROM local_documents WHERE id = ?1")
        try statement.bind(id, at: 1)
        try statement.run()
      }
    }
    let text = try BodyText(body, id: id)
    try use { connection in
      let statement = try connection.statement("INSERT OR REPLACE INTO local_documents VALUES (?1, ?2)")
      try statement.bind(id, at: 1)
      try statement.bind(text: text.text, at: 2)
      try statement.run()
    }
  }

  func hasLocalDocument(_ id: String) throws -> Bool {
    try use { connection in
      let statement = try connection.statement("SELECT 1 FROM local_documents WHERE id = ?1")
      defer { statement.reset() }
      try statement.bind(id, at: 1)
      return try statement.step()
    }
  }
}
