package import CDTDatastore

/// A revision that a client asked for, as it was found.
package enum OpenRevision: Sendable {
  case found(DocumentRevision)
  case missing(RevisionID)
}

extension ReadTransaction {
  /// The revisions that a client asked for, each once.
  ///
  /// - Parameter isLatest: Whether to return the leaves that descend from a revision in its place.
  package func openRevisions(of id: String, _ wanted: OpenRevisions, isLatest: Bool) throws -> [OpenRevision]
  {
    try openRevisionIDs(of: id, wanted, isLatest: isLatest).map { revision in
      try documentIfStored(id, revision).map { .found($0) } ?? .missing(revision)
    }
  }

  /// The ids of the revisions that a client asked for, each once. The document may not have them.
  package func openRevisionIDs(
    of id: String, _ wanted: OpenRevisions, isLatest: Bool
  ) throws -> [RevisionID] {
    guard let tree = try tree(ofDocument: id) else {
      if case .revisions(let revisions) = wanted { return revisions }
      return []
    }
    guard case .revisions(let revisions) = wanted else { return tree.leaves.map(\.id) }
    // A document may have thousands of leaves.
    let inner = isLatest ? revisions.filter { tree.nodes[$0]?.isLeaf == false } : []
    let below = inner.isEmpty ? [:] : tree.leaves(below: Set(inner))
    var ids: [RevisionID] = []
    var known: Set<RevisionID> = []
    for revision in revisions {
      for id in below[revision]?.map(\.id) ?? [revision] where known.insert(id).inserted { ids.append(id) }
    }
    return ids
  }
}
