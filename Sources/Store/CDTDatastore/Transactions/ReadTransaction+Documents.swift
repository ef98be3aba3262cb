public import CDTJSON
import CDTSQLite

extension ReadTransaction {
  /// The bytes of the database's free pages, which later writes use.
  package func freeBytes() throws -> Int64 {
    try use { try $0.scalar("PRAGMA freelist_count") * $0.scalar("PRAGMA page_size") }
  }

  /// The bytes of the database, and those of them that compaction frees: free pages, and the bodies of revisions that are not leaves.
  ///
  /// - Complexity: O(*n*) in the number of revisions that are not winners and the bytes of their bodies.
  package func usage() throws -> (size: Int64, useless: Int64) {
    try use { connection in
      let page = try connection.scalar("PRAGMA page_size")
      let bodies = try connection.scalar(
        "SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM revisions WHERE NOT leaf AND body IS NOT NULL"
      )
      return (
        try connection.scalar("PRAGMA page_count") * page,
        try connection.scalar("PRAGMA freelist_count") * page + bodies
      )
    }
  }

  /// The JSON text of a document's winner in UTF-8, `_id` and `_rev` first, without decoding the body.
  ///
  /// ```swift
  /// try store.read { try $0.documentText(withID: "doc1") }  // {"_id":"doc1","_rev":"1-1f75…","hello":"world"}
  /// ```
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` if the document does not exist or is deleted.
  /// - Complexity: O(log *n*).
  public func documentText(withID id: String) throws -> [UInt8] {
    try reading(id) { try $0.documentText(withID: id) }
  }

  /// A stored revision of a document, which may be a tombstone.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound`, also if the revision was compacted.
  /// - Complexity: O(log *n*).
  public func document(withID id: String, revisionID: RevisionID) throws -> DocumentRevision {
    try reading(id) { try $0.document(withID: id, revision: revisionID) }
  }

  /// The winners of several documents in the order of `ids`; unknown ids are omitted, deleted documents are marked.
  public func documents(withIDs ids: [String]) throws -> [DocumentRevision] {
    try reading { try $0.documents(withIDs: ids) }
  }

  /// The documents that are not deleted, sorted by id, or a page of them.
  ///
  /// - Parameters:
  ///   - offset: The number of documents to skip; a negative value is treated as zero.
  ///   - limit: The maximum number of documents, or `nil` for all; a negative value is treated as zero.
  ///   - descending: Whether to sort in descending order.
  /// - Complexity: O(*offset* + *documents*).
  public func allDocuments(
    offset: Int = 0, limit: Int? = nil, descending: Bool = false
  ) throws -> [DocumentRevision] {
    try reading { try $0.allDocuments(offset: offset, limit: limit, descending: descending) }
  }

  /// The ids of all documents that are not deleted, sorted.
  ///
  /// - Complexity: O(*n*).
  public func allDocumentIDs() throws -> [String] {
    try reading { try $0.allDocumentIDs() }
  }

  /// The number of documents, excluding deleted ones.
  ///
  /// - Complexity: O(*n*), from an index on the ids.
  public func documentCount() throws -> Int {
    try reading { try $0.documentCount() }
  }

  /// A revision and its ancestors, newest first. Compacted revisions have no body.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` if the revision is not in the store.
  public func revisionHistory(of revision: DocumentRevision) throws -> [DocumentRevision] {
    try reading(revision.id) { try $0.history(of: revision.id, from: revision.revisionID) }
  }

  /// The body of a local document; `nil` if it does not exist.
  ///
  /// Local documents have no history, changes, conflicts or queries; replicators store their checkpoints in them.
  /// Their ids are independent of those of documents.
  ///
  /// See <doc:WorkingWithDocuments#Local-documents>.
  public func localDocument(withID id: String) throws -> JSONObject? {
    try localDocumentEntry(withID: id)?.body
  }

  /// The ids of all local documents, sorted.
  public func localDocumentIDs() throws -> [String] {
    try reading { try $0.localDocumentIDs() }
  }

