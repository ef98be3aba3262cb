public import CDTDatastore

// In CDTDatastore, methods without an error parameter returned nothing when they failed. These methods do the same, as
// their callers have no `try`; the new ones throw the reason.

extension Datastore {
  // MARK: Writing

  /// CDTDatastore's form of `Datastore.createDocument(from:)`.
  @available(*, deprecated, renamed: "createDocument(from:)")
  @discardableResult
  public func createDocumentFromRevision(_ revision: CDTDocumentRevision) throws -> CDTDocumentRevision {
    CDTDocumentRevision(try createDocument(from: revision.draft()))
  }

  /// CDTDatastore's form of `Datastore.updateDocument(from:)`.
  @available(*, deprecated, renamed: "updateDocument(from:)")
  @discardableResult
  public func updateDocumentFromRevision(_ revision: CDTDocumentRevision) throws -> CDTDocumentRevision {
    CDTDocumentRevision(try updateDocument(from: revision.revision()))
  }

  /// The form of `Datastore.updateDocument(from:)` in CDTDatastore's guide.
  @available(*, deprecated, renamed: "updateDocument(from:)")
  @discardableResult
  public func updateDocumentForRevision(_ revision: CDTDocumentRevision) throws -> CDTDocumentRevision {
    CDTDocumentRevision(try updateDocument(from: revision.revision()))
  }

  /// CDTDatastore's form of `Datastore.deleteDocument(from:)`. `nil` throws, like a revision without an id.
  @available(*, deprecated, renamed: "deleteDocument(from:)")
  @discardableResult
  public func deleteDocumentFromRevision(_ revision: CDTDocumentRevision?) throws -> CDTDocumentRevision {
    CDTDocumentRevision(try deleteDocument(from: (revision ?? CDTDocumentRevision()).revision()))
  }

  /// CDTDatastore's form of `Datastore.deleteDocument(withID:)`.
  @available(*, deprecated, renamed: "deleteDocument(withID:)")
  @discardableResult
  public func deleteDocumentWithId(_ id: String) throws -> [CDTDocumentRevision] {
    try deleteDocument(withID: id).map { CDTDocumentRevision($0) }
  }

  /// CDTDatastore's form of `Datastore.compact()`.
  @available(*, deprecated, renamed: "compact()")
  public func compactWithError() throws {
    try compact()
  }

  // MARK: Names since Swift 3

  /// CDTDatastore's form of `Datastore.createDocument(from:)`.
  @available(*, deprecated, message: "pass a DocumentDraft")
  @discardableResult
  public func createDocument(from revision: CDTDocumentRevision) throws -> CDTDocumentRevision {
    try createDocumentFromRevision(revision)
  }

  /// CDTDatastore's form of `Datastore.updateDocument(from:)`.
  @available(*, deprecated, message: "pass a DocumentRevision")
  @discardableResult
  public func updateDocument(from revision: CDTDocumentRevision) throws -> CDTDocumentRevision {
    try updateDocumentFromRevision(revision)
  }

  /// CDTDatastore's form of `Datastore.deleteDocument(from:)`.
  @available(*, deprecated, message: "pass a DocumentRevision")
  @discardableResult
  public func deleteDocument(from revision: CDTDocumentRevision) throws -> CDTDocumentRevision {
    try deleteDocumentFromRevision(revision)
  }

  /// CDTDatastore's form of `Datastore.deleteDocument(withID:)`.
  @available(*, deprecated, renamed: "deleteDocument(withID:)")
  @discardableResult
  public func deleteDocument(withId id: String) throws -> [CDTDocumentRevision] {
    try deleteDocumentWithId(id)
  }

  /// CDTDatastore's form of `Datastore.document(withID:)`.
  @available(*, deprecated, renamed: "document(withID:)")
  public func getDocument(withId id: String) throws -> CDTDocumentRevision {
    try getDocumentWithId(id)
  }

  /// CDTDatastore's form of `ReadTransaction.document(withID:revisionID:)`.
  @available(*, deprecated, message: "use read { try $0.document(withID:revisionID:) }")
  public func getDocument(withId id: String, rev: String) throws -> CDTDocumentRevision {
    try getDocumentWithId(id, rev: rev)
  }

