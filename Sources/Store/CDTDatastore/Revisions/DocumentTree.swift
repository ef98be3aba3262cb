import CDTSQLite

/// The revisions of a document, without their bodies.
package struct DocumentTree: Sendable {
  package struct Node: Sendable {
    package let id: RevisionID
    package let parent: RevisionID?
    package let sequence: Int64
    package let isLeaf: Bool
    package let isDeleted: Bool
    /// Whether the revision can be read: not compacted, and not only known as an ancestor.
    package let hasBody: Bool
    /// The number of attachments according to the row, and the number of their rows.
    let attachments: (recorded: Int64, actual: Int64)
    /// The generation under which the row is indexed.
    let generation: Int64
  }

  let number: Int64
  let sequence: Int64
  /// The number of leaves according to the document's row.
  let recordedLeaves: Int64
  /// The winner.
  package let winner: Node
  /// Every row of a revision, the winner last.
  package let rows: [Node]
  /// By id, with the winner.
  package let nodes: [RevisionID: Node]
  /// The leaves, the winner first and then in descending order: not deleted before deleted, then the highest id.
  package let leaves: [Node]

  /// Reads the tree of a document; `nil` if the document does not exist.
  ///
  /// - Parameter revision: The winner's id in SQL.
  init?(
    of id: String, in table: String = "documents", revision: String = StoredText.revisionSQL,
    on connection: Connection
  ) throws {
    let document = try connection.statement(
      """
      SELECT \(revision), parent, coalesce(written, sequence), 1, deleted, 1, attachments,
             (SELECT count(*) FROM attachments a WHERE a.document = number AND a.revision = \(revision)),
             NULL, number, sequence, leaves
        FROM \(table) WHERE id = ?1
      """)
    defer { document.reset() }
    try document.bind(id, at: 1)
    guard try document.step() else { return nil }
    winner = try Node(document)
    number = document.int64(9)
    sequence = document.int64(10)
    recordedLeaves = document.int64(11)
    let revisions = try connection.statement(
      """
      SELECT revision, parent, sequence, leaf, deleted, body IS NOT NULL, attachments,
             (SELECT count(*) FROM attachments a WHERE a.document = r.document AND a.revision = r.revision), generation
        FROM revisions r WHERE document = ?1 ORDER BY generation, revision
      """)
    defer { revisions.reset() }
    try revisions.bind(number, at: 1)
    var rows: [Node] = []
    while try revisions.step() { rows.append(try Node(revisions)) }
    rows.append(winner)
    (self.rows, nodes, leaves) = Self.parts(rows)
  }

  private static func parts(_ rows: [Node]) -> (rows: [Node], nodes: [RevisionID: Node], leaves: [Node]) {
    let leaves = rows.filter(\.isLeaf).sorted {
      Leaf(id: $0.id, isDeleted: $0.isDeleted) > Leaf(id: $1.id, isDeleted: $1.isDeleted)
    }
    return (rows, Dictionary(rows.map { ($0.id, $0) }, uniquingKeysWith: { $1 }), leaves)
  }

  /// The tree without some leaves, and without the revisions that only they descend from.
  func without(_ withheld: Set<RevisionID>) -> DocumentTree {
    if withheld.isEmpty { return self }
    let kept = leaves.filter { !withheld.contains($0.id) }.reduce(into: Set<RevisionID>()) { kept, leaf in
      kept.formUnion(history(of: leaf.id).map(\.id))
    }
    return DocumentTree(self, rows: rows.filter { kept.contains($0.id) })
  }

  private init(_ whole: DocumentTree, rows: [Node]) {
    (number, sequence, winner) = (whole.number, whole.sequence, whole.winner)
    (self.rows, nodes, leaves) = Self.parts(rows)
    recordedLeaves = Int64(leaves.count)
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

  /// The leaves in CouchDB's order of a tree: branch after branch, the one with the lowest id first.
  package var leavesByBranch: [Node] {
    guard leaves.count > 1 else { return leaves }
    var (next, children): ([Node], [RevisionID: [Node]]) = ([], [:])
    for node in rows.sorted(by: { $0.id > $1.id }) {
      if let parent = node.parent, nodes[parent] != nil {
        children[parent, default: []].append(node)
      } else {
        next.append(node)
      }
    }
    var found: [Node] = []
    while let node = next.popLast() {
      if node.isLeaf { found.append(node) }
      next += children[node.id] ?? []
    }
    return found
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
  fileprivate init(_ row: Statement) throws {
    id = try RevisionID(stored: row.unsafeBytes(0))
    parent = row.isNull(1) ? nil : try RevisionID(stored: row.unsafeBytes(1))
    sequence = row.int64(2)
    isLeaf = row.int64(3) != 0
    isDeleted = row.int64(4) != 0
    hasBody = row.int64(5) != 0
    attachments = (row.int64(6), row.int64(7))
    generation = row.isNull(8) ? Int64(id.generation) : row.int64(8)
  }
}

extension ReadTransaction {
  /// The revisions of a document; `nil` if it does not exist.
  ///
  /// A reader keeps the tree that it has read last, as a reply may have each of a document's thousands of leaves.
  ///
  /// - Complexity: O(*r* log *n*), where *r* is the number of revisions; O(1) for the same document again.
  package func tree(ofDocument id: String) throws -> DocumentTree? {
    if let lastTree = view.lastTree, lastTree.id.hasSameBytes(as: id) { return lastTree.tree }
    let table = try visibleDocuments()
    let tree = try use { connection in
      let tree = try DocumentTree(of: id, in: table.name, on: connection)
      guard let tree, table.withholdsLeaves, tree.leaves.count > 1 else { return tree }
      return try tree.without(SeenDocuments.withheldLeaves(of: id, tree.number, on: connection))
    }
    // A write may change it.
    if !(self is WriteTransaction) { view.lastTree = (id, tree) }
    return tree
  }

  /// The leaves of a changed document, whose tree is only read if it has several.
  package func leaves(of change: Change) throws -> [RevisionID] {
    change.leafCount == 1 ? [change.revisionID] : try tree(ofDocument: change.id)?.leaves.map(\.id) ?? []
  }
}

/// A leaf of a document's revision tree, ordered by the rule for winners.
///
/// The winner is the greatest leaf: leaves that are not deleted come before deleted ones, then the highest revision id
/// wins (``RevisionID``). This is CouchDB's rule, so every copy of a tree has the same winner, whatever the order in which its
/// revisions arrived.
struct Leaf: Comparable {
  let id: RevisionID
  let isDeleted: Bool

  static func < (left: Leaf, right: Leaf) -> Bool {
    left.isDeleted != right.isDeleted ? left.isDeleted : left.id < right.id
  }
}
