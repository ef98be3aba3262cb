import SQLite

extension WriteTransaction {
  /// Inserts a revision that was made elsewhere, as ``Datastore/forceInsert(_:history:)``.
  @discardableResult
  public func forceInsert(_ revision: DocumentRevision, history: [RevisionID] = []) throws -> Bool {
    guard let id = revision.id else { throw DatastoreError.missingID() }
    guard let revisionID = revision.revision else { throw DatastoreError.missingRevision(id) }
    if revision.isProjected { throw DatastoreError.projected(id) }
    try DocumentID.check(id)
    try AttachmentSaving.check(revision.attachments, of: id)
    let body = revision.isDeleted && !revision.hasBody ? BodyText.none : try BodyText(of: revision)
    let history = history.isEmpty ? [revisionID] : history
    try Self.check(history, of: revisionID, id: id)
    return try forceInsert(history, of: id) { sequence in
      let rows = try AttachmentSaving(files: files).rows(
        for: revision.attachments, known: [], generation: revisionID.generation)
      return NewRevision(
        id: revisionID, parent: nil, sequence: sequence, isDeleted: revision.isDeleted, body: body.text,
        attachments: rows)
    }
  }

  /// Inserts the first revision of a checked history, which is made only if it is not there.
  func forceInsert(
    _ history: [RevisionID], of id: String, new: (_ sequence: Int64) throws -> NewRevision
  ) throws -> Bool {
    try use { connection in
      try TreeMerging.merge(
        history, of: id, on: connection, nextSequence: { try nextSequence() }, new: new)
    }
  }

  /// A history goes from the revision itself back, a generation at a time.
  static func check(_ history: [RevisionID], of revision: RevisionID, id: String)
    throws(DatastoreError)
  {
    guard history.first == revision else { throw .historyOfOther(revision, history.first, of: id) }
    for (child, parent) in zip(history, history.dropFirst()) where parent.generation != child.generation - 1 {
      throw .generationGap(child, parent, of: id)
    }
    // It could neither be changed nor deleted.
    _ = try revision.childGeneration()
  }
}

extension Datastore {
  /// Inserts a revision that was made elsewhere, with its own id, as a replicator does.
  ///
  /// ```swift
  /// let theirs = DocumentRevision(id: "doc1", revision: RevisionID("2-b")!, body: ["by": "them"])
  /// try store.forceInsert(theirs, history: ["2-b", "1-a"].compactMap { RevisionID($0) })
  /// ```
  ///
  /// The branch is grafted where its history meets the document's tree, and may make a conflict. A revision that is
  /// known is left as it is, so inserting twice changes nothing; that holds for an ancestor of which only the id came, too:
  /// its body is not taken later. A tree, its leaves and its winner do not depend on the order in which revisions come.
  /// Attachments keep their content; their `generation` is the revision's.
  ///
  /// - Parameters:
  ///   - revision: The revision, with its ids. A tombstone needs no body.
  ///   - history: The ids from the revision's own back to its oldest known ancestor, each one generation below the
  ///     last; empty when no ancestor is known.
  /// - Returns: Whether anything was new.
  /// - Throws: ``DatastoreError``: `.invalidRevision` for a history with a gap or of another revision, or the
  ///   highest generation; `.invalidID`, `.missingBody`, `.reservedKey`, `.invalidBody`, `.invalidAttachment`.
  /// - Complexity: O(*h* log *n*), where *h* is the length of `history`.
  ///
  /// Source: `docs/conflicts.md`, Inserting revisions.
  @discardableResult
  public func forceInsert(_ revision: DocumentRevision, history: [RevisionID] = []) throws -> Bool {
    var revision = revision
    revision.attachments = try staging(revision.attachments, of: revision.id)
    return try write { try $0.forceInsert(revision, history: history) }
  }

  /// Those of some revisions of a document that are not in its tree: what a replicator has to fetch.
  ///
  /// - Complexity: O(*r* log *n*), where *r* is the number of revisions asked for.
  public func missingRevisions(of id: String, among revisions: [RevisionID]) throws -> [RevisionID] {
    try readSnapshot { connection in
      guard let row = try DocumentRow.find(id, on: connection) else { return revisions }
      return try revisions.filter { try !TreeMerging.has($0, of: row, on: connection) }
    }
  }
}
