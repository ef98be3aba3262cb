import SQLite

/// Several writes that are kept together or not at all.
///
/// ```swift
/// try store.write { transaction in
///   let from = try transaction.document(withID: "alice")
///   try transaction.updateDocument(from: from)
///   try transaction.createDocument(from: DocumentRevision(body: ["amount": 10]))
/// }
/// ```
///
/// Reads in it see its writes. It is over when its closure returns; used later, it throws `.closed`.
///
/// Source: `docs/crud.md`, Transactions.
public final class WriteTransaction {
  private let name: String
  private let path: String
  private var open: Connection?
  private var failure: DatastoreError?
  private(set) var lastSequence: Int64

  init(_ connection: Connection, named name: String, path: String) throws {
    self.name = name
    self.path = path
    open = connection
    lastSequence = try connection.scalar("SELECT max(sequence) FROM documents")
  }

  func end() {
    open = nil
  }

  /// Refuses to go on after the database has failed within a change: part of the change may have been made, or SQLite
  /// may have ended the transaction. A closure that passes over the error must not have that committed.
  func checkIntact() throws(DatastoreError) {
    if let failure { throw failure }
  }

  private func use<R>(_ body: (Connection) throws -> R) throws -> R {
    guard let open else { throw DatastoreError.closed(name) }
    try checkIntact()
    do {
      return try body(open)
    } catch let error as SQLiteError {
      let mapped = DatastoreError(error, path: path)
      failure = mapped
      throw mapped
    } catch let error as DatastoreError where error.code == .corrupt {
      failure = error
      throw error
    }
  }

  private func nextSequence() throws(DatastoreError) -> Int64 {
    let (next, overflow) = lastSequence.addingReportingOverflow(1)
    guard !overflow else { throw .sequencesExhausted(path) }
    lastSequence = next
    return next
  }

  // MARK: Reading

  /// The winner of a document, as ``Datastore/document(withID:)``.
  public func document(withID id: String) throws -> DocumentRevision {
    try use { try DocumentReading(connection: $0).document(withID: id) }
  }

  /// A revision of a document, as ``Datastore/document(withID:revision:)``.
  public func document(withID id: String, revision: RevisionID) throws -> DocumentRevision {
    try use { try DocumentReading(connection: $0).document(withID: id, revision: revision) }
  }

  /// The winners of several documents, as ``Datastore/documents(withIDs:)``.
  public func documents(withIDs ids: [String]) throws -> [DocumentRevision] {
    try use { try DocumentReading(connection: $0).documents(withIDs: ids) }
  }

  /// The winner's id of a document that is there.
  package func winner(of id: String) throws -> RevisionID {
    guard let row = try use({ try DocumentRow.find(id, on: $0) }) else {
      throw DatastoreError.noSuchDocument(id)
    }
    return row.revision
  }

  // MARK: Writing

  /// Saves a revision as a new document, as ``Datastore/createDocument(from:)``.
  @discardableResult
  public func createDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    let id = revision.id ?? DocumentID.make()
    if revision.isProjected { throw DatastoreError.projected(id) }
    if let known = revision.revision, !revision.isDeleted {
      throw DatastoreError.hasRevision(revision.id ?? known.description)
    }
    let body = try BodyText(revision.body, id: revision.id)
    let made = try createDocument(id: id, body: body)
    return DocumentRevision(id: id, revision: made.revision, body: revision.body, sequence: made.sequence)
  }

  /// Saves stored text as a new document, with no value made of it.
  @discardableResult
  package func createDocument(id: String, body: BodyText) throws -> (revision: RevisionID, sequence: Int64) {
    try DocumentID.check(id)
    return try use { connection in
      let existing = try DocumentRow.find(id, on: connection)
      if let existing, !existing.isDeleted { throw DatastoreError.documentExists(id) }
      let revision = try RevisionDigest.revision(
        after: existing?.revision, isDeleted: false, canonicalBody: body.canonical)
      let sequence = try nextSequence()
      let writing = DocumentWriting(connection: connection)
      if let existing {
        try writing.graft(
          NewRevision(
            revision, parent: existing.revision, sequence: sequence, isDeleted: false, body: body.text),
          onto: existing)
      } else {
        try writing.insert(id: id, revision: revision, sequence: sequence, body: body.text)
      }
      return (revision, sequence)
    }
  }

  /// Saves a change to a document, as ``Datastore/updateDocument(from:)``.
  @discardableResult
  public func updateDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    let (id, parent) = try Self.saved(revision)
    let body = try BodyText(revision.body, id: id)
    let made = try append(to: parent, of: id, isDeleted: false, body: body)
    return DocumentRevision(id: id, revision: made.revision, body: revision.body, sequence: made.sequence)
  }

  /// Replaces the body of a document by stored text, with no value made of it.
  @discardableResult
  package func updateDocument(
    id: String, revision: RevisionID, body: BodyText
  ) throws -> (revision: RevisionID, sequence: Int64) {
    try append(to: revision, of: id, isDeleted: false, body: body)
  }

  /// Adds a tombstone to a revision, as ``Datastore/deleteDocument(from:)``.
  @discardableResult
  public func deleteDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    let (id, parent) = try Self.saved(revision)
    return try delete(parent, of: id)
  }

  /// Deletes a document in its entirety, as ``Datastore/deleteDocument(withID:)``.
  @discardableResult
  public func deleteDocument(withID id: String) throws -> [DocumentRevision] {
    let leaves = try use { connection in
      guard let row = try DocumentRow.find(id, on: connection) else {
        throw DatastoreError.noSuchDocument(id)
      }
      guard !row.isDeleted else { throw DatastoreError.documentDeleted(id) }
      return try DocumentWriting(connection: connection).liveLeaves(of: row)
    }
    return try leaves.map { try delete($0, of: id) }
  }

  private func delete(_ parent: RevisionID, of id: String) throws -> DocumentRevision {
    let made = try append(to: parent, of: id, isDeleted: true, body: .none)
    return DocumentRevision(
      id: id, revision: made.revision, body: [:], isDeleted: true, sequence: made.sequence)
  }

  private func append(
    to parent: RevisionID, of id: String, isDeleted: Bool, body: BodyText
  ) throws -> (revision: RevisionID, sequence: Int64) {
    try use { connection in
      guard let row = try DocumentRow.find(id, on: connection) else {
        throw DatastoreError.noSuchDocument(id)
      }
      let writing = DocumentWriting(connection: connection)
      guard try writing.isLeaf(parent, of: row) else { throw DatastoreError.notALeaf(parent, of: id) }
      let revision = try RevisionDigest.revision(
        after: parent, isDeleted: isDeleted, canonicalBody: body.canonical)
      let sequence = try nextSequence()
      try writing.graft(
        NewRevision(revision, parent: parent, sequence: sequence, isDeleted: isDeleted, body: body.text),
        onto: row)
      return (revision, sequence)
    }
  }

  private static func saved(_ revision: DocumentRevision) throws -> (id: String, revision: RevisionID) {
    guard let id = revision.id else { throw DatastoreError.missingID() }
    guard let revisionID = revision.revision else { throw DatastoreError.missingRevision(id) }
    if revision.isProjected { throw DatastoreError.projected(id) }
    return (id, revisionID)
  }
}
