/// The revisions of a document, without their bodies.
package struct DocumentTree: Sendable {
  package struct Node: Sendable {
    package let id: RevisionID
    package let parent: RevisionID?
    package let isLeaf: Bool
    package let isDeleted: Bool
    /// Whether the revision can be read: not compacted, and not only known as an ancestor.
    package let hasBody: Bool
    package let sequence: Int64
  }

  /// The winner.
  package let winner: Node
  /// By id, with the winner.
  package let nodes: [RevisionID: Node]
  /// The leaves, the winner first and then in descending order: not deleted before deleted, then the highest id.
  package let leaves: [Node]

  init(_ tree: RevisionTree) {
    winner = Node(tree.winner)
    nodes = Dictionary(tree.nodes.map { ($0.id, Node($0)) }, uniquingKeysWith: { $1 })
    leaves = nodes.values.filter(\.isLeaf).sorted {
      Leaf(id: $0.id, isDeleted: $0.isDeleted) > Leaf(id: $1.id, isDeleted: $1.isDeleted)
    }
  }

  /// A revision and its known ancestors, newest first; empty for an unknown revision.
  package func history(of revision: RevisionID) -> [Node] {
    var history: [Node] = []
    var next = nodes[revision]
    while let node = next {
      history.append(node)
      // Generations decrease along a branch; anything else is damage and could be a cycle.
      next = node.parent.flatMap { nodes[$0] }.flatMap { $0.id.generation < node.id.generation ? $0 : nil }
    }
    return history
  }

  /// The leaves that descend from each of some revisions, or are it, in the order of ``leaves``.
  ///
  /// - Complexity: O(*l* *h*), where *l* is the number of leaves and *h* the length of a history, however many revisions
  ///   there are.
  package func leaves(below revisions: Set<RevisionID>) -> [RevisionID: [Node]] {
    var found: [RevisionID: [Node]] = [:]
    for leaf in leaves {
      for ancestor in history(of: leaf.id) where revisions.contains(ancestor.id) {
        found[ancestor.id, default: []].append(leaf)
      }
    }
    return found
  }
}

extension DocumentTree.Node {
  fileprivate init(_ node: RevisionTree.Node) {
    self.init(
      id: node.id, parent: node.parent, isLeaf: node.isLeaf, isDeleted: node.isDeleted, hasBody: node.hasBody,
      sequence: node.sequence)
  }
}

extension ReadTransaction {
  /// The revisions of a document; `nil` if it does not exist.
  ///
  /// A reader keeps the tree that it has read last, as a reply may have each of a document's thousands of leaves.
  ///
  /// - Complexity: O(*r* log *n*), where *r* is the number of revisions; O(1) for the same document again.
  package func tree(ofDocument id: String) throws -> DocumentTree? {
    if let lastTree, lastTree.id.hasSameBytes(as: id) { return lastTree.tree }
    let tree = try use { try RevisionTree(of: id, on: $0).map { DocumentTree($0) } }
    // A write may change it.
    if !(self is WriteTransaction) { lastTree = (id, tree) }
    return tree
  }
}
