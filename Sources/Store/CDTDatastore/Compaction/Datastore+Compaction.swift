import CDTJSON
import CDTPlatform
import CDTSQLite

/// The result of a compaction.
public struct CompactionReport: Sendable, Hashable {
  /// The number of revisions whose bodies were removed.
  public var revisions = 0
  /// The number of attachment files removed.
  public var attachments = 0
  /// The decrease of the store's size on disk in bytes; 0 if concurrent writes added more.
  public var bytesFreed: Int64 = 0
  /// Whether the pages of the database have checksums. They don't if the store was created by an earlier version and
  /// something else used it during the compaction.
  public var hasChecksums = true
}

extension Datastore {
  /// Frees the space of everything no longer needed: the bodies and attachments of all revisions except the leaves,
  /// unreferenced files, free pages.
  ///
  /// Revision trees are kept: `revisionHistory(of:)` still lists every generation. Compaction works in short
  /// transactions, so other threads and processes can write between them and read at any time. If it is interrupted,
  /// completed work is kept.
  ///
  /// Attachments that an earlier state refers to are kept while that state is read, in any process. The call waits for
  /// such readers until the busy timeout has passed; what they still need then is left to the next compaction.
  ///
  /// - Returns: A report of everything that was removed.
  /// - Throws: ``DatastoreError``: `.busy`, `.io`.
  /// - Complexity: O(*n*) in the number of revisions and attachments.
  ///
  /// See <doc:WorkingWithDocuments#Compaction>.
  @discardableResult
  public func compact() throws -> CompactionReport {
    try compact(stop: nil)
  }

  /// Frees the space of everything no longer needed, on one of the datastore's threads. If it is cancelled, completed
  /// work is kept.
  @discardableResult
  public func compact() async throws -> CompactionReport {
    try await WorkQueue.long.run { try self.compact(stop: $0) }
  }

  /// Compacts, and first cuts every branch of every document to a number of revisions, as CouchDB does with `_revs_limit`.
  package func compact(keeping depth: Int) async throws -> CompactionReport {
    try await WorkQueue.long.run { try self.compact(keeping: depth, stop: $0) }
  }

  private func compact(keeping depth: Int? = nil, stop: StopSignal?) throws -> CompactionReport {
    var report = CompactionReport()
    let before = try FileSystem.size(of: directory)
    if let depth { try stemAll(to: depth, stop) }
    try forgetBodies(&report, stop)
    report.attachments = try sweepAttachments(stop)
    report.hasChecksums = try withWriter(stop: stop) { try addChecksums($0.connection) }
    while try withWriter(stop: stop, { try Self.releasePages($0.connection) }) {}
    // It does not wait for readers, as that would block writers. The rest is freed by the next compaction, or when the last
    // connection closes.
    try withWriter { try $0.connection.cutLog() }
    report.bytesFreed = max(0, before - ((try? FileSystem.size(of: directory)) ?? before))
    return report
  }

  /// The number of revisions, and of pages, per transaction. Its log takes a few megabytes, so that compaction works
  /// when the disk is almost full.
  private static let batch: Int64 = 500

  private func forgetBodies(_ report: inout CompactionReport, _ stop: StopSignal?) throws {
    // Overwriting freed pages with zeros would need as much space again.
    try withWriter { try $0.connection.execute("PRAGMA secure_delete = FAST") }
    // Concurrent writes are left to the next compaction.
    let newest = try readWithoutExtensions {
      try $0.use { try $0.scalar("SELECT max(rowid) FROM revisions") }
    }
    var last = Int64.min
    while true {
      let rows = try write(stop: stop) { try $0.forgetBodies(after: last, upTo: newest, count: Self.batch) }
      guard let end = rows.last else { return }
      report.revisions += rows.count
      last = end
    }
  }

  private func stemAll(to depth: Int, _ stop: StopSignal?) throws {
    var last = Int64.min
    while true {
      let documents = try write(stop: stop) { transaction in
        let documents = try transaction.documents(
          withMoreRevisionsThan: depth, after: last, count: Self.batch)
        for document in documents { try transaction.stem(document.id, to: depth) }
        return documents
      }
      guard let end = documents.last else { return }
      last = end.number
    }
  }

