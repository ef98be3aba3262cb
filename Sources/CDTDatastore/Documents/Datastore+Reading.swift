public import CDTJSON

// Each method reads one state of the datastore; use `read` to read several things from the same state. Results and
// errors are documented in ReadTransaction.
extension Datastore {
  /// The winner of a document.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` if the document does not exist or is deleted.
  /// - Complexity: O(log *n*).
  public func document(withID id: String) throws -> DocumentRevision {
    try readOnce { try $0.document(withID: id) }
  }

  /// The JSON text of a document's winner. See ``ReadTransaction/documentText(withID:)``.
  public func documentText(withID id: String) throws -> [UInt8] {
    try readOnce { try $0.documentText(withID: id) }
  }

  /// A revision of a document. See ``ReadTransaction/document(withID:revisionID:)``.
  public func document(withID id: String, revisionID: RevisionID) throws -> DocumentRevision {
    try readState { try $0.document(withID: id, revisionID: revisionID) }
  }

  /// The winners of several documents. See ``ReadTransaction/documents(withIDs:)``.
  public func documents(withIDs ids: [String]) throws -> [DocumentRevision] {
    try readState { try $0.documents(withIDs: ids) }
  }

  /// The documents that are not deleted. See ``ReadTransaction/allDocuments(offset:limit:descending:)``.
  public func allDocuments(
    offset: Int = 0, limit: Int? = nil, descending: Bool = false
  ) throws -> [DocumentRevision] {
    try readOnce { try $0.allDocuments(offset: offset, limit: limit, descending: descending) }
  }

  /// The ids of all documents that are not deleted, sorted.
  public func allDocumentIDs() throws -> [String] {
    try readOnce { try $0.allDocumentIDs() }
  }

  /// The number of documents, excluding deleted ones.
  public func documentCount() throws -> Int {
    try readState { try $0.documentCount() }
  }

  /// A revision and its ancestors. See ``ReadTransaction/revisionHistory(of:)``.
  public func revisionHistory(of revision: DocumentRevision) throws -> [DocumentRevision] {
    try readState { try $0.revisionHistory(of: revision) }
  }

  /// The body of a local document. See ``ReadTransaction/localDocument(withID:)``.
  public func localDocument(withID id: String) throws -> JSONObject? {
    try readOnce { try $0.localDocument(withID: id) }
  }

  /// The ids of all local documents, sorted.
  public func localDocumentIDs() throws -> [String] {
    try readOnce { try $0.localDocumentIDs() }
  }

  /// The ids of the documents that have more than one leaf that is not deleted, sorted.
  ///
  /// Source: `docs/conflicts.md`, Finding conflicts.
  public func conflictedDocumentIDs() throws -> [String] {
    try readOnce { try $0.conflictedDocumentIDs() }
  }

  /// The leaves of a document that are not deleted. See ``ReadTransaction/liveRevisions(ofDocument:)``.
  public func liveRevisions(ofDocument id: String) throws -> [DocumentRevision] {
    try readState { try $0.liveRevisions(ofDocument: id) }
  }

  /// The given revisions that are not in a document's tree. See ``ReadTransaction/missingRevisions(of:among:)``.
  public func missingRevisions(of id: String, among revisionIDs: [RevisionID]) throws -> [RevisionID] {
    try readState { try $0.missingRevisions(of: id, among: revisionIDs) }
  }

  /// The documents that changed since a sequence. See ``ReadTransaction/changes(since:limit:)``.
  ///
  /// Source: `docs/changes.md`, Asking.
  public func changes(since sequence: Int64 = 0, limit: Int? = nil) throws -> Changes {
    try readOnce { try $0.changes(since: sequence, limit: limit) }
  }

  /// The sequence of the newest write; 0 in an empty datastore.
  public func lastSequence() throws -> Int64 {
    try readOnce { try $0.lastSequence() }
  }
}

// The asynchronous forms. They run on the datastore's threads, end within milliseconds of their task's cancellation,
// and respect `Datastore.withDeadline`.
extension Datastore {
  /// The winner of a document.
  public func document(withID id: String) async throws -> DocumentRevision {
    try await readOnce { try $0.document(withID: id) }
  }

  /// The JSON text of a document's winner. See ``ReadTransaction/documentText(withID:)``.
  public func documentText(withID id: String) async throws -> [UInt8] {
    try await readOnce { try $0.documentText(withID: id) }
  }

  /// A revision of a document. See ``ReadTransaction/document(withID:revisionID:)``.
  public func document(withID id: String, revisionID: RevisionID) async throws -> DocumentRevision {
    try await readState { try $0.document(withID: id, revisionID: revisionID) }
  }

  /// The winners of several documents. See ``ReadTransaction/documents(withIDs:)``.
  public func documents(withIDs ids: [String]) async throws -> [DocumentRevision] {
    try await readState { try $0.documents(withIDs: ids) }
  }

  /// The documents that are not deleted. See ``ReadTransaction/allDocuments(offset:limit:descending:)``.
  public func allDocuments(
    offset: Int = 0, limit: Int? = nil, descending: Bool = false
  ) async throws -> [DocumentRevision] {
    try await readOnce { try $0.allDocuments(offset: offset, limit: limit, descending: descending) }
  }

  /// The ids of all documents that are not deleted, sorted.
  public func allDocumentIDs() async throws -> [String] {
    try await readOnce { try $0.allDocumentIDs() }
  }

  /// The number of documents, excluding deleted ones.
  public func documentCount() async throws -> Int {
    try await readState { try $0.documentCount() }
  }

  /// A revision and its ancestors. See ``ReadTransaction/revisionHistory(of:)``.
  public func revisionHistory(of revision: DocumentRevision) async throws -> [DocumentRevision] {
    try await readState { try $0.revisionHistory(of: revision) }
  }

  /// The body of a local document. See ``ReadTransaction/localDocument(withID:)``.
  public func localDocument(withID id: String) async throws -> JSONObject? {
    try await readOnce { try $0.localDocument(withID: id) }
  }

  /// The ids of all local documents, sorted.
  public func localDocumentIDs() async throws -> [String] {
    try await readOnce { try $0.localDocumentIDs() }
  }

  /// The ids of the documents that have more than one leaf that is not deleted, sorted.
  public func conflictedDocumentIDs() async throws -> [String] {
    try await readOnce { try $0.conflictedDocumentIDs() }
  }

  /// The leaves of a document that are not deleted. See ``ReadTransaction/liveRevisions(ofDocument:)``.
  public func liveRevisions(ofDocument id: String) async throws -> [DocumentRevision] {
    try await readState { try $0.liveRevisions(ofDocument: id) }
  }

  /// The given revisions that are not in a document's tree. See ``ReadTransaction/missingRevisions(of:among:)``.
  public func missingRevisions(of id: String, among revisionIDs: [RevisionID]) async throws -> [RevisionID] {
    try await readState { try $0.missingRevisions(of: id, among: revisionIDs) }
  }

  /// The documents that changed since a sequence. See ``ReadTransaction/changes(since:limit:)``.
  public func changes(since sequence: Int64 = 0, limit: Int? = nil) async throws -> Changes {
    try await readOnce { try $0.changes(since: sequence, limit: limit) }
  }

  /// The sequence of the newest write; 0 in an empty datastore.
  public func lastSequence() async throws -> Int64 {
    try await readOnce { try $0.lastSequence() }
  }
}
