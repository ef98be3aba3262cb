import CDTSQLite

/// Inserts revisions created elsewhere together with their history.
///
/// ```
/// 3-c with the history 3-c, 2-b, 1-a        into   1-a ─ 2-x
///                                           gives  1-a ┬ 2-b ─ 3-c   the winner
///                                                      └ 2-x         a conflict
/// ```
///
/// Known revisions are kept, except that a missing parent and a missing body are filled in. So the tree, its leaves and its
/// winner do not depend on the order in which revisions arrive.
struct TreeMerging {
  private let connection: Connection
  private let writing: DocumentWriting
  private let row: DocumentRow

  private init(_ connection: Connection, row: DocumentRow) {
    self.connection = connection
    writing = DocumentWriting(connection: connection)
    self.row = row
  }

  /// Inserts a revision that a document does not have, or the missing body or missing ancestors of one that it has.
  ///
  /// - Parameters:
  ///   - history: The ids from the revision's own back to its oldest known ancestor, each one generation lower than
  ///     the one before.
  ///   - nextSequence: Returns the sequence of the change; called only if there is one.
  ///   - new: Creates the revision without a parent; called only if it or its body is missing.
  /// - Returns: Whether anything changed.
  /// - Complexity: O(*h* log *n*), where *h* is the length of the history and *n* the number of revisions in the datastore.
  static func merge(
    _ history: [RevisionID], of id: String, on connection: Connection, nextSequence: () throws -> Int64,
    new: (_ sequence: Int64) throws -> NewRevision
  ) throws -> Bool {
    guard let leaf = history.first else { return false }
    var sequence: Int64?
    var row = try DocumentRow.find(id, on: connection)
    if row?.isPurged ?? true, leaf != .purged || row == nil {
      let next = try nextSequence()
      sequence = next
      try DocumentWriting(connection: connection).insert(id: id, try new(next), over: row)
      row = try DocumentRow.find(id, on: connection)
    }
    guard let row else { throw DatastoreError(.noSuchDocument(id)) }
    let merging = TreeMerging(connection, row: row)
    var leaves = row.leaves
    var added: Leaf?
    if try !merging.has(leaf) {
      let next = try nextSequence()
      sequence = next
      let revision = try new(next)
      try merging.insert(revision)
      added = Leaf(id: revision.id, isDeleted: revision.isDeleted)
      leaves += 1
    } else if try merging.lacksBody(leaf) {
      let next = try nextSequence()
      sequence = next
      try merging.fill(try new(next))
    }
    let links = try merging.link(history, sequence: sequence ?? row.sequence)
    guard links.changed || sequence != nil else { return false }
    leaves -= links.lostLeaves
    try merging.settle(
      movingTo: try sequence ?? nextSequence(), added: added, leaves: leaves,
      isWinnerALeaf: !links.coversWinner)
    return true
  }

  /// Whether a document has a revision.
  static func has(_ revision: RevisionID, of row: DocumentRow, on connection: Connection) throws -> Bool {
    try TreeMerging(connection, row: row).has(revision)
  }

  /// Whether a branch has more revisions than a depth, from one of them back to its oldest.
  ///
  /// - Complexity: O(*depth* log *n*)
  static func isBranch(
    of revision: RevisionID, longerThan depth: Int, in row: DocumentRow, on connection: Connection
  ) throws -> Bool {
    let merging = TreeMerging(connection, row: row)
    var (next, count) = (Optional(revision), 0)
    while let found = next, count < depth { (next, count) = (try merging.parent(of: found), count + 1) }
    return next != nil
  }

  private func insert(_ new: NewRevision) throws {
    try AttachmentRow.insert(new.attachments, document: row.number, revision: new.id, on: connection)
    try writing.insertLoser(new, of: row)
  }

  /// The result of linking revisions to their parents.
  private struct Links {
    var changed = false
    /// The number of leaves that now have a child.
    var lostLeaves: Int64 = 0
    /// Whether the winner is among them.
    var coversWinner = false
  }

  /// Links each revision of a history to its parent, and adds entries for unknown ones.
  private func link(_ history: [RevisionID], sequence: Int64) throws -> Links {
    var links = Links()
    for (revision, parent) in zip(history, history.dropFirst()) {
      if let known = try self.parent(of: revision) {
        // Known links are kept; the rest of a different history is ignored.
        guard known == parent else { break }
        continue
      }
      links.changed = true
      if try !has(parent) { try insertAncestor(parent, sequence: sequence) }
      try setParent(parent, of: revision)
      if parent == row.revision {
        links.coversWinner = true
        links.lostLeaves += 1
      } else if try writing.unmarkLeaf(parent, of: row) {
        links.lostLeaves += 1
      }
    }
    return links
  }

