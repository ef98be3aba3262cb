import CDTJSON
import CDTSQLite

/// All stored revisions of a document.
struct RevisionTree {
  struct Node {
    let id: RevisionID
    let parent: RevisionID?
    let sequence: Int64
    let isLeaf: Bool
    let isDeleted: Bool
    let hasBody: Bool
    /// The number of attachments according to the row, and the number found.
    let attachments: (told: Int64, found: Int64)
    /// The generation under which the row is indexed.
    let generation: Int64
  }

  let number: Int64
  let sequence: Int64
  let leaves: Int64
  let winner: Node
  /// Every revision except the winner, in order.
  let others: [Node]

  /// Reads the tree of a document; `nil` if the document does not exist.
  init?(of id: String, on connection: Connection) throws {
    let document = try connection.statement(
      """
      SELECT revision, parent, coalesce(written, sequence), 1, deleted, 1, attachments,
             (SELECT count(*) FROM attachments a WHERE a.document = number AND a.revision = d.revision),
             NULL, number, sequence, leaves
        FROM documents d WHERE id = ?1
      """)
    defer { document.reset() }
    try document.bind(id, at: 1)
    guard try document.step() else { return nil }
    winner = try Node(document)
    number = document.int64(9)
    sequence = document.int64(10)
    leaves = document.int64(11)
    let revisions = try connection.statement(
      """
      SELECT revision, parent, sequence, leaf, deleted, body IS NOT NULL, attachments,
             (SELECT count(*) FROM attachments a WHERE a.document = r.document AND a.revision = r.revision), generation
        FROM revisions r WHERE document = ?1 ORDER BY generation, revision
      """)
    defer { revisions.reset() }
    try revisions.bind(number, at: 1)
    var others: [Node] = []
    while try revisions.step() { others.append(try Node(revisions)) }
    self.others = others
  }

  var nodes: [Node] { others + [winner] }
}

extension RevisionTree.Node {
  fileprivate init(_ row: Statement) throws {
    id = try RevisionID(stored: row.text(0))
    parent = row.isNull(1) ? nil : try RevisionID(stored: row.text(1))
    sequence = row.int64(2)
    isLeaf = row.int64(3) != 0
    isDeleted = row.int64(4) != 0
    hasBody = row.int64(5) != 0
    attachments = (row.int64(6), row.int64(7))
    generation = row.isNull(8) ? Int64(id.generation) : row.int64(8)
  }
}

extension RevisionTree {
  /// The violated invariants of the tree; empty if it is consistent.
  ///
  /// - A revision occurs once, and its sequence is not after its document's.
  /// - A parent exists and is one generation lower.
  /// - A leaf has no child, and every other revision has one. Leaves have bodies.
  /// - The winner is the greatest leaf: not deleted before deleted, then the highest id.
  var violations: [String] {
    var found: [String] = []
    func expect(_ holds: Bool, _ message: @autoclosure () -> String) {
      if !holds { found.append(message()) }
    }
    let all = nodes
    let known = Set(all.map(\.id))
    let parents = Set(all.compactMap(\.parent))
    expect(known.count == all.count, "a revision occurs twice")
    for node in all {
      expect(
        node.sequence >= 1 && node.sequence <= sequence,
        "\(node.id) has the sequence \(node.sequence), after \(sequence)")
      if let parent = node.parent {
        expect(known.contains(parent), "the parent \(parent) of \(node.id) is missing")
        expect(parent.generation == node.id.generation - 1, "\(parent) can't be the parent of \(node.id)")
      }
      expect(
        node.isLeaf != parents.contains(node.id), "\(node.id) is \(node.isLeaf ? "" : "not ")marked as a leaf"
      )
      expect(
        node.generation == Int64(node.id.generation), "\(node.id) is stored as generation \(node.generation)")
      expect(node.hasBody || !node.isLeaf, "the leaf \(node.id) has no body")
      expect(
        node.attachments.told == node.attachments.found,
        "\(node.id) has \(node.attachments.found) attachments and should have \(node.attachments.told)")
    }
    let leafNodes = all.filter(\.isLeaf)
    expect(leaves == Int64(leafNodes.count), "it has \(leafNodes.count) leaves and should have \(leaves)")
    let best = leafNodes.map { Leaf(id: $0.id, isDeleted: $0.isDeleted) }.max()
    expect(
      best?.id == winner.id, "the winner is \(winner.id) and should be \(best?.id.description ?? "another")")
    return found
  }
}
