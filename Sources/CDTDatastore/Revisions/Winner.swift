/// A leaf of a document's revision tree, ordered by the rule for winners.
///
/// The winner is the greatest leaf: leaves that are not deleted come before deleted ones, then the highest revision id
/// wins, by generation as a number and then by suffix byte by byte. This is CouchDB's rule, so every copy of a tree
/// has the same winner, whatever the order in which its revisions arrived.
struct Leaf: Comparable {
  let id: RevisionID
  let isDeleted: Bool

  static func < (left: Leaf, right: Leaf) -> Bool {
    left.isDeleted != right.isDeleted ? left.isDeleted : left.id < right.id
  }
}
