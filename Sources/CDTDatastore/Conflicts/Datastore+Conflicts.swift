import SQLite

extension Datastore {
  /// The ids of the documents that have more than one leaf that is not deleted, sorted.
  ///
  /// - Complexity: O(*c* log *n*), where *c* is the number of documents that have ever been conflicted.
  ///
  /// Source: `docs/conflicts.md`, Finding conflicts.
  public func conflictedDocumentIDs() throws -> [String] {
    try read { connection in
      let statement = try connection.statement(
        """
        SELECT id FROM documents d
         WHERE leaves > 1 AND NOT deleted
           AND EXISTS (SELECT 1 FROM revisions r WHERE r.document = d.number AND r.leaf AND NOT r.deleted)
         ORDER BY id
        """)
      defer { statement.reset() }
      var ids: [String] = []
      while try statement.step() { ids.append(statement.text(0)) }
      return ids
    }
  }

  /// The leaves of a document that are not deleted, newest first: one, or several when it is conflicted; none when it
  /// is deleted.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` when there is no such document.
  public func liveRevisions(ofDocument id: String) throws -> [DocumentRevision] {
    try readSnapshot { try reading($0).liveLeaves(of: id) }
  }

  /// Lets a resolver decide which of a conflicted document's leaves stays; the others get tombstones.
  ///
  /// ```swift
  /// try store.resolveConflicts(for: "doc1") { _, leaves in leaves.first }  // the winner stays
  /// ```
  ///
  /// A leaf that is given back as it came stays as it is, also one of a lower generation than the others. A changed one
  /// becomes a child of the leaf whose revision it carries; attachments taken from any leaf are kept. All of it is one
  /// transaction. The resolver is called once, within it, and only if there are two leaves or more; it can't write to
  /// the datastore.
  ///
  /// - Returns: The revision that stayed; `nil` when there was no conflict, or the resolver decided nothing.
  /// - Throws: ``DatastoreError``: `.invalidResolution` for a revision that is none of the leaves, `.notFound`, and what
  ///   refuses an update; what the resolver throws. The document is then as it was.
  ///
  /// Source: `docs/conflicts.md`, Resolving.
  @discardableResult
  public func resolveConflicts(for id: String, with resolver: some ConflictResolver) throws
    -> DocumentRevision?
  {
    try resolveConflicts(for: id) { try resolver.resolve(documentID: $0, conflicts: $1) }
  }

  /// Lets a closure decide which of a conflicted document's leaves stays, as the form with a ``ConflictResolver`` does.
  @discardableResult
  public func resolveConflicts(
    for id: String,
    with resolve: (_ documentID: String, _ conflicts: [DocumentRevision]) throws -> DocumentRevision?
  ) throws -> DocumentRevision? {
    try write { try $0.resolveConflicts(for: id, with: resolve) }
  }
}

extension WriteTransaction {
  /// Lets a closure decide which of a conflicted document's leaves stays, as in ``Datastore``.
  @discardableResult
  public func resolveConflicts(
    for id: String,
    with resolve: (_ documentID: String, _ conflicts: [DocumentRevision]) throws -> DocumentRevision?
  ) throws -> DocumentRevision? {
    let leaves = try use { try DocumentReading(connection: $0, files: files).liveLeaves(of: id) }
    guard leaves.count > 1, let decision = try resolve(id, leaves) else { return nil }
    guard let decisionID = decision.id, decisionID.utf8.elementsEqual(id.utf8), !decision.isDeleted,
      let kept = leaves.first(where: { $0.revision == decision.revision })
    else { throw DatastoreError.notAmongLeaves(decision, of: id) }
    let others = leaves.filter { $0.revision != kept.revision }
    // All of it or nothing, also for a caller who goes on after the error.
    for other in others { _ = try other.revision?.childGeneration() }
    let stays = decision.says(theSameAs: kept) ? kept : try updateDocument(from: decision)
    for other in others { try deleteDocument(from: other) }
    return stays
  }
}

extension DocumentRevision {
  fileprivate func says(theSameAs other: DocumentRevision) -> Bool {
    hasBody == other.hasBody && body == other.body && attachments == other.attachments
  }
}
