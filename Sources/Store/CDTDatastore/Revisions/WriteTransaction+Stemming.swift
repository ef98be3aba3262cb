import CDTSQLite

extension WriteTransaction {
  /// Forgets the ancestors of a document that are further from every leaf than a depth allows, as CouchDB's
  /// `_revs_limit` does:
  ///
  /// ```
  /// 1-a ─ 2-b ─ 3-c ─ 4-d   to a depth of 2 gives   3-c ─ 4-d
  /// ```
  ///
  /// The oldest revision that is kept has no parent. A document that does not exist is left alone.
  ///
  /// - Parameters:
  ///   - depth: The number of revisions to keep of each branch, its leaf included; at least 1.
  ///   - written: The revisions that were written since the document was last stemmed; `nil` if that is not known. If a document
  ///     has conflicts and none of their branches is too long, the others are not looked at.
  /// - Complexity: O(*k* log *n*), where *k* is the number of forgotten revisions; for a document with conflicts,
  ///   O(*w* *depth* log *n*), where *w* is the number of written revisions, and O(*r* log *n*) for all its *r* revisions if a
  ///   branch is too long.
  package func stem(_ id: String, to depth: Int, after written: [RevisionID]? = nil) throws {
    let depth = max(1, depth)
    // A branch is not longer than the generation of its leaf.
    if let written, written.allSatisfy({ $0.generation <= depth }) { return }
    try use { connection in
      guard let row = try DocumentRow.find(id, on: connection) else { return }
      let stemming = Stemming(connection: connection, row: row)
      if row.leaves == 1 { return try stemming.forget(upTo: Int64(row.revision.generation) - Int64(depth)) }
      let isTooLong = try written?.contains {
        try TreeMerging.isBranch(of: $0, longerThan: depth, in: row, on: connection)
      }
      if isTooLong ?? true, let tree = try DocumentTree(of: id, on: connection) {
        try stemming.forget(beyond: depth, of: tree)
      }
    }
  }
}

/// Removes old revisions of a document.
private struct Stemming {
  let connection: Connection
  let row: DocumentRow

  /// Forgets the generations up to one, of a document with a single branch.
  func forget(upTo generation: Int64) throws {
    guard generation > 0, try hasRevision(upTo: generation) else { return }
    try run(
      """
      DELETE FROM attachments WHERE document = ?1 AND revision IN
        (SELECT revision FROM revisions WHERE document = ?1 AND generation <= ?2)
      """, generation)
    try run("DELETE FROM revisions WHERE document = ?1 AND generation <= ?2", generation)
    if generation == Int64(row.revision.generation) - 1 {
      try forgetWinnersParent()
    } else {
      try run("UPDATE revisions SET parent = NULL WHERE document = ?1 AND generation = ?2", generation + 1)
    }
  }

  /// Forgets what is further from every leaf.
  func forget(beyond depth: Int, of tree: DocumentTree) throws {
    guard tree.nodes.keys.contains(where: { $0.generation > depth }) else { return }
    var kept: Set<RevisionID> = []
    for leaf in tree.nodes.values where leaf.isLeaf {
      var (next, left) = (Optional(leaf), depth)
      while let node = next, left > 0 {
        kept.insert(node.id)
        next = node.parent.flatMap { tree.nodes[$0] }
        left -= 1
      }
    }
    for node in tree.nodes.values {
      if !kept.contains(node.id) {
        try run("DELETE FROM attachments WHERE document = ?1 AND revision = ?3", on: node.id)
        try run(
          "DELETE FROM revisions WHERE document = ?1 AND generation = ?2 AND revision = ?3", on: node.id)
      } else if let parent = node.parent, !kept.contains(parent) {
        if node.id == row.revision {
          try forgetWinnersParent()
        } else {
          try run(
            "UPDATE revisions SET parent = NULL WHERE document = ?1 AND generation = ?2 AND revision = ?3",
            on: node.id)
        }
      }
    }
  }

  private func forgetWinnersParent() throws {
    let statement = try connection.statement("UPDATE documents SET parent = NULL WHERE number = ?1")
    try statement.bind(row.number, at: 1)
    try statement.run()
  }

  private func hasRevision(upTo generation: Int64) throws -> Bool {
    let statement = try connection.statement(
      "SELECT 1 FROM revisions WHERE document = ?1 AND generation <= ?2 LIMIT 1")
    defer { statement.reset() }
    try statement.bind(row.number, at: 1)
    try statement.bind(generation, at: 2)
    return try statement.step()
  }

  /// Runs a statement about the document `?1` and the generation `?2`.
  private func run(_ sql: String, _ generation: Int64) throws {
    let statement = try connection.statement(sql)
    try statement.bind(row.number, at: 1)
    try statement.bind(generation, at: 2)
    try statement.run()
  }

  /// Runs a statement about the document `?1` and its revision `?3` of the generation `?2`.
  private func run(_ sql: String, on revision: RevisionID) throws {
    let statement = try connection.statement(sql)
    try DocumentWriting(connection: connection).bind(revision, of: row, to: statement, at: 1)
    try statement.run()
  }
}
