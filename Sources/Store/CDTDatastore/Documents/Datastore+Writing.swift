import CDTJSON
import CDTPlatform
import CDTSQLite

extension Datastore {
  /// Saves a new document.
  ///
  /// ```swift
  /// let saved = try store.createDocument(from: DocumentDraft(id: "doc1", body: ["hello": "world"]))
  /// saved.revisionID.description  // "1-1f7588ca02054efe626a6e440a431861"
  /// ```
  ///
  /// A draft without an id gets a generated one. If a document of that id was deleted, the new revision continues its
  /// history.
  ///
  /// - Returns: The first revision.
  /// - Throws: ``DatastoreError``: `.invalidID`, `.reservedKey`, `.invalidBody`, `.invalidAttachment`, `.conflict` if
  ///   the document exists.
  /// - Complexity: O(log *n*).
  @discardableResult
  public func createDocument(from draft: DocumentDraft) throws -> DocumentRevision {
    try create(draft, stop: nil)
  }

  /// Saves a changed document: the body becomes a child of the revision that you read.
  ///
  /// - Returns: The new revision.
  /// - Throws: ``DatastoreError``: `.conflict` if the revision is not a current leaf of the document, `.notFound`,
  ///   `.missingBody`, `.reservedKey`, `.invalidBody`, `.invalidAttachment`.
  /// - Complexity: O(log *n*).
  @discardableResult
  public func updateDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    try update(revision, stop: nil)
  }

  /// Reads a document's winner, lets a closure change it, and saves it, in one transaction.
  ///
  /// ```swift
  /// try store.updateDocument(withID: "counter") { counter in
  ///   counter.body["n"] = (counter.body["n"]?.intValue ?? 0) + 1
  /// }
  /// ```
  ///
  /// No other write can come between reading and saving, so there is no conflict, and the closure runs once. If the
  /// closure changes nothing, nothing is saved. After an error nothing has changed, and you can call the method again;
  /// only `.busy` can go away without a change of yours.
  ///
  /// - Returns: The new revision.
  /// - Throws: ``DatastoreError``: `.notFound`, also for a deleted document; `.busy`, `.reservedKey`, `.invalidBody`;
  ///   and the errors of the closure.
  ///
  /// See <doc:WorkingWithDocuments#Update>.
  @discardableResult
  public func updateDocument(
    withID id: String, _ change: (inout DocumentRevision) throws -> Void
  ) throws -> DocumentRevision {
    try write { try $0.updateDocument(withID: id, change) }
  }

  /// Adds a tombstone to a revision. If the document has a conflict, another leaf becomes the winner.
  ///
  /// - Parameter revision: The revision; it may have only some of its fields.
  /// - Returns: The tombstone.
  /// - Throws: ``DatastoreError``: `.conflict` if the revision is not a current leaf, `.notFound`, also for a
  ///   tombstone.
  @discardableResult
  public func deleteDocument(from revision: DocumentRevision) throws -> DocumentRevision {
    try write { try $0.deleteDocument(from: revision) }
  }

  /// Deletes a whole document: every leaf that is not deleted gets a tombstone, including conflicts.
  ///
  /// - Returns: The tombstones, newest leaf first.
  /// - Throws: ``DatastoreError`` with the code `.notFound` if the document does not exist or is deleted.
  @discardableResult
  public func deleteDocument(withID id: String) throws -> [DocumentRevision] {
    try write { try $0.deleteDocument(withID: id) }
  }

  // MARK: Asynchronous forms

  /// Saves a new document, on one of the datastore's threads.
  @discardableResult
  public func createDocument(from draft: DocumentDraft) async throws -> DocumentRevision {
    try await writes.run { try self.create(draft, stop: $0) }
  }

  /// Saves a changed document, on one of the datastore's threads.
  @discardableResult
  public func updateDocument(from revision: DocumentRevision) async throws -> DocumentRevision {
    try await writes.run { try self.update(revision, stop: $0) }
  }

  /// Reads, changes and saves a document in one transaction, on one of the datastore's threads.
  @discardableResult
  public func updateDocument(
    withID id: String, _ change: @escaping @Sendable (inout DocumentRevision) throws -> Void
  ) async throws -> DocumentRevision {
    try await write { try $0.updateDocument(withID: id, change) }
  }

  /// Adds a tombstone to a revision, on one of the datastore's threads.
  @discardableResult
  public func deleteDocument(from revision: DocumentRevision) async throws -> DocumentRevision {
    try await write { try $0.deleteDocument(from: revision) }
  }

  /// Deletes a whole document, on one of the datastore's threads.
  @discardableResult
  public func deleteDocument(withID id: String) async throws -> [DocumentRevision] {
    try await write { try $0.deleteDocument(withID: id) }
  }

  // MARK: Staging

  private func create(_ draft: DocumentDraft, stop: StopSignal?) throws -> DocumentRevision {
    var draft = draft
    draft.attachments = try staging(draft.attachments, of: draft.id)
    return try write(stop: stop) { try $0.createDocument(from: draft) }
  }

  private func update(_ revision: DocumentRevision, stop: StopSignal?) throws -> DocumentRevision {
    var revision = revision
    // Without attachments, the body need not be decoded.
    if !revision.attachments.isEmpty {
      revision.attachments = try staging(revision.attachments, of: revision.id)
    }
    return try write(stop: stop) { try $0.updateDocument(from: revision) }
  }

  /// Copies large attachments into the store's directory, so that the following write is short.
  func staging(_ attachments: Attachments, of id: String?) throws -> Attachments {
    if attachments.isEmpty { return attachments }
    try checkOpen()
    try AttachmentSaving.check(attachments, of: id)
    return try AttachmentSaving(files: attachmentFiles).staged(attachments)
  }

  /// Copies large attachments into the store's directory, without blocking the calling thread.
  package func staging(_ attachments: Attachments, of id: String?) async throws -> Attachments {
    if attachments.isEmpty { return attachments }
    return try await WorkQueue.files.run { _ in try self.staging(attachments, of: id) }
  }
}
