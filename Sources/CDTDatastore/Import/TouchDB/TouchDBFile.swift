import CDTPlatform
import FoundationEssentials
package import SQLite

/// A database that CDTDatastore 2.x wrote, opened so that nothing about it changes: neither the file, nor what lies
/// beside it.
///
/// A file alone is read in place, without locks. One with a log that waits to be taken in is copied together with it, and
/// the copy is read.
package final class TouchDBFile {
  package let path: String
  private let connection: Connection
  /// The directory of the copy, if one was made.
  private let copy: String?
  /// The files as they were when they were opened.
  private let state: [FileStatus?]

  /// The values of `user_version` that are known: 200 is that of CDTDatastore 2.x, those before lack only the names of
  /// attachments' files.
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
        path: copy.map { "\($0)/\(Self.copyName)" } ?? path, mode: hasLog ? .readWrite : .immutable)
      // What the schema of a file from elsewhere asks for is not to be trusted.
      try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    } catch {
      copy.map { try? FileSystem.remove($0) }
      throw TouchDBError(error, path: path)
    }
  }

  deinit {
    connection.close()
    if let copy { try? FileSystem.remove(copy) }
  }

  /// Runs `body` with the connection; every error of SQLite becomes a ``TouchDBError``.
  package func read<R>(_ body: (Connection) throws -> R) throws -> R {
    do {
      return try body(connection)
    } catch let error as SQLiteError {
      throw TouchDBError(error, path: path)
    }
  }

  /// Goes through the rows of a query. Between rows anything may be done, also with the connection.
  package func forEachRow(
    _ sql: String, _ number: Int64? = nil, _ body: (Statement) throws -> Void
  ) throws {
    let statement = try read { try $0.statement(sql) }
    defer { statement.reset() }
    try read { _ in if let number { try statement.bind(number, at: 1) } }
    while try read({ _ in try statement.step() }) { try body(statement) }
  }

  // MARK: Checks

  /// - Throws: ``TouchDBError`` when a table is missing. A view, or a table that code makes up, is none.
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

  /// - Throws: ``TouchDBError`` when the file is no datastore's, or of a version that is not known.
  func checkLayout() throws {
    try checkTables(["docs", "revs"])
    let version = try read { try $0.scalar("PRAGMA user_version") }
    if version > Self.versions.upperBound { throw TouchDBError.tooNew(path, version) }
    if version < Self.versions.lowerBound { throw TouchDBError.tooOld(path, version) }
  }

  /// Looks through the file, so that damage is known before anything is imported.
  package func checkIntegrity() throws {
    try forEachRow("PRAGMA quick_check(1)") { row in
      if row.text(0) != "ok" { throw TouchDBError.damaged(path, row.text(0)) }
    }
  }

  /// - Throws: ``TouchDBError`` when somebody has written to the file since it was opened.
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
        // Opening anything else could wait for ever.
        guard status.kind == .file else { throw TouchDBError.unreadable(path, "it is no file") }
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
    // Encrypted pages look random: a kilobyte of them has most of the 256 values, and text or a program has not.
    let looksRandom = start.count == length && Set(start).count > 200
    throw looksRandom ? TouchDBError.encrypted(path) : TouchDBError.noDatabase(path)
  }

  private static let copyName = "copy.touchdb"

  /// Copies the file and its logs into a new directory that is nobody else's to read.
  private static func copied(_ path: String) throws -> String {
    let temporary = FileManager.default.temporaryDirectory.path
    let directory = "\(temporary)/cdtdatastore-\(UUID().uuidString)"
    try FileSystem.perform("create", directory, Files.makeDirectory(directory, isPrivate: true))
    do {
      for suffix in [""] + logs where Files.length(of: path + suffix) != nil {
        try AttachmentFiles.replaceFile("\(directory)/\(copyName)\(suffix)") { write in
          try FileChunks.read(path + suffix, failure: { DatastoreError($0, "read", path + suffix) }, write)
        }
      }
    } catch {
      try? FileSystem.remove(directory)
      throw error
    }
    return directory
  }
}

extension Statement {
  /// A column of text, or `nil` when it is NULL or no UTF-8.
  package func checkedText(_ column: Int) -> String? {
    if isNull(column) { return nil }
    return withBytes(column) { String(validating: $0, as: UTF8.self) }
  }
}
