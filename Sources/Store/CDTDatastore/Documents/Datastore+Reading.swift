// Shorthands for the reads that apps need daily; ``Datastore/read(_:)`` has all of them. Results and errors are documented in
// ReadTransaction.
extension Datastore {
  /// The winner of a document.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` if the document does not exist or is deleted.
  /// - Complexity: O(log *n*).
  public func document(withID id: String) throws -> DocumentRevision {
    try readDocuments { try $0.document(withID: id) }
  }

  /// The winners of several documents. See ``ReadTransaction/documents(withIDs:)``.
  public func documents(withIDs ids: [String]) throws -> [DocumentRevision] {
    try readDocuments { try $0.documents(withIDs: ids) }
  }

  /// The documents that changed since a sequence. See ``ReadTransaction/changes(since:limit:)``.
  ///
  /// See <doc:FollowingChanges#Asking>.
  public func changes(since sequence: Int64 = 0, limit: Int? = nil) throws -> Changes {
    try readDocuments { try $0.changes(since: sequence, limit: limit) }
  }

  // The asynchronous forms run on the datastore's threads, end within milliseconds of their task's cancellation, and
  // respect `Datastore.withDeadline`.

  /// The winner of a document, read on one of the datastore's threads.
  public func document(withID id: String) async throws -> DocumentRevision {
    try await readDocuments { try $0.document(withID: id) }
  }

  /// The winners of several documents, read on one of the datastore's threads.
  public func documents(withIDs ids: [String]) async throws -> [DocumentRevision] {
    try await readDocuments { try $0.documents(withIDs: ids) }
  }

  /// The documents that changed since a sequence, read on one of the datastore's threads.
  public func changes(since sequence: Int64 = 0, limit: Int? = nil) async throws -> Changes {
    try await readDocuments { try $0.changes(since: sequence, limit: limit) }
  }
}
