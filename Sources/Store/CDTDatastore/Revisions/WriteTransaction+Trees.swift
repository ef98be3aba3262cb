import CDTSQLite

extension WriteTransaction {
  /// Inserts a revision created elsewhere under its own id, as a replicator does.
  ///
  /// ```swift
  /// let theirs = DocumentRevision(id: "doc1", revisionID: RevisionID("2-b")!, body: ["by": "them"])
  /// try store.write { try $0.forceInsert(theirs, history: ["2-b", "1-a"].compactMap { RevisionID($0) }) }
  /// ```
  ///
  /// The branch is grafted where its history meets the document's tree, which may create a conflict. Known revisions
  /// are kept, so inserting twice changes nothing. An ancestor of which only the id is known gets its body. The tree, its leaves and its winner do not depend on the order in which revisions arrive.
  /// Attachments get the generation of the revision.
  ///
  /// - Parameters:
  ///   - revision: The revision with its ids. A tombstone needs no body.
  ///   - history: The ids from the revision's own back to its oldest known ancestor, each one generation lower than
  ///     the one before; empty if no ancestor is known.
  /// - Returns: Whether anything was added.
  /// - Throws: ``DatastoreError``: `.invalidRevision` if the history has a gap or belongs to another revision, or for
  ///   the highest generation; `.invalidID`, `.missingBody`, `.reservedKey`, `.invalidBody`, `.invalidAttachment`.
  /// - Complexity: O(*h* log *n*), where *h* is the length of `history` and *n* the number of revisions in the
  ///   datastore, regardless of the number of leaves.
  ///
  /// See <doc:ResolvingConflicts#Inserting-revisions>.
  @discardableResult
  public func forceInsert(_ revision: DocumentRevision, history: [RevisionID] = []) throws -> Bool {
    if revision.isProjected { throw DatastoreError(.projected(revision.id)) }
    return try forceInsert(
      id: revision.id, revisionID: revision.revisionID, history: history, isDeleted: revision.isDeleted,
      body: revision.isDeleted && !revision.hasBody ? BodyText.none : try BodyText(of: revision),
      attachments: revision.attachments)
  }

  /// Inserts stored text as a revision created elsewhere, without decoding it.
  @discardableResult
  package func forceInsert(
    id: String, revisionID: RevisionID, history: [RevisionID], isDeleted: Bool, body: BodyText,
    attachments: Attachments
  ) throws -> Bool {
    try DocumentID.check(id)
    try AttachmentSaving.check(attachments, of: id)
    try use { try DocumentSize.check(id, body, on: $0) }
    let history = history.isEmpty ? [revisionID] : history
    try Self.check(history, of: revisionID, id: id)
    if view.rules != nil, try !isKnown(revisionID, of: id) {
      try checkSeen(id)
      try checkRules(
        ProposedRevision(
          id: id, isDeleted: isDeleted, body: body, attachments: attachments,
          ancestors: Array(history.dropFirst()), isReplicated: true))
    }
    return try forceInsert(history, of: id) { sequence in
      let rows = try save(attachments, known: [], generation: revisionID.generation)
      return NewRevision(
        id: revisionID, parent: nil, sequence: sequence, isDeleted: isDeleted, body: body.text,
        attachments: rows)
    }
  }

  private func isKnown(_ revision: RevisionID, of id: String) throws -> Bool {
    try use { connection in
      guard let row = try DocumentRow.find(id, on: connection) else { return false }
      return try TreeMerging.has(revision, of: row, on: connection)
    }
  }

  /// Inserts the first revision of a validated history; the revision is created only if it is missing.
  package func forceInsert(
    _ history: [RevisionID], of id: String, new: (_ sequence: Int64) throws -> NewRevision
  ) throws -> Bool {
    try use { connection in
      let isChanged = try TreeMerging.merge(
        history, of: id, on: connection, nextSequence: { try nextReplicatedSequence(of: id) }, new: new)
      if isChanged { try showUnlessHidden(id, on: connection) }
      return isChanged
    }
  }

  /// Throws unless a history leads from the revision back, one generation at a time.
  package static func check(_ history: [RevisionID], of revision: RevisionID, id: String)
    throws(DatastoreError)
  {
    guard history.first == revision else {
      throw DatastoreError(.historyOfOther(revision, history.first, of: id))
    }
    for (child, parent) in zip(history, history.dropFirst()) where parent.generation != child.generation - 1 {
      throw DatastoreError(.generationGap(child, parent, of: id))
    }
    // A revision of the highest generation could be neither changed nor deleted.
    _ = try revision.childGeneration()
  }
}
