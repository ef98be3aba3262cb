public import CDTDatastore

extension DatastoreManager {
  /// CDTDatastore's spelling of ``DatastoreManager/datastore(named:)``.
  @available(*, deprecated, renamed: "datastore(named:)")
  public func datastoreNamed(_ name: String) throws -> Datastore {
    try datastore(named: name)
  }

  /// CDTDatastore's spelling of ``DatastoreManager/closeDatastore(named:)``.
  @available(*, deprecated, renamed: "closeDatastore(named:)")
  public func closeDatastoreNamed(_ name: String) {
    closeDatastore(named: name)
  }

  /// CDTDatastore's spelling of ``DatastoreManager/deleteDatastore(named:)``.
  @available(*, deprecated, renamed: "deleteDatastore(named:)")
  public func deleteDatastoreNamed(_ name: String) throws {
    try deleteDatastore(named: name)
  }
}

extension DocumentRevision {
  /// CDTDatastore's spelling of ``DocumentRevision/init(id:body:)``.
  @available(*, deprecated, renamed: "init(id:)")
  public init(docId: String) {
    self.init(id: docId)
  }

  /// CDTDatastore's spelling of ``DocumentRevision/id``.
  @available(*, deprecated, renamed: "id")
  public var docId: String? {
    get { id }
    set { id = newValue }
  }

  /// CDTDatastore's spelling of ``DocumentRevision/revision``.
  @available(*, deprecated, renamed: "revision")
  public var revId: String? { revision?.description }
}

extension Datastore {
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

  /// CDTDatastore's spelling of ``Datastore/deleteDocument(from:)``.
  @available(*, deprecated, renamed: "deleteDocument(from:)")
  @discardableResult
  public func deleteDocumentFromRevision(_ revision: DocumentRevision) throws -> DocumentRevision {
    try deleteDocument(from: revision)
  }

  /// CDTDatastore's spelling of ``Datastore/deleteDocument(withID:)``.
  @available(*, deprecated, renamed: "deleteDocument(withID:)")
  @discardableResult
  public func deleteDocumentWithId(_ id: String) throws -> [DocumentRevision] {
    try deleteDocument(withID: id)
  }

  /// CDTDatastore's spelling of ``Datastore/document(withID:)``.
  @available(*, deprecated, renamed: "document(withID:)")
  public func getDocumentWithId(_ id: String) throws -> DocumentRevision {
    try document(withID: id)
  }

  /// CDTDatastore's spelling of ``Datastore/allDocuments()``.
  @available(*, deprecated, renamed: "allDocuments()")
  public func getAllDocuments() throws -> [DocumentRevision] {
    try allDocuments()
  }
}
