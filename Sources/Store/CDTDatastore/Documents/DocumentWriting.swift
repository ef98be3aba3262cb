import CDTSQLite

/// A revision to be added to a tree.
package struct NewRevision {
  package let id: RevisionID
  package let parent: RevisionID?
  package let sequence: Int64
  package var isDeleted: Bool
  package var body: [UInt8]
  package var attachments: [AttachmentRow]

  package init(
    id: RevisionID, parent: RevisionID?, sequence: Int64, isDeleted: Bool = false,
    body: [UInt8] = BodyText.none.text, attachments: [AttachmentRow] = []
  ) {
    (self.id, self.parent, self.sequence, self.isDeleted) = (id, parent, sequence, isDeleted)
    (self.body, self.attachments) = (body, attachments)
  }
}

/// Writes revisions: winners into `documents`, all others into `revisions`.
struct DocumentWriting {
  let connection: Connection

  /// Adds a document, whose id does not exist.
  ///
  /// - Parameter row: The row of a document of this id that has no other revision any more.
  func insert(id: String, _ new: NewRevision, over row: DocumentRow? = nil) throws {
    if let row {
      try AttachmentRow.insert(new.attachments, document: row.number, revision: new.id, on: connection)
      return try replaceWinner(by: new, of: row)
    }
    let statement = try connection.statement(
      """
      INSERT INTO documents
        (number, sequence, parent, deleted, attachments, stored_revision, head, text, written, id, leaves)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1)
      """)
    try bind(new, of: id, number: new.sequence, to: statement)
    try statement.bind(id, at: 10)
    try statement.run()
    try AttachmentRow.insert(new.attachments, document: new.sequence, revision: new.id, on: connection)
  }

  /// The leaf with an id; `nil` if the revision is not a leaf.
  func leaf(_ revision: RevisionID, of row: DocumentRow) throws -> Leaf? {
    if revision == row.revision { return Leaf(id: revision, isDeleted: row.isDeleted) }
    guard row.leaves > 1 else { return nil }
    let statement = try connection.statement(
      "SELECT deleted FROM revisions WHERE document = ?1 AND generation = ?2 AND revision = ?3 AND leaf")
    defer { statement.reset() }
    try bind(revision, of: row, to: statement, at: 1)
    return try statement.step() ? Leaf(id: revision, isDeleted: statement.int64(0) != 0) : nil
  }

  /// The leaves that are not deleted, newest first, including the winner.
  func currentLeaves(of row: DocumentRow) throws -> [RevisionID] {
    var leaves = row.isDeleted ? [] : [row.revision]
    if row.leaves > 1 { leaves += try losingLeaves(of: row).filter { !$0.isDeleted }.map(\.id) }
    return leaves.sorted(by: >)
  }

  /// The greatest losing leaf; `nil` if there is none.
  ///
  /// The index has the leaves of a generation in the order of their texts. That is the order of the digests among them, and of
  /// the other ids, so the greatest leaf is the first digest or the first of the others.
  ///
  /// - Complexity: One index lookup if all ids are digests that were computed; otherwise O(*l*), where *l* is the number of
  ///   leaves of the highest generation.
  func greatestLosingLeaf(of row: DocumentRow) throws -> Leaf? {
    let statement = try connection.statement(
      """
      SELECT revision, deleted FROM revisions WHERE document = ?1 AND leaf
       ORDER BY deleted, generation DESC, revision DESC LIMIT 1
      """)
    defer { statement.reset() }
    try statement.bind(row.number, at: 1)
    guard try statement.step() else { return nil }
    let first = Leaf(id: try RevisionID(stored: statement.unsafeBytes(0)), isDeleted: statement.int64(1) != 0)
    guard !first.id.isAfterLowerTexts, let other = try firstOfOtherKind(after: first, of: row) else {
      return first
    }
    return max(first, other)
  }

