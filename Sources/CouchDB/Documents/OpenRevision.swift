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
    var ids: [RevisionID] = []
    switch wanted {
    case .all: ids = tree.leaves.map(\.id)
    case .revisions(let revisions):
      for revision in revisions {
        let leaves = isLatest ? tree.leaves(below: revision).map(\.id) : []
        for id in leaves.isEmpty ? [revision] : leaves where !ids.contains(id) { ids.append(id) }
      }
    }
    return ids
  }
}
