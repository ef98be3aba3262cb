package import CDTDatastore

/// What a database lacks of a document.
package struct RevisionDifference: Sendable, Hashable {
  package let id: String
  /// The revisions that the database lacks.
  package let missing: [RevisionID]
  /// Its leaves that may be ancestors of what is missing.
  package let ancestors: [RevisionID]

  package init(id: String, missing: [RevisionID], ancestors: [RevisionID] = []) {
    self.id = id
    self.missing = missing
    self.ancestors = ancestors
  }
}

extension ReadTransaction {
  /// Which of some revisions a document lacks; `nil` if it has them all.
  package func revisionDifference(of id: String, among revisions: [RevisionID]) throws -> RevisionDifference?
  {
    let missing = try missingRevisions(of: id, among: revisions)
    guard let highest = missing.map(\.generation).max() else { return nil }
    let leaves = try tree(ofDocument: id)?.leaves.map(\.id) ?? []
    return RevisionDifference(
      id: id, missing: missing, ancestors: leaves.filter { $0.generation < highest })
  }
}