  /// The first losing leaf after one of the same generation that is a digest where that is another id, or the reverse.
  private func firstOfOtherKind(after leaf: Leaf, of row: DocumentRow) throws -> Leaf? {
    let statement = try connection.statement(
      """
      SELECT revision FROM revisions
       WHERE document = ?1 AND generation = ?2 AND revision < ?3 AND deleted = ?4 AND leaf
         AND (length(CAST(revision AS BLOB)) = ?5 + 32 AND substr(revision, ?5 + 1) NOT GLOB '*[^0-9a-f]*'
              AND NOT instr(revision, char(0))) != ?6
       ORDER BY revision DESC LIMIT 1
      """)
    defer { statement.reset() }
    try bind(leaf.id, of: row, to: statement, at: 1)
    try statement.bind(Int64(leaf.isDeleted ? 1 : 0), at: 4)
    try statement.bind(Int64(leaf.id.description.utf8.count - leaf.id.suffix.utf8.count), at: 5)
    try statement.bind(Int64(leaf.id.isDigest ? 1 : 0), at: 6)
    guard try statement.step() else { return nil }
    return Leaf(id: try RevisionID(stored: statement.unsafeBytes(0)), isDeleted: leaf.isDeleted)
  }

  private func losingLeaves(of row: DocumentRow) throws -> [Leaf] {
    let statement = try connection.statement(
      "SELECT revision, deleted FROM revisions WHERE document = ?1 AND leaf")
    defer { statement.reset() }
    try statement.bind(row.number, at: 1)
    var leaves: [Leaf] = []
    while try statement.step() {
      leaves.append(
        Leaf(id: try RevisionID(stored: statement.unsafeBytes(0)), isDeleted: statement.int64(1) != 0))
    }
    return leaves
  }

  /// Adds a child to a leaf and updates the winner.
  ///
  /// The document always gets the new sequence, which changes and indexes depend on. Without conflicts this changes
  /// one row and adds one, however long the history.
  func graft(_ new: NewRevision, onto row: DocumentRow) throws {
    let leaf = Leaf(id: new.id, isDeleted: new.isDeleted)
    let winner = Leaf(id: row.revision, isDeleted: row.isDeleted)
    try AttachmentRow.insert(new.attachments, document: row.number, revision: new.id, on: connection)
    if new.parent == row.revision {
      try demoteWinner(of: row, isLeaf: false)
      // No other leaf can be greater than the child of the winner, unless it is a tombstone.
      let rival = new.isDeleted && row.leaves > 1 ? try greatestLosingLeaf(of: row) : nil
      if let rival, rival > leaf {
        try promote(rival.id, of: row, to: new.sequence)
        try insertLoser(new, of: row)
      } else {
        try replaceWinner(by: new, of: row)
      }
    } else {
      try unmarkLeaf(new.parent, of: row)
      if leaf > winner {
        try demoteWinner(of: row, isLeaf: true)
        try replaceWinner(by: new, of: row)
      } else {
        try insertLoser(new, of: row)
        try keepWinner(of: row, under: new.sequence)
      }
    }
  }

  /// - Parameter written: The sequence of the write that made it, if it is not the document's newest.
  private func replaceWinner(by new: NewRevision, of row: DocumentRow, written: Int64? = nil) throws {
    let statement = try connection.statement(
      """
      UPDATE documents SET sequence = ?2, parent = ?3, deleted = ?4, attachments = ?5, stored_revision = ?6, head = ?7,
             text = ?8, written = ?9
       WHERE number = ?1
      """)
    try bind(new, of: row.id, number: row.number, to: statement)
    if let written { try statement.bind(written, at: 9) }
    try statement.run()
  }

  /// Binds the columns of a winner, from the number to the text.
  private func bind(_ new: NewRevision, of id: String, number: Int64, to statement: Statement) throws {
    let columns = StoredText.Columns(id: id, revision: new.id, body: new.body)
    try statement.bind(number, at: 1)
    try statement.bind(new.sequence, at: 2)
    if let parent = new.parent { try statement.bind(parent.description, at: 3) }
    try statement.bind(Int64(new.isDeleted ? 1 : 0), at: 4)
    try statement.bind(Int64(new.attachments.count), at: 5)
    if columns.hasStoredRevision { try statement.bind(new.id.description, at: 6) }
    try statement.bind(columns.head, at: 7)
    try statement.bind(text: columns.text, at: 8)
  }

