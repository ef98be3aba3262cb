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

  /// How many revisions one transaction goes through, and how many pages: the log that it fills takes a few megabytes, so
  /// that compaction can make room where there is hardly any.
  private static let batch: Int64 = 500

  private func forgetBodies(_ report: inout CompactionReport) throws {
    // Pages that are given back need not be overwritten with zeros first, which would take as much room again.
    try withWriter { try $0.connection.execute("PRAGMA secure_delete = FAST") }
    var last: RevisionKey?
    repeat {
      let keys = try write { try $0.forgetBodies(after: last, count: Self.batch) }
      report.revisions += keys.count
      last = keys.last
    } while last != nil
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
  /// Removes the bodies and attachments of some inner revisions.
  ///
  /// - Returns: The keys of these revisions, in order.
  fileprivate func forgetBodies(after last: RevisionKey?, count: Int64) throws -> [RevisionKey] {
    try use { connection in
      let keys = try RevisionKey.innerWithBody(after: last, count: count, on: connection)
      for key in keys {
        let attachments = try connection.statement(
          "DELETE FROM attachments WHERE document = ?1 AND revision = ?2")
        try attachments.bind(key.document, at: 1)
        try attachments.bind(text: key.revision, at: 2)
        try attachments.run()
        let body = try connection.statement(
          """
          UPDATE revisions SET body = NULL, attachments = 0
           WHERE document = ?1 AND generation = ?2 AND revision = ?3
          """)
        try key.bind(to: body)
        try body.run()
      }
      return keys
    }
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

/// The key of a row in `revisions`.
private struct RevisionKey {
  let document: Int64
  let generation: Int64
  /// As it is stored, whatever it is: going on from a key that was read as another might never end.
  let revision: [UInt8]

  /// The first inner revisions after a key that have a body.
  static func innerWithBody(
    after last: RevisionKey?, count: Int64, on connection: Connection
  ) throws -> [RevisionKey] {
    let statement = try connection.statement(
      """
      SELECT document, generation, revision FROM revisions
       WHERE (document, generation, revision) > (?1, ?2, ?3) AND NOT leaf AND body IS NOT NULL
       ORDER BY document, generation, revision LIMIT ?4
      """)
    defer { statement.reset() }
    try (last ?? RevisionKey(document: 0, generation: 0, revision: [])).bind(to: statement)
    try statement.bind(count, at: 4)
    var keys: [RevisionKey] = []
    while try statement.step() {
      keys.append(
        RevisionKey(
          document: statement.int64(0), generation: statement.int64(1),
          revision: statement.withBytes(2) { Array($0) }))
    }
    return keys
  }

  func bind(to statement: Statement) throws {
    try statement.bind(document, at: 1)
    try statement.bind(generation, at: 2)
    try statement.bind(text: revision, at: 3)
  }
}