  /// Adds checksums to the pages of a store of an earlier version, if nothing else uses the store.
  ///
  /// - Returns: Whether the pages have checksums.
  private func addChecksums(_ connection: Connection) throws -> Bool {
    let upgrade = PageChecksumUpgrade(connection)
    guard try upgrade.isDue else { return true }
    closeIdleReaders()
    do {
      try upgrade.run()
      return true
    } catch let error as SQLiteError where error.isBusy {
      return false
    }
  }

  /// Removes the attachment files that no state refers to: neither the latest nor an earlier one that is being read.
  ///
  /// - Returns: The number of files removed.
  private func sweepAttachments(_ stop: StopSignal?) throws -> Int {
    let deadline = ContinuousClock.now + options.busyTimeout
    while true {
      if let removed = try write(stop: stop, { try $0.sweepAttachments() }) { return removed }
      guard ContinuousClock.now < deadline else { return 0 }
      Sleep.microseconds(10_000)
    }
  }

  /// Whether no reader, in any process, reads an earlier state than the latest one. Call it within a write that has
  /// changed nothing, so that this stays true until the write ends.
  ///
  /// A checkpoint stops at the first page that is newer than a state being read, so if it copies the whole log, nobody
  /// reads an earlier state.
  fileprivate func isOnlyLatestStateRead(duringWriteBy writer: Connection) throws -> Bool {
    endKeptStates()
    let lease = try lendReader()
    return try lease.reader.connection.checkpointsWholeLog(whileLockedBy: writer)
  }

  /// Frees some pages and returns whether there may be more.
  private static func releasePages(_ connection: Connection) throws -> Bool {
    try connection.transaction(.immediate) {
      let free = try connection.scalar("PRAGMA freelist_count")
      guard free > 0 else { return false }
      try connection.execute("PRAGMA incremental_vacuum(\(batch))")
      return try connection.scalar("PRAGMA freelist_count") < free
    }
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
        // SQLite merges half-empty pages when rows are deleted, but not when rows become shorter in place.
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

  /// The first documents, by their numbers, that have more revisions than a branch may have.
  fileprivate func documents(
    withMoreRevisionsThan depth: Int, after last: Int64, count: Int64
  ) throws -> [(number: Int64, id: String)] {
    try use { connection in
      // The winner is not in `revisions`.
      let statement = try connection.statement(
        """
        SELECT number, id FROM documents WHERE number > ?1
           AND EXISTS (SELECT 1 FROM revisions WHERE document = number LIMIT 1 OFFSET ?2)
         ORDER BY number LIMIT ?3
        """)
      defer { statement.reset() }
      try statement.bind(last, at: 1)
      try statement.bind(Int64(max(1, depth)) - 1, at: 2)
      try statement.bind(count, at: 3)
      var documents: [(Int64, String)] = []
      while try statement.step() { documents.append((statement.int64(0), statement.text(1))) }
      return documents
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

  /// Removes the files that no revision refers to. Requires the write lock, under which all files are added and
  /// removed.
  ///
  /// - Returns: The number of files removed; `nil` if an earlier state is being read, whose files are kept.
  fileprivate func sweepAttachments() throws -> Int? {
    let unwanted = try use { connection in
      let statement = try connection.statement("SELECT 1 FROM attachments WHERE key = ?1 LIMIT 1")
      return try files.keys().filter { key in
        defer { statement.reset() }
        try statement.bind(blob: key, at: 1)
        return try !statement.step()
      }
    }
    if !unwanted.isEmpty {
      guard try use({ try store.isOnlyLatestStateRead(duringWriteBy: $0) }) else { return nil }
      // A file must not be removed before the commits that drop its references are on disk, whatever the durability.
      try FileSystem.synchronize(LogFile.path(of: store.databasePath))
    }
    return try files.removeAbandoned() + unwanted.count { files.remove($0) }
  }
}