  /// CDTDatastore's form of `Datastore.documents(withIDs:)`; empty if they can't be read.
  @available(*, deprecated, renamed: "documents(withIDs:)")
  public func getDocuments(withIds ids: [String]) -> [CDTDocumentRevision] {
    getDocumentsWithIds(ids)
  }

  // MARK: Reading

  /// CDTDatastore's form of `Datastore.document(withID:)`.
  @available(*, deprecated, renamed: "document(withID:)")
  public func getDocumentWithId(_ id: String) throws -> CDTDocumentRevision {
    CDTDocumentRevision(try document(withID: id))
  }

  /// CDTDatastore's form of `ReadTransaction.document(withID:revisionID:)`.
  ///
  /// - Throws: `DatastoreError`, with the code `.invalidRevision` for an invalid revision id.
  @available(*, deprecated, message: "use read { try $0.document(withID:revisionID:) }")
  public func getDocumentWithId(_ id: String, rev: String) throws -> CDTDocumentRevision {
    guard let revision = RevisionID(rev) else { throw DatastoreError(.noRevisionID(rev, of: id)) }
    return CDTDocumentRevision(try read { try $0.document(withID: id, revisionID: revision) })
  }

  /// The form of `Datastore.document(withID:)` in CDTDatastore's guide; `nil` if the document does not exist or can't
  /// be read.
  @available(*, deprecated, renamed: "document(withID:)")
  public func getDocumentForId(_ id: String) -> CDTDocumentRevision? {
    (try? document(withID: id)).map { CDTDocumentRevision($0) }
  }

  /// CDTDatastore's form of `Datastore.documents(withIDs:)`; empty if they can't be read.
  @available(*, deprecated, renamed: "documents(withIDs:)")
  public func getDocumentsWithIds(_ ids: [String]) -> [CDTDocumentRevision] {
    ((try? documents(withIDs: ids)) ?? []).map { CDTDocumentRevision($0) }
  }

  /// CDTDatastore's form of `ReadTransaction.allDocuments(offset:limit:descending:)`; empty if they can't be read.
  @available(*, deprecated, message: "use read { try $0.allDocuments(offset:limit:descending:) }")
  public func getAllDocuments() -> [CDTDocumentRevision] {
    ((try? read { try $0.allDocuments() }) ?? []).map { CDTDocumentRevision($0) }
  }

  /// CDTDatastore's form of `ReadTransaction.allDocuments(offset:limit:descending:)`; empty if they can't be read.
  @available(*, deprecated, message: "use read { try $0.allDocuments(offset:limit:descending:) }")
  public func getAllDocumentsOffset(_ offset: Int, limit: Int, descending: Bool) -> [CDTDocumentRevision] {
    ((try? read { try $0.allDocuments(offset: offset, limit: limit, descending: descending) }) ?? []).map {
      CDTDocumentRevision($0)
    }
  }

  /// CDTDatastore's form of `ReadTransaction.allDocumentIDs()`; empty if they can't be read.
  @available(*, deprecated, message: "use read { try $0.allDocumentIDs() }")
  public func getAllDocumentIds() -> [String] {
    (try? read { try $0.allDocumentIDs() }) ?? []
  }

  /// CDTDatastore's form of `ReadTransaction.revisionHistory(of:)`; empty if it can't be read.
  @available(*, deprecated, message: "use read { try $0.revisionHistory(of:) }")
  public func getRevisionHistory(_ revision: CDTDocumentRevision) -> [CDTDocumentRevision] {
    ((try? read { try $0.revisionHistory(of: revision.revision()) }) ?? []).map { CDTDocumentRevision($0) }
  }

  /// CDTDatastore's form of `Datastore.extensionDirectory(named:)`.
  @available(*, deprecated, renamed: "extensionDirectory(named:)")
  public func extensionDataFolder(_ name: String) throws -> String {
    try extensionDirectory(named: name)
  }
}
