package import CDTDatastore
import CDTJSON

/// The parameter `open_revs`: which revisions of a document to read.
package enum OpenRevisions: Sendable, Hashable {
  /// Every leaf.
  case all
  case revisions([RevisionID])

  /// Parses the parameter: `all`, or a JSON array of revisions' ids.
  ///
  /// - Throws: ``CouchError`` with status 400.
  package init(parameter text: String) throws(CouchError) {
    guard text != "all" else {
      self = .all
      return
    }
    guard let json = try? JSONValue(parsing: text) else { throw .invalidOpenRevisions }
    self = .revisions(try RevisionID.list(json: json))
  }

  /// The parameter, not percent-encoded.
  package var parameter: String {
    switch self {
    case .all: "all"
    case .revisions(let revisions): RevisionID.parameter(revisions)
    }
  }
}

extension ReadTransaction {
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