  /// The ids of the documents that have more than one leaf that is not deleted, sorted.
  ///
  /// - Complexity: O(*c* log *n*), where *c* is the number of documents that have ever been conflicted.
  ///
  /// See <doc:ResolvingConflicts#Finding-conflicts>.
  public func conflictedDocumentIDs() throws -> [String] {
    try reading { try $0.conflictedDocumentIDs() }
  }

  /// The leaves of a document that are not deleted: one, several if it has a conflict, none if it is deleted.
  ///
  /// They are sorted newest first: in descending order of their revision ids, including the winner.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` if the document does not exist.
  public func currentRevisions(ofDocument id: String) throws -> [DocumentRevision] {
    try reading { try $0.currentLeaves(of: id) }
  }

  /// The given revisions that are not in a document's tree. A replicator has to fetch these.
  ///
  /// - Complexity: O(*r* log *n*), where *r* is the number of given revisions.
  public func missingRevisions(of id: String, among revisionIDs: [RevisionID]) throws -> [RevisionID] {
    if try seenDocuments() != nil {
      let nodes = try tree(ofDocument: id)?.nodes ?? [:]
      return revisionIDs.filter { nodes[$0] == nil }
    }
    return try use { connection in
      guard let row = try DocumentRow.find(id, on: connection) else { return revisionIDs }
      return try revisionIDs.filter { try !TreeMerging.has($0, of: row, on: connection) }
    }
  }

  /// The documents that changed since a sequence, each once, with their latest change.
  ///
  /// ```swift
  /// var last: Int64 = 0
  /// let changes = try store.changes(since: last)
  /// last = changes.lastSequence
  /// ```
  ///
  /// - Parameters:
  ///   - sequence: The `lastSequence` of the last changes that you read; 0 returns every document. A negative value is
  ///     treated as zero.
  ///   - limit: The maximum number of changes, or `nil` for all; a negative value is treated as zero.
  /// - Throws: ``DatastoreError`` with the code `.unknownSequence` if the sequence is greater than ``lastSequence()``:
  ///   it is from another store, or the store was restored from a backup.
  /// - Complexity: O(log *n* + *changes*).
  ///
  /// See <doc:FollowingChanges#Asking>.
  public func changes(since sequence: Int64 = 0, limit: Int? = nil) throws -> Changes {
    let changes = try reading { try $0.changes(since: sequence, limit: limit) }
    if changes.documents.isEmpty {
      // A write between the two statements only increases the last sequence.
      let last = try lastSequence()
      guard sequence <= last else {
        throw DatastoreError(.unknownSequence(sequence, last: last, in: store.name))
      }
    }
    return changes
  }

  /// The changes before a sequence, newest first.
  package func changes(before sequence: Int64, limit: Int) throws -> [Change] {
    try reading { try $0.changes(before: sequence, limit: limit) }
  }

  /// The change with a sequence; `nil` if its document has changed since.
  package func change(at sequence: Int64) throws -> Change? {
    try reading { try $0.change(at: sequence) }
  }

  /// The sequences, after a given one, of the numbered documents, of all documents with several leaves, and of all tombstones with a
  /// body, in ascending order.
  package func sequences(ofDocuments numbers: [Int64], after sequence: Int64) throws -> [Int64] {
    try reading { try $0.sequences(ofDocuments: numbers, after: sequence) { try self.stop?.check() } }
  }

  /// The number of documents that changed after a sequence, up to a later sequence.
  package func changeCount(since sequence: Int64, upTo end: Int64 = .max) throws -> Int {
    let table = try visibleDocuments().name
    return try use { connection in
      let statement = try connection.statement(
        "SELECT count(*) FROM \(table) WHERE sequence > ?1 AND sequence <= ?2")
      defer { statement.reset() }
      try statement.bind(sequence, at: 1)
      try statement.bind(end, at: 2)
      _ = try statement.step()
      return Int(statement.int64(0))
    }
  }

  /// The sequence of the newest write; 0 in an empty datastore.
  public func lastSequence() throws -> Int64 {
    try use { try $0.scalar("SELECT max(sequence) FROM documents") }
  }
}
