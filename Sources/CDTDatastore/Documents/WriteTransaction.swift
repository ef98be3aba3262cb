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
  let files: AttachmentFiles
  private var open: Connection?
  private var failure: DatastoreError?
  private(set) var lastSequence: Int64
  /// What was read by ``document(withID:)`` last: most updates follow the reading of their document.
  private var lastRead: (id: String, row: DocumentRow, lastSequence: Int64)?

  init(_ connection: Connection, named name: String, path: String, files: AttachmentFiles) throws {
    self.name = name
    self.path = path
    self.files = files
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

  func use<R>(_ body: (Connection) throws -> R) throws -> R {
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

  func nextSequence() throws(DatastoreError) -> Int64 {
    let (next, overflow) = lastSequence.addingReportingOverflow(1)
    guard !overflow else { throw .sequencesExhausted(path) }
    lastSequence = next
    return next
  }

  /// Takes back the sequence that was given last, as nothing was written under it.
  func returnSequence() {
    lastSequence -= 1
  }

  /// Saves several documents that are not there yet, in one go.
  ///
  /// - Returns: Whether all were saved; nothing has changed when an id is taken, is given twice or can't be one.
  func createDocuments(_ documents: NewDocuments) throws -> Bool {
    let (last, overflow) = lastSequence.addingReportingOverflow(Int64(documents.count))
    guard !overflow else { throw DatastoreError.sequencesExhausted(path) }
    let isDone = try use { try documents.insert(after: lastSequence, on: $0) }
    if isDone { lastSequence = last }
    return isDone
  }

  // MARK: Reading

  /// The winner of a document, as ``Datastore/document(withID:)``.
  public func document(withID id: String) throws -> DocumentRevision {
    let (document, row) = try use { try DocumentReading(connection: $0, files: files).winner(of: id) }
    lastRead = (id, row, lastSequence)
    return document
  }

  /// A revision of a document, as ``Datastore/document(withID:revision:)``.
  public func document(withID id: String, revision: RevisionID) throws -> DocumentRevision {
    try use { try DocumentReading(connection: $0, files: files).document(withID: id, revision: revision) }
  }

  /// The winners of several documents, as ``Datastore/documents(withIDs:)``.
  public func documents(withIDs ids: [String]) throws -> [DocumentRevision] {
    try use { try DocumentReading(connection: $0, files: files).documents(withIDs: ids) }
  }

  /// The row of a document, or `nil` when there is none. Every change takes a sequence, so without one since it is still
  /// the row that was read.
  func row(of id: String, on connection: Connection) throws -> DocumentRow? {
    if let lastRead, lastRead.lastSequence == lastSequence, lastRead.id.utf8.elementsEqual(id.utf8) {
      return lastRead.row
    }
    return try DocumentRow.find(id, on: connection)
  }

  /// The winner's id of a document that is there.
  package func winner(of id: String) throws -> RevisionID {
    guard let row = try use({ try DocumentRow.find(id, on: $0) }) else {
      throw DatastoreError.noSuchDocument(id)
    }
    return row.revision
  }
}
