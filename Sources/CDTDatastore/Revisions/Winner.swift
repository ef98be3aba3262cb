/// A leaf of a document's tree of revisions, ordered by the rule that chooses the winner.
///
/// The winner is the greatest leaf: one that is not deleted before one that is; then the one with the highest revision
/// id, by generation as a number and then by the rest of the id byte by byte. It is CouchDB's rule, so every copy of a
/// tree has the same winner, whatever the order in which its revisions arrived.
struct Leaf: Comparable {
  let id: RevisionID
  let isDeleted: Bool

  static func < (left: Leaf, right: Leaf) -> Bool {
    left.isDeleted != right.isDeleted ? left.isDeleted : left.id < right.id
  }
}
