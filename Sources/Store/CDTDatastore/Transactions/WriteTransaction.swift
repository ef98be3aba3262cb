import CDTPlatform
package import CDTSQLite

/// A transaction of several writes.
///
/// ```swift
/// try store.write { transaction in
///   let from = try transaction.document(withID: "alice")
///   try transaction.updateDocument(from: from)
///   try transaction.createDocument(from: DocumentDraft(body: ["amount": 10]))
/// }
/// ```
///
/// Its reads see its writes. The transaction ends when its closure returns; later use throws `.closed`.
///
/// See <doc:WorkingWithDocuments#Transactions>.
public final class WriteTransaction: ReadTransaction {
  private var failure: DatastoreError?
  /// The sequence of the last write.
  private(set) var sequence: Int64
  /// The newest sequence before the transaction.
  package let firstSequence: Int64
  /// The sequences of changes that were made elsewhere, by a replicator's source.
  private(set) var replicatedSequences = RangeSet<Int64>()
  private var replicatedCount: Int64 = 0
  /// The number of the document that is being deleted because it is hidden.
  var deleting: Int64?
  /// The sequence of the last change of a design document; `nil` before the first.
  package private(set) var lastDesignSequence: Int64?
  /// Whether attachments were saved whose file names may not be synced yet.
  private var hasNewFileNames = false
  /// The marks that say when changes were written.
  var arrivals = ArrivalMarks()
  /// The cleanup of an extension after the transaction, committed or not, on the same connection.
  package var cleanUp: (() -> Void)?

  var files: AttachmentFiles { store.attachmentFiles }
  private var path: String { store.databasePath }

  override init(_ connection: Connection, of store: Datastore, sortMemory: Int, stop: StopSignal?) throws {
    sequence = try connection.scalar("SELECT max(sequence) FROM documents")
    firstSequence = sequence
    try super.init(connection, of: store, sortMemory: sortMemory, stop: stop)
  }

  /// Refuses to go on after the database has failed within a change: part of the change may have been made, or SQLite
  /// may have ended the transaction. A closure that passes over the error must not have that committed.
  func checkIntact() throws {
    if let failure { throw failure }
    guard try connection().isInTransaction else { throw DatastoreError(.transactionEnded(path)) }
  }

  package override func use<R>(_ body: (Connection) throws -> R) throws -> R {
    let connection = try connection()
    try checkIntact()
    do {
      return try body(connection)
    } catch let error as SQLiteError {
      let mapped = DatastoreError(error, path: path)
      failure = mapped
      try stop?.check()
      throw mapped
    } catch let error as DatastoreError where error.code == .corrupt {
      failure = error
      throw error
    }
  }

  /// The sequence of a change of a document.
  func nextSequence(of id: String) throws -> Int64 {
    let (next, overflow) = sequence.addingReportingOverflow(1)
    guard !overflow else { throw DatastoreError(.sequencesExhausted(path)) }
    try noteArrival(next)
    sequence = next
    if DocumentID.isDesign(id) { lastDesignSequence = next }
    return next
  }

  private func noteArrival(_ sequence: Int64) throws {
    let user = deleting == nil ? view.rules?.sender : nil
    try use {
      try arrivals.note(sequence, by: user, now: Int64(Date.now.timeIntervalSince1970), on: $0)
    }
  }

  /// Ends the marks of the transaction before it is committed.
  func endArrivals() throws {
    guard sequence > firstSequence else { return }
    try use { try arrivals.finish(on: $0) }
  }

  /// The sequence of a change of a document that was made elsewhere.
  func nextReplicatedSequence(of id: String) throws -> Int64 {
    // A document that the transaction has also changed itself keeps counting as changed here.
    var isChangedHere = false
    if sequence - firstSequence > replicatedCount,
      let known = try use({ try DocumentRow.find(id, on: $0) })?.sequence
    {
      isChangedHere = known > firstSequence && !replicatedSequences.contains(known)
    }
    let next = try nextSequence(of: id)
    if !isChangedHere {
      replicatedSequences.insert(contentsOf: next..<next + 1)
      replicatedCount += 1
    }
    return next
  }

  /// Saves several new documents at once.
  ///
  /// - Returns: Whether all were saved; nothing has changed if an id exists, occurs twice or is invalid, or if rules are enforced.
  package func createDocuments(_ documents: NewDocuments) throws -> Bool {
    if view.rules != nil { return false }
    let (last, overflow) = sequence.addingReportingOverflow(Int64(documents.count))
    guard !overflow else { throw DatastoreError(.sequencesExhausted(path)) }
    let isDone = try use { try documents.insert(after: sequence, on: $0) }
    if isDone {
      try noteArrival(sequence + 1)
      sequence = last
      if documents.haveDesignDocuments { lastDesignSequence = last }
    }
    return isDone
  }

  // MARK: Attachments

  /// Saves the content of each attachment of a revision. See ``AttachmentSaving/rows(for:known:generation:)``.
  func save(
    _ attachments: Attachments, known: [AttachmentRow], generation: Int
  ) throws -> [AttachmentRow] {
    let saved = try AttachmentSaving(files: files).rows(
      for: attachments, known: known, generation: generation)
    if saved.haveNewNames { hasNewFileNames = true }
    return saved.rows
  }

  /// Gives content its name in the directory of attachments.
  package func publish(_ staged: StagedFile) throws {
    try files.publish(staged)
    hasNewFileNames = true
  }

  /// Syncs the names of new files to disk, before the commit of what refers to them.
  func synchronizeFileNames() throws {
    if hasNewFileNames { try files.synchronize() }
    hasNewFileNames = false
  }

  // MARK: Reading

  /// The winner of a document, which may be a tombstone; `nil` if there is no document.
  package func currentRevision(of id: String) throws -> (id: RevisionID, isDeleted: Bool)? {
    try use { try rowToChange(id, on: $0) }.map { ($0.revision, $0.isDeleted) }
  }

  /// The id of an existing document's winner.
  package func winner(of id: String) throws -> RevisionID {
    guard let row = try use({ try rowToChange(id, on: $0) }) else {
      throw DatastoreError(.noSuchDocument(id))
    }
    return row.revision
  }
}
