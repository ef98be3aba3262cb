import CDTDatastore
import CDTJSON
import CDTPlatform
package import CDTSQLite

/// A CDTDatastore 2.x database, opened so that neither the file nor anything beside it changes.
///
/// A file without a log is read in place, without locks. A file with a log that is not checkpointed is copied together
/// with the log, and the copy is read.
package final class TouchDBFile {
  package let path: String
  private let connection: Connection
  /// The directory of the copy, if any.
  private let copy: TemporaryDirectory?
  /// The state of the files when they were opened.
  private let state: [FileStatus?]

  /// The supported values of `user_version`: 200 is CDTDatastore 2.x; earlier versions lack only the file names of
  /// attachments.
  static let versions: ClosedRange<Int64> = 100...200

  private static let logs = ["-wal", "-journal"]

  /// - Throws: ``TouchDBError``.
  package init(_ path: String) throws {
    self.path = path
    let state = try Self.state(of: path)
    self.state = state
    try Self.checkHeader(path)
    let hasLog = state.dropFirst().contains { ($0?.size ?? 0) > 0 }
    copy = hasLog ? try Self.copied(path) : nil
    do {
      connection = try Connection(
        path: copy.map { "\($0.path)/\(Self.copyName)" } ?? path, mode: hasLog ? .readWrite : .immutable,
        checksPages: false)
      // Don't trust the schema of an imported file.
      try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    } catch {
      throw TouchDBError(error, path: path)
    }
  }

  deinit {
    connection.close()
  }

  /// Runs `body` with the connection; SQLite errors become ``TouchDBError``.
  package func read<R>(_ body: (Connection) throws -> R) throws -> R {
    do {
      return try body(connection)
    } catch let error as SQLiteError {
      throw TouchDBError(error, path: path)
    }
  }

  /// Calls `body` for each row of a query. `body` may use the connection.
  package func forEachRow(
    _ sql: String, _ number: Int64? = nil, _ body: (Statement) throws -> Void
  ) throws {
    let statement = try read { try $0.statement(sql) }
    defer { statement.reset() }
    try read { _ in if let number { try statement.bind(number, at: 1) } }
    while try read({ _ in try statement.step() }) { try body(statement) }
  }

  // MARK: Checks

  /// - Throws: ``TouchDBError`` if a table is missing. Views and virtual tables don't count.
  package func checkTables(_ names: [String]) throws {
    let tables = try tables()
    for name in names where !tables.contains(name) { throw TouchDBError.otherDatabase(path, missing: name) }
  }

  func tables() throws -> Set<String> {
    var tables: Set<String> = []
    try forEachRow("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0") {
      tables.insert($0.text(0))
    }
    return tables
  }

  /// - Throws: ``TouchDBError`` if the file is not a datastore's, or has an unsupported version.
  func checkLayout() throws {
    try checkTables(["docs", "revs"])
    let version = try read { try $0.scalar("PRAGMA user_version") }
    if version > Self.versions.upperBound { throw TouchDBError.tooNew(path, version) }
    if version < Self.versions.lowerBound { throw TouchDBError.tooOld(path, version) }
  }

  /// Checks the whole file, including its indexes, so that damage is found before anything is imported: a damaged index
  /// of `revs` would hide revisions.
  package func checkIntegrity() throws {
    try forEachRow("PRAGMA integrity_check(1)") { row in
      let finding = row.text(0)
      // SQLite may have lacked memory, or failed to read.
      if let failure = SQLiteError(findingOfIntegrityCheck: finding) {
        throw TouchDBError(failure, path: path)
      }
      if finding != "ok" { throw TouchDBError.damaged(path, finding) }
    }
  }

  /// - Throws: ``TouchDBError`` if the file changed since it was opened.
  package func checkUnchanged() throws {
    guard try Self.state(of: path) == state else { throw TouchDBError.changed(path) }
  }

  // MARK: Opening

  /// The state of the file and of its logs.
  private static func state(of path: String) throws -> [FileStatus?] {
    guard !path.utf8.contains(0) else { throw TouchDBError.unreadable(path, "the path has a NUL character") }
    return try ([""] + logs).map { suffix in
      do {
        let status = try FileStatus(path + suffix)
        // Opening anything else could block forever.
        guard status.kind == .file else { throw TouchDBError.unreadable(path, "it is not a regular file") }
        return status
      } catch let error as SystemError {
        if suffix.isEmpty { throw TouchDBError.unreadable(path, error.description) }
        return nil
      }
    }
  }

  private static func checkHeader(_ path: String) throws {
    let length = 1024
    let start: [UInt8]
    do {
      start = try OpenFile(path, for: .reading).read(upTo: length)
    } catch {
      throw TouchDBError.unreadable(path, error.description)
    }
    if start.starts(with: Array("SQLite format 3\u{0}".utf8)) { return }
    // Encrypted pages look random: a kilobyte has most of the 256 byte values, unlike text or programs.
    let looksRandom = start.count == length && Set(start).count > 200
    throw looksRandom ? TouchDBError.encrypted(path) : TouchDBError.noDatabase(path)
  }

  private static let copyName = "copy.touchdb"

  /// Copies the file and its logs into a new private directory.
  private static func copied(_ path: String) throws -> TemporaryDirectory {
    let parent = FileManager.default.temporaryDirectory.path
    let directory = try FileSystem.perform(
      "create a temporary directory in", parent, TemporaryDirectory(in: parent, named: "cdtdatastore-"))
    for suffix in [""] + logs {
      guard try FileSystem.perform("read", path + suffix, Files.length(of: path + suffix)) != nil else {
        continue
      }
      try AttachmentFiles.replaceFile("\(directory.path)/\(copyName)\(suffix)") { write in
        try FileChunks.read(path + suffix, failure: { DatastoreError($0, "read", path + suffix) }, write)
      }
    }
    return directory
  }
}

extension Statement {
  /// A text column, or `nil` if it is NULL or not UTF-8.
  package func checkedText(_ column: Int) -> String? {
    if isNull(column) { return nil }
    return withBytes(column) { String(validating: $0, as: UTF8.self) }
  }
}
