import CDTSQLite

/// Adds checksums to the pages of a file that an earlier version has created.
///
/// SQLite rewrites the file, for which it needs as much free space as the file has. Nothing else may use the file in the
/// meantime: a checkpoint must write the first page, which says that the others have checksums, before them.
struct PageChecksumUpgrade {
  private let connection: Connection

  init(_ connection: Connection) {
    self.connection = connection
  }

  /// Whether the pages have no checksums yet.
  var isDue: Bool {
    get throws { try !connection.hasPageChecksums() }
  }

  /// Closes the connection at the end, which releases its locks.
  ///
  /// - Throws: ``SQLiteError``; busy if another connection uses the file.
  func run() throws {
    defer { connection.close() }
    connection.busyTimeout = .zero
    // The lock is taken by the next write.
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    try connection.transaction(.immediate) {}
    connection.reservePageChecksums()
    try connection.execute("VACUUM")
    try finish()
  }

  /// Copies the rewritten pages into the file and marks it as one of the current version. This also continues after a
  /// crash.
  func finish() throws {
    _ = try connection.scalar("PRAGMA wal_checkpoint(TRUNCATE)")
    guard try connection.hasPageChecksums() else { return }
    try connection.execute("PRAGMA user_version = \(DatabaseFile.version)")
  }
}