  // MARK: Nodes

  private func has(_ revision: RevisionID) throws -> Bool {
    if revision == row.revision { return true }
    let statement = try connection.statement(
      "SELECT 1 FROM revisions WHERE document = ?1 AND generation = ?2 AND revision = ?3")
    defer { statement.reset() }
    try writing.bind(revision, of: row, to: statement, at: 1)
    return try statement.step()
  }

  private func lacksBody(_ revision: RevisionID) throws -> Bool {
    if revision == row.revision { return false }
    let statement = try connection.statement(
      "SELECT body IS NULL FROM revisions WHERE document = ?1 AND generation = ?2 AND revision = ?3")
    defer { statement.reset() }
    try writing.bind(revision, of: row, to: statement, at: 1)
    return try statement.step() && statement.int64(0) != 0
  }

  /// Gives an inner revision, of which only the id was known, its body.
  private func fill(_ new: NewRevision) throws {
    try AttachmentRow.insert(new.attachments, document: row.number, revision: new.id, on: connection)
    let statement = try connection.statement(
      """
      UPDATE revisions SET body = ?4, deleted = ?5, attachments = ?6
       WHERE document = ?1 AND generation = ?2 AND revision = ?3
      """)
    try writing.bind(new.id, of: row, to: statement, at: 1)
    try statement.bind(text: new.body, at: 4)
    try statement.bind(Int64(new.isDeleted ? 1 : 0), at: 5)
    try statement.bind(Int64(new.attachments.count), at: 6)
    try statement.run()
  }

  private func parent(of revision: RevisionID) throws -> RevisionID? {
    let statement: Statement
    if revision == row.revision {
      statement = try connection.statement("SELECT parent FROM documents WHERE number = ?1")
      try statement.bind(row.number, at: 1)
    } else {
      statement = try connection.statement(
        "SELECT parent FROM revisions WHERE document = ?1 AND generation = ?2 AND revision = ?3")
      try writing.bind(revision, of: row, to: statement, at: 1)
    }
    defer { statement.reset() }
    guard try statement.step(), !statement.isNull(0) else { return nil }
    return try RevisionID(stored: statement.unsafeBytes(0))
  }

  private func setParent(_ parent: RevisionID, of revision: RevisionID) throws {
    let statement: Statement
    if revision == row.revision {
      statement = try connection.statement("UPDATE documents SET parent = ?2 WHERE number = ?1")
      try statement.bind(row.number, at: 1)
      try statement.bind(parent.description, at: 2)
    } else {
      statement = try connection.statement(
        "UPDATE revisions SET parent = ?4 WHERE document = ?1 AND generation = ?2 AND revision = ?3")
      try writing.bind(revision, of: row, to: statement, at: 1)
      try statement.bind(parent.description, at: 4)
    }
    try statement.run()
  }

  /// Adds a revision of which only the id is known.
  private func insertAncestor(_ revision: RevisionID, sequence: Int64) throws {
    let statement = try connection.statement(
      """
      INSERT INTO revisions (document, generation, revision, parent, sequence, leaf, deleted, attachments, body)
      VALUES (?1, ?2, ?3, NULL, ?4, 0, 0, 0, NULL)
      """)
    try writing.bind(revision, of: row, to: statement, at: 1)
    try statement.bind(sequence, at: 4)
    try statement.run()
  }

  // MARK: Winner

  /// Updates the winner after the tree has changed. The leaves are not read, as a document may have many.
  ///
  /// - Parameters:
  ///   - added: The leaf that was added, if one was. If the winner is still a leaf, no other one can be greater.
  ///   - leaves: The new number of leaves.
  private func settle(movingTo sequence: Int64, added: Leaf?, leaves: Int64, isWinnerALeaf: Bool) throws {
    let winner = Leaf(id: row.revision, isDeleted: row.isDeleted)
    let rival = isWinnerALeaf ? added : try writing.greatestLosingLeaf(of: row)
    if let best = rival, !isWinnerALeaf || best > winner {
      try writing.demoteWinner(of: row, isLeaf: isWinnerALeaf)
      try writing.promote(best.id, of: row, to: sequence)
    } else if sequence != row.sequence {
      try writing.keepWinner(of: row, under: sequence)
    }
    let statement = try connection.statement("UPDATE documents SET leaves = ?2 WHERE number = ?1")
    try statement.bind(row.number, at: 1)
    try statement.bind(leaves, at: 2)
    try statement.run()
  }
}
