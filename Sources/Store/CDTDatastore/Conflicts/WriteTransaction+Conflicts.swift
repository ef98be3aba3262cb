import CDTJSON

extension WriteTransaction {
  /// Resolves a document's conflict: a resolver chooses the leaf to keep, and the other leaves get tombstones.
  ///
  /// ```swift
  /// try store.write { transaction in
  ///   try transaction.resolveConflicts(for: "doc1") { _, leaves in leaves.first }  // the winner stays
  /// }
  /// ```
  ///
  /// A leaf that is returned unchanged is kept as it is, even if its generation is lower than that of the other
  /// leaves. A changed leaf is saved as a child of the leaf with its revision id; attachments of any leaf can be used.
  /// Everything happens in one transaction. The resolver is called once inside it, only if there are at least two
  /// leaves, and must not write to the datastore.
  ///
  /// - Returns: The kept revision; `nil` if there was no conflict or the resolver returned `nil`.
  /// - Throws: ``DatastoreError``: `.invalidResolution` if the resolver returns a revision that is not a leaf,
  ///   `.notFound`, and the errors of an update; the errors of the resolver. The document is then unchanged.
  ///
  /// See <doc:ResolvingConflicts#Resolving>.
  @discardableResult
  public func resolveConflicts(for id: String, with resolver: some ConflictResolver) throws
    -> DocumentRevision?
  {
    try resolveConflicts(for: id) { try resolver.resolve(documentID: $0, conflicts: $1, base: $2) }
  }

  /// Resolves a document's conflict with a closure, like the form with a ``ConflictResolver``.
  @discardableResult
  public func resolveConflicts(
    for id: String,
    with resolve: (_ documentID: String, _ conflicts: [DocumentRevision]) throws -> DocumentRevision?
  ) throws -> DocumentRevision? {
    try resolveConflicts(for: id) { id, leaves, _ in try resolve(id, leaves) }
  }

  /// Resolves a document's conflict with a closure that also gets the common ancestor of the leaves, as
  /// ``ConflictResolver/resolve(documentID:conflicts:base:)`` does.
  ///
  /// ```swift
  /// try store.write { transaction in
  ///   try transaction.resolveConflicts(for: "doc1") { _, leaves, base in leaves.merged(since: base) }
  /// }
  /// ```
  @discardableResult
  public func resolveConflicts(
    for id: String,
    with resolve: (_ documentID: String, _ conflicts: [DocumentRevision], _ base: DocumentRevision?) throws
      -> DocumentRevision?
  ) throws -> DocumentRevision? {
    let leaves = try currentRevisions(ofDocument: id)
    guard leaves.count > 1,
      let decision = try resolve(id, leaves, try commonAncestor(of: leaves, in: id).content)
    else { return nil }
    return try keep(decision, of: leaves, in: id)
  }

  /// Saves a decision, and deletes the other leaves.
  func keep(
    _ decision: DocumentRevision, of leaves: [DocumentRevision], in id: String
  ) throws -> DocumentRevision {
    guard decision.id.hasSameBytes(as: id), !decision.isDeleted,
      let kept = leaves.first(where: { $0.revisionID == decision.revisionID })
    else { throw DatastoreError(.notAmongLeaves(decision, of: id)) }
    let others = leaves.filter { $0.revisionID != kept.revisionID }
    // Check everything first, so that a caller that catches the error has changed nothing.
    for other in others { _ = try other.revisionID.childGeneration() }
    let stays = decision.says(theSameAs: kept) ? kept : try updateDocument(from: decision)
    for other in others { try deleteDocument(from: other) }
    return stays
  }

  /// The newest revision from which all of some leaves descend.
  func commonAncestor(of leaves: [DocumentRevision], in id: String) throws -> CommonAncestor {
    guard let tree = try tree(ofDocument: id) else { return .unknown }
    let histories = leaves.map { tree.history(of: $0.revisionID) }
    let others = histories.dropFirst().map { Set($0.map(\.id)) }
    guard let common = histories.first?.first(where: { node in others.allSatisfy { $0.contains(node.id) } })
    else {
      // A history that does not reach the first generation was cut.
      return histories.allSatisfy { $0.last?.id.generation == 1 } ? .empty : .unknown
    }
    if common.isDeleted { return .empty }
    guard common.hasBody else { return .unknown }
    do {
      return .revision(try document(withID: id, revisionID: common.id))
    } catch let error as DatastoreError where error.code == .notFound {
      // The user does not see it.
      return .unknown
    }
  }
}
