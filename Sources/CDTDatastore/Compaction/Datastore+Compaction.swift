import JSON
import SQLite

/// What a compaction has freed.
public struct CompactionReport: Sendable, Hashable {
  /// How many revisions lost their bodies.
  public var revisions = 0
  /// How many files of attachments were removed.
  public var attachments = 0
  /// How many bytes less the store takes on disk; 0 when others have written more meanwhile.
  public var bytesFreed: Int64 = 0
}

extension Datastore {
  /// Gives back the space of what is no longer needed: the bodies and attachments of all revisions but the leaves, files
  /// that nothing refers to, free pages.
  ///
  /// The trees stay: ``revisionHistory(of:)`` still lists every generation. It works in short transactions, between which
  /// others write; readers go on. Interrupted, it has done a part, and nothing is harmed.
  ///
  /// - Returns: What was freed.
  /// - Throws: ``DatastoreError``: `.busy`, `.io`.
  /// - Complexity: O(*n*) in the number of revisions and attachments.
  ///
  /// Source: `docs/crud.md`, Compaction.
  @discardableResult
  public func compact() throws -> CompactionReport {
    var report = CompactionReport()
    let before = FileSystem.size(of: directory)
    try forgetBodies(&report)
    report.attachments = try write { transaction in
      // A file must not go before the commits that refer to it no longer are on disk, whatever the durability.
      try FileSystem.synchronize("\(databasePath)-wal")
      return try transaction.sweepAttachments()
    }
    while try withWriter({ try Self.releasePages($0.connection) }) {}
    try withWriter { try Self.cutLog($0.connection) }
    report.bytesFreed = max(0, before - FileSystem.size(of: directory))
    return report
  }

  /// How many revisions one transaction goes through, and how many pages: the log that it fills takes a few megabytes, so
  /// that compaction can make room where there is hardly any.
  private static let batch: Int64 = 500

  private func forgetBodies(_ report: inout CompactionReport) throws {
    // Pages that are given back need not be overwritten with zeros first, which would take as much room again.
    try withWriter { try $0.connection.execute("PRAGMA secure_delete = FAST") }
    // What others write meanwhile is for the next time.
    let newest = try read { try $0.scalar("SELECT max(rowid) FROM revisions") }
    var last = Int64.min
    while true {
      let rows = try write { try $0.forgetBodies(after: last, upTo: newest, count: Self.batch) }
      guard let end = rows.last else { return }
      report.revisions += rows.count
      last = end
    }
  }

  /// Gives some free pages back; whether there may be more.
  private static func releasePages(_ connection: Connection) throws -> Bool {
    try connection.transaction(.immediate) {
      let free = try connection.scalar("PRAGMA freelist_count")
      guard free > 0 else { return false }
      try connection.execute("PRAGMA incremental_vacuum(\(batch))")
      return try connection.scalar("PRAGMA freelist_count") < free
    }
  }

  /// Copies the log into the file, as far as readers let it. They are not waited for, as writers would have to wait too:
  /// what they hold back, the next compaction gives back, or the last connection to close.
  private static func cutLog(_ connection: Connection) throws {
    let timeout = connection.busyTimeout
    connection.busyTimeout = .zero
    defer { connection.busyTimeout = timeout }
    try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }
}

extension WriteTransaction {
  /// Removes the bodies and attachments of some inner revisions.
  ///
  /// - Returns: Their rows, in order.
  fileprivate func forgetBodies(after last: Int64, upTo newest: Int64, count: Int64) throws -> [Int64] {
    try use { connection in
      let rows = try Self.innerRevisions(after: last, upTo: newest, count: count, on: connection)
      for row in rows {
        let attachments = try connection.statement(
          """
          DELETE FROM attachments
           WHERE (document, revision) = (SELECT document, revision FROM revisions WHERE rowid = ?1)
          """)
        try attachments.bind(row, at: 1)
        try attachments.run()
        // SQLite joins half-empty pages when rows go, not when they become shorter where they are.
        let body = try connection.statement(
          """
          UPDATE revisions SET rowid = (SELECT max(rowid) + 1 FROM revisions), body = NULL, attachments = 0
           WHERE rowid = ?1
          """)
        try body.bind(row, at: 1)
        try body.run()
      }
      return rows
    }
  }

  /// The first rows of inner revisions that have a body.
  private static func innerRevisions(
    after last: Int64, upTo newest: Int64, count: Int64, on connection: Connection
  ) throws -> [Int64] {
    let statement = try connection.statement(
      """
      SELECT rowid FROM revisions WHERE rowid > ?1 AND rowid <= ?2 AND NOT leaf AND body IS NOT NULL
       ORDER BY rowid LIMIT ?3
      """)
    defer { statement.reset() }
    try statement.bind(last, at: 1)
    try statement.bind(newest, at: 2)
    try statement.bind(count, at: 3)
    var rows: [Int64] = []
    while try statement.step() { rows.append(statement.int64(0)) }
    return rows
  }

  /// Removes the files that no revision refers to. Files come and go only under the write lock, which is held here.
  fileprivate func sweepAttachments() throws -> Int {
    try use { connection in
      let statement = try connection.statement("SELECT 1 FROM attachments WHERE key = ?1 LIMIT 1")
      return try files.sweep { key in
        statement.reset()
        try statement.bind(blob: key, at: 1)
        let isWanted = try statement.step()
        statement.reset()
        return isWanted
      }
    }
  }
}
