import Dispatch
public import JSON
import SQLite

extension Datastore {
  /// Runs several writes as one: when the closure returns they are on disk, when it throws nothing has changed.
  ///
  /// The closure is synchronous, as nothing may wait within a transaction; its own errors come through as they are.
  ///
  /// - Throws: ``DatastoreError``: `.busy` when another process writes for too long, `.full`, `.nestedWrite` within
  ///   another write of the same thread; and what the closure throws.
  public func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    let extensions = try currentExtensions()
    let result = try withWriter { writer in
      do {
        let result = try writer.transaction { connection in
          let transaction = try WriteTransaction(
            connection, named: name, path: databasePath, files: attachmentFiles)
          defer { transaction.end() }
          let before = transaction.lastSequence
          let result = try body(transaction)
          try transaction.checkIntact()
          let pending = PendingWrite(
            connection: connection, previousSequence: before, lastSequence: transaction.lastSequence)
          for each in extensions { each.willCommit(pending) }
          return result
        }
        for each in extensions { each.didCommit() }
        return result
      } catch {
        for each in extensions { each.didRollBack() }
        throw error
      }
    }
    changeListeners.didCommit()
    return result
  }

  /// Runs several writes as one, without blocking the caller's thread while it waits for its turn and for the disk.
  public func write<R: Sendable>(_ body: @escaping @Sendable (WriteTransaction) throws -> R) async throws -> R
  {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Result { try self.write(body) })
      }
    }
  }

  /// Saves a revision as a new document.
  ///
  /// ```swift
  /// let saved = try store.createDocument(from: DocumentRevision(id: "doc1", body: ["hello": "world"]))
  /// saved.revision?.description  // "1-1f7588ca02054efe626a6e440a431861"
  /// ```
  ///
  /// An id is made when there is none. A deleted document of that id is continued.
  ///
  /// - Returns: The revision with its ids.
  /// - Throws: ``DatastoreError``: `.missingBody`, `.invalidID`, `.reservedKey`, `.invalidBody`, `.invalidAttachment`,
  ///   `.conflict` when the document exists.
  @discardableResult
  public func createDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    let revision = try staging(revision)
    return try write { try $0.createDocument(from: revision) }
  }

  /// Saves a change: the revision's body becomes a child of the revision that was read.
  ///
  /// - Returns: The new revision.
  /// - Throws: ``DatastoreError``: `.conflict` when the revision is no current leaf of the document, `.notFound`,
  ///   `.missingBody`, `.reservedKey`, `.invalidBody`, `.invalidAttachment`.
  @discardableResult
  public func updateDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    let revision = try staging(revision)
    return try write { try $0.updateDocument(from: revision) }
  }

  /// Replaces the body of a revision that is known by its id alone, as ``updateDocument(from:)``. Attachments stay.
  @discardableResult
  public func updateDocument(
    withID id: String, revision: RevisionID, body: JSONObject
  ) throws -> DocumentRevision {
    try write { transaction in
      let made = try transaction.updateDocument(id: id, revision: revision, body: BodyText(body, id: id))
      return try transaction.document(withID: id, revision: made.revision)
    }
  }

  /// Reads the winner of a document, lets a closure change it, and saves it, all in one transaction.
  ///
  /// ```swift
  /// try store.updateDocument(withID: "counter") { counter in
  ///   counter.body["n"] = .int((counter.body["n"]?.intValue ?? 0) + 1)
  /// }
  /// ```
  ///
  /// No other write comes between reading and saving, so there is no conflict, and nothing is repeated: the closure runs
  /// once. A closure that changes nothing saves nothing. After an error nothing has changed, and the call can be made
  /// again; only `.busy` goes away by that alone.
  ///
  /// - Returns: The new revision.
  /// - Throws: ``DatastoreError``: `.notFound`, also for a deleted document; `.busy`, `.reservedKey`, `.invalidBody`;
  ///   and what the closure throws.
  ///
  /// Source: `docs/crud.md`, Update.
  @discardableResult
  public func updateDocument(
    withID id: String, _ change: (inout DocumentRevision) throws -> Void
  ) throws -> DocumentRevision {
    try write { try $0.updateDocument(withID: id, change) }
  }

  /// Adds a tombstone to a revision. Where the document is conflicted, another leaf becomes the winner.
  ///
  /// - Returns: The tombstone.
  /// - Throws: ``DatastoreError``: `.conflict` when the revision is no current leaf, `.notFound`, also for one that is a
  ///   tombstone already.
  @discardableResult
  public func deleteDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    try write { try $0.deleteDocument(from: revision) }
  }

  /// Deletes a document in its entirety: every leaf that lives gets a tombstone, conflicts too.
  ///
  /// - Returns: The tombstones, of the newest leaf first.
  /// - Throws: ``DatastoreError`` with the code `.notFound` when there is no such document, or it is deleted.
  @discardableResult
  public func deleteDocument(withID id: String) throws -> [DocumentRevision] {
    try write { try $0.deleteDocument(withID: id) }
  }

  /// The revision with its attachments copied into the store's directory as far as that takes long, so that the write
  /// that follows is short.
  private func staging(_ revision: DocumentRevision) throws -> DocumentRevision {
    guard !revision.attachments.isEmpty else { return revision }
    var revision = revision
    revision.attachments = try staging(revision.attachments, of: revision.id)
    return revision
  }

  func staging(_ attachments: Attachments, of id: String?) throws -> Attachments {
    if attachments.isEmpty { return attachments }
    try checkOpen()
    try AttachmentSaving.check(attachments, of: id)
    return try AttachmentSaving(files: attachmentFiles).staged(attachments)
  }
}
