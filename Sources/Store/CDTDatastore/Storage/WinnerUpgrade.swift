import CDTSQLite

/// Chooses the winners of a store that an earlier version has written.
///
/// Earlier versions compared the ids of revisions as texts. CouchDB compares 32 hexadecimal digits as the 16 bytes that they
/// stand for, so a document that has such a leaf and one with another kind of id of the same generation can have another
/// winner. It becomes the winner under a new sequence, so the indexes and the followers of changes see it.
struct WinnerUpgrade {
  private let connection: Connection

  init(_ connection: Connection) {
    self.connection = connection
  }

  /// Chooses the winners of all documents with several leaves, once in the life of a store.
  func finish() throws {
    guard try isNeeded() else { return }
    try connection.transaction(.immediate) {
      // Another process may have been faster.
      guard try isNeeded() else { return }
      for id in try conflicts() { try choose(id) }
      try Self.mark(connection)
    }
  }

  /// Records that the winners are those of this version.
  static func mark(_ connection: Connection) throws {
    try connection.execute("INSERT INTO meta VALUES ('winners', 'bytes')")
  }

  private func isNeeded() throws -> Bool {
    try connection.scalar(
      """
      SELECT EXISTS (SELECT 1 FROM documents WHERE leaves > 1)
         AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'winners')
      """) != 0
  }

  private func conflicts() throws -> [String] {
    let statement = try connection.statement("SELECT id FROM documents WHERE leaves > 1")
    defer { statement.reset() }
    var ids: [String] = []
    while try statement.step() { ids.append(statement.text(0)) }
    return ids
  }

  private func choose(_ id: String) throws {
    let writing = DocumentWriting(connection: connection)
    guard let row = try DocumentRow.find(id, on: connection),
      let rival = try writing.greatestLosingLeaf(of: row),
      rival > Leaf(id: row.revision, isDeleted: row.isDeleted)
    else { return }
    let sequence = try connection.scalar("SELECT max(sequence) FROM documents") + 1
    try writing.demoteWinner(of: row, isLeaf: true)
    try writing.promote(rival.id, of: row, to: sequence)
  }
}