  /// Keeps the winner but gives the document a new sequence, because another branch has changed.
  func keepWinner(of row: DocumentRow, under sequence: Int64) throws {
    let statement = try connection.statement(
      "UPDATE documents SET sequence = ?2, written = coalesce(written, sequence) WHERE number = ?1")
    try statement.bind(row.number, at: 1)
    try statement.bind(sequence, at: 2)
    try statement.run()
  }

  /// Copies the winner into `revisions`, as an inner revision or a losing leaf.
  func demoteWinner(of row: DocumentRow, isLeaf: Bool) throws {
    let statement = try connection.statement(Self.demotion)
    try bind(row.revision, of: row, to: statement, at: 1)
    try statement.bind(Int64(isLeaf ? 1 : 0), at: 4)
    try statement.run()
  }

  /// A constant, as each update takes it.
  private static let demotion = """
    INSERT INTO revisions (document, generation, revision, parent, sequence, leaf, deleted, attachments, body)
    SELECT number, ?2, ?3, parent, coalesce(written, sequence), ?4, deleted, attachments, \(StoredText.bodySQL)
      FROM documents WHERE number = ?1
    """

  /// Makes a losing leaf the winner.
  func promote(_ leaf: RevisionID, of row: DocumentRow, to sequence: Int64) throws {
    let known = try connection.statement(
      """
      SELECT sequence, parent, deleted, attachments, body FROM revisions
       WHERE document = ?1 AND generation = ?2 AND revision = ?3
      """)
    defer { known.reset() }
    try bind(leaf, of: row, to: known, at: 1)
    guard try known.step() else { return }
    let written = known.int64(0)
    var winner = NewRevision(
      id: leaf, parent: known.isNull(1) ? nil : try RevisionID(stored: known.unsafeBytes(1)),
      sequence: sequence,
      isDeleted: known.int64(2) != 0)
    if !known.isNull(4) { winner.body = known.withBytes(4) { Array($0) } }
    if known.int64(3) > 0 {
      winner.attachments = try AttachmentRow.find(document: row.number, revision: leaf, on: connection)
    }
    try replaceWinner(by: winner, of: row, written: written == sequence ? nil : written)
    let remove = try connection.statement(
      "DELETE FROM revisions WHERE document = ?1 AND generation = ?2 AND revision = ?3")
    try bind(leaf, of: row, to: remove, at: 1)
    try remove.run()
  }

  func insertLoser(_ new: NewRevision, of row: DocumentRow) throws {
    let statement = try connection.statement(
      """
      INSERT INTO revisions (document, generation, revision, parent, sequence, leaf, deleted, attachments, body)
      VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7, ?8)
      """)
    try bind(new.id, of: row, to: statement, at: 1)
    if let parent = new.parent { try statement.bind(parent.description, at: 4) }
    try statement.bind(new.sequence, at: 5)
    try statement.bind(Int64(new.isDeleted ? 1 : 0), at: 6)
    try statement.bind(Int64(new.attachments.count), at: 7)
    try statement.bind(text: new.body, at: 8)
    try statement.run()
  }

  /// - Returns: Whether the revision was a losing leaf.
  @discardableResult
  func unmarkLeaf(_ revision: RevisionID?, of row: DocumentRow) throws -> Bool {
    guard let revision else { return false }
    let statement = try connection.statement(
      "UPDATE revisions SET leaf = 0 WHERE document = ?1 AND generation = ?2 AND revision = ?3 AND leaf")
    try bind(revision, of: row, to: statement, at: 1)
    try statement.run()
    return connection.changes > 0
  }

  /// Binds a revision's key in `revisions` as three parameters.
  func bind(
    _ revision: RevisionID, of row: DocumentRow, to statement: Statement, at position: Int
  ) throws {
    try statement.bind(row.number, at: position)
    try statement.bind(Int64(revision.generation), at: position + 1)
    try statement.bind(revision.description, at: position + 2)
  }
}
