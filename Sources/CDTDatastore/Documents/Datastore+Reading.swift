extension Datastore {
  /// The winner of a document.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` when there is no such document, or it is deleted.
  /// - Complexity: O(log *n*).
  public func document(withID id: String) throws -> DocumentRevision {
    try read { try reading($0).document(withID: id) }
  }

  /// The JSON text of a document's winner in UTF-8, `_id` and `_rev` first, with no value made of it.
  ///
  /// ```swift
  /// try store.documentText(withID: "doc1")  // {"_id":"doc1","_rev":"1-1f75…","hello":"world"}
  /// ```
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` when there is no such document, or it is deleted.
  /// - Complexity: O(log *n*).
  public func documentText(withID id: String) throws -> [UInt8] {
    try read { try reading($0).documentText(withID: id) }
  }

  /// A revision of a document: any that is kept, tombstones too.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound`, also when the revision's body was compacted.
  public func document(withID id: String, revision: RevisionID) throws -> DocumentRevision {
    try readSnapshot { try reading($0).document(withID: id, revision: revision) }
  }

  /// The winners of several documents in the order asked; unknown ones are left out, deleted ones are flagged.
  public func documents(withIDs ids: [String]) throws -> [DocumentRevision] {
    try readSnapshot { try reading($0).documents(withIDs: ids) }
  }

  /// All documents that are not deleted, by id.
  public func allDocuments() throws -> [DocumentRevision] {
    try allDocuments(offset: 0)
  }

  /// A page of the documents that are not deleted, by id.
  ///
  /// - Parameters:
  ///   - offset: How many documents are passed over; fewer than none are none.
  ///   - limit: How many are given at most, or `nil` for all; fewer than none are none.
  ///   - descending: Whether the last id comes first.
  public func allDocuments(
    offset: Int, limit: Int? = nil, descending: Bool = false
  ) throws -> [DocumentRevision] {
    try read {
      try reading($0).allDocuments(offset: offset, limit: limit, descending: descending)
    }
  }

  /// The ids of all documents that are not deleted, sorted.
  public func allDocumentIDs() throws -> [String] {
    try read { try reading($0).allDocumentIDs() }
  }

  /// How many documents there are, deleted ones not counted.
  public var documentCount: Int {
    get throws { try readSnapshot { try reading($0).documentCount() } }
  }

  /// A revision and those that led to it, newest first. Revisions that were compacted have no body.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` when the revision is not kept here.
  public func revisionHistory(of revision: DocumentRevision) throws -> [DocumentRevision] {
    guard let id = revision.id else { throw DatastoreError.missingID() }
    guard let revisionID = revision.revision else { throw DatastoreError.missingRevision(id) }
    return try readSnapshot { try reading($0).history(of: id, from: revisionID) }
  }
}
