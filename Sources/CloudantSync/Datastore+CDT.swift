public import CDTDatastore

// In CDTDatastore the calls without an error parameter gave nothing when they failed. They do so here, as code that calls
// them has no `try`; the new spellings throw the reason.

extension Datastore {
  // MARK: Writing

  /// CDTDatastore's spelling of ``Datastore/createDocument(from:)``.
  @available(*, deprecated, renamed: "createDocument(from:)")
  @discardableResult
  public func createDocumentFromRevision(_ revision: DocumentRevision) throws -> DocumentRevision {
    try createDocument(from: revision)
  }

  /// CDTDatastore's spelling of ``Datastore/updateDocument(from:)``.
  @available(*, deprecated, renamed: "updateDocument(from:)")
  @discardableResult
  public func updateDocumentFromRevision(_ revision: DocumentRevision) throws -> DocumentRevision {
    try updateDocument(from: revision)
  }

  /// The spelling that CDTDatastore's guide had for ``Datastore/updateDocument(from:)``.
  @available(*, deprecated, renamed: "updateDocument(from:)")
  @discardableResult
  public func updateDocumentForRevision(_ revision: DocumentRevision) throws -> DocumentRevision {
    try updateDocument(from: revision)
  }

  /// CDTDatastore's spelling of ``Datastore/deleteDocument(from:)``. No revision is refused like one without an id.
  @available(*, deprecated, renamed: "deleteDocument(from:)")
  @discardableResult
  public func deleteDocumentFromRevision(_ revision: DocumentRevision?) throws -> DocumentRevision {
    try deleteDocument(from: revision ?? DocumentRevision())
  }

  /// CDTDatastore's spelling of ``Datastore/deleteDocument(withID:)``.
  @available(*, deprecated, renamed: "deleteDocument(withID:)")
  @discardableResult
  public func deleteDocumentWithId(_ id: String) throws -> [DocumentRevision] {
    try deleteDocument(withID: id)
  }

  /// CDTDatastore's spelling of ``Datastore/compact()``.
  @available(*, deprecated, renamed: "compact()")
  public func compactWithError() throws {
    try compact()
  }

  // MARK: Reading

  /// CDTDatastore's spelling of ``Datastore/document(withID:)``.
  @available(*, deprecated, renamed: "document(withID:)")
  public func getDocumentWithId(_ id: String) throws -> DocumentRevision {
    try document(withID: id)
  }

  /// CDTDatastore's spelling of ``Datastore/document(withID:revision:)``.
  ///
  /// - Throws: ``DatastoreError``, with the code `.invalidRevision` for text that is no revision id.
  @available(*, deprecated, renamed: "document(withID:revision:)")
  public func getDocumentWithId(_ id: String, rev: String) throws -> DocumentRevision {
    guard let revision = RevisionID(rev) else { throw DatastoreError.noRevisionID(rev, of: id) }
    return try document(withID: id, revision: revision)
  }

  /// The spelling that CDTDatastore's guide had for ``Datastore/document(withID:)``; `nil` when there is no document, or
  /// it can't be read.
  @available(*, deprecated, renamed: "document(withID:)")
  public func getDocumentForId(_ id: String) -> DocumentRevision? {
    try? document(withID: id)
  }

  /// CDTDatastore's spelling of ``Datastore/documents(withIDs:)``; nothing when they can't be read.
  @available(*, deprecated, renamed: "documents(withIDs:)")
  public func getDocumentsWithIds(_ ids: [String]) -> [DocumentRevision] {
    (try? documents(withIDs: ids)) ?? []
  }

  /// CDTDatastore's spelling of ``Datastore/allDocuments()``; nothing when they can't be read.
  @available(*, deprecated, renamed: "allDocuments()")
  public func getAllDocuments() -> [DocumentRevision] {
    (try? allDocuments()) ?? []
  }

  /// CDTDatastore's spelling of ``Datastore/allDocuments(offset:limit:descending:)``; nothing when they can't be read.
  @available(*, deprecated, renamed: "allDocuments(offset:limit:descending:)")
  public func getAllDocumentsOffset(_ offset: Int, limit: Int, descending: Bool) -> [DocumentRevision] {
    (try? allDocuments(offset: offset, limit: limit, descending: descending)) ?? []
  }

  /// CDTDatastore's spelling of ``Datastore/allDocumentIDs()``; nothing when they can't be read.
  @available(*, deprecated, renamed: "allDocumentIDs()")
  public func getAllDocumentIds() -> [String] {
    (try? allDocumentIDs()) ?? []
  }

  /// CDTDatastore's spelling of ``Datastore/revisionHistory(of:)``; nothing when it can't be read.
  @available(*, deprecated, renamed: "revisionHistory(of:)")
  public func getRevisionHistory(_ revision: DocumentRevision) -> [DocumentRevision] {
    (try? revisionHistory(of: revision)) ?? []
  }

  /// CDTDatastore's spelling of ``Datastore/extensionDirectory(named:)``.
  @available(*, deprecated, renamed: "extensionDirectory(named:)")
  public func extensionDataFolder(_ name: String) throws -> String {
    try extensionDirectory(named: name)
  }
}
