extension DocumentTree {
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
    let parents = Set(rows.compactMap(\.parent))
    expect(nodes.count == rows.count, "a revision occurs twice")
    for node in rows {
      expect(
        node.sequence >= 1 && node.sequence <= sequence,
        "\(node.id) has the sequence \(node.sequence), after \(sequence)")
      if let parent = node.parent {
        expect(nodes[parent] != nil, "the parent \(parent) of \(node.id) is missing")
        expect(parent.generation == node.id.generation - 1, "\(parent) can't be the parent of \(node.id)")
      }
      expect(
        node.isLeaf != parents.contains(node.id), "\(node.id) is \(node.isLeaf ? "" : "not ")marked as a leaf"
      )
      expect(
        node.generation == Int64(node.id.generation), "\(node.id) is stored as generation \(node.generation)")
      expect(node.hasBody || !node.isLeaf, "the leaf \(node.id) has no body")
      expect(
        node.attachments.recorded == node.attachments.actual,
        "\(node.id) has \(node.attachments.actual) attachments and should have \(node.attachments.recorded)")
    }
    expect(
      recordedLeaves == Int64(leaves.count), "it has \(leaves.count) leaves and should have \(recordedLeaves)"
    )
    let best = leaves.first?.id
    expect(best == winner.id, "the winner is \(winner.id) and should be \(best?.description ?? "another")")
    return found
  }
}
