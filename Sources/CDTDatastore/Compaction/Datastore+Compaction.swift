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
    for each in extensions { try each.willCompact() }
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

  /// How many documents one transaction goes through, and how many pages.
  private static let batch: Int64 = 2_000

  private func forgetBodies(_ report: inout CompactionReport) throws {
    var last: Int64 = 0
    while true {
      let (next, count) = try write { try $0.forgetBodies(after: last, documents: Self.batch) }
      report.revisions += count
      guard let next else { return }
      last = next
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
    let timeout = try connection.scalar("PRAGMA busy_timeout")
    try connection.execute("PRAGMA busy_timeout = 0")
    defer { try? connection.execute("PRAGMA busy_timeout = \(timeout)") }
    try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }
}

extension WriteTransaction {
  /// Removes the bodies and attachments of the inner revisions of some documents.
  ///
  /// - Returns: The number of the last of these documents, `nil` after the end; and how many bodies were removed.
  fileprivate func forgetBodies(after number: Int64, documents: Int64) throws -> (next: Int64?, count: Int) {
    try use { connection in
      let last = try Self.lastDocument(after: number, count: documents, on: connection)
      guard let last else { return (nil, 0) }
      let attachments = try connection.statement(
        """
        DELETE FROM attachments WHERE (document, revision) IN
          (SELECT document, revision FROM revisions
            WHERE document > ?1 AND document <= ?2 AND NOT leaf AND attachments > 0 AND body IS NOT NULL)
        """)
      try attachments.bind(number, at: 1)
      try attachments.bind(last, at: 2)
      try attachments.run()
      let bodies = try connection.statement(
        """
        UPDATE revisions SET body = NULL, attachments = 0
         WHERE document > ?1 AND document <= ?2 AND NOT leaf AND body IS NOT NULL
        """)
      try bodies.bind(number, at: 1)
      try bodies.bind(last, at: 2)
      try bodies.run()
      return (last, Int(try connection.scalar("SELECT changes()")))
    }
  }

  private static func lastDocument(
    after number: Int64, count: Int64, on connection: Connection
  ) throws -> Int64? {
    let statement = try connection.statement(
      """
      SELECT max(document) FROM
        (SELECT DISTINCT document FROM revisions WHERE document > ?1 ORDER BY document LIMIT ?2)
      """)
    defer { statement.reset() }
    try statement.bind(number, at: 1)
    try statement.bind(count, at: 2)
    guard try statement.step(), !statement.isNull(0) else { return nil }
    return statement.int64(0)
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
