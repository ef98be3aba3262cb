package import CDTPlatform
package import CDTSQLite

/// The access with which an SQLite file is opened, as the permissions and the file system allow.
package enum FileAccess: Sendable {
  case readWrite
  /// Only for reading, with SQLite's locks: the state of the log can be shared with writers.
  case readOnly
  /// Only for reading, without locks, as long as the file has this status, and the disk is full if that is why there is no log. None can
  /// be made.
  case immutable(FileStatus, isDiskFull: Bool = false)

  /// - Parameter isState: Whether the file is never written to.
  /// - Throws: ``DatastoreError`` with the code `.io` if the file has a log that can't be read here.
  package static func of(_ path: String, isState: Bool = false) throws(DatastoreError) -> FileAccess {
    let isDirectoryWritable = !isState && Files.isWritable(Self.directory(of: path))
    guard let status = try FileSystem.perform("read", path, FileStatus.ofFile(at: path)) else {
      return .readWrite
    }
    if isDirectoryWritable { return Files.isWritable(path) ? .readWrite : .readOnly }
    if try exists(LogFile.path(of: path)), try exists("\(path)-shm") { return .readOnly }
    guard try !hasLog(path) else { throw DatastoreError(.unreadableLog(path)) }
    return .immutable(status)
  }

  /// The access to a file that can't be opened for writing because the disk is full.
  ///
  /// - Returns: `nil` if there is a log, which can't be read without space, or the disk has space.
  package static func onFullDisk(_ path: String) throws(DatastoreError) -> FileAccess? {
    guard try !hasLog(path), !hasSpace(path),
      let status = try FileSystem.perform("read", path, FileStatus.ofFile(at: path))
    else { return nil }
    return .immutable(status, isDiskFull: true)
  }

  /// Whether the disk has space for the files of a log.
  private static func hasSpace(_ path: String) -> Bool {
    (try? Files.freeBytes(in: directory(of: path))).map { $0 >= 64 * 1024 } ?? true
  }

  /// The access of a reader to another file of the store; `nil` if it can't be read.
  package func forReading(_ path: String) -> FileAccess? {
    (try? isDiskFull ? Self.onFullDisk(path) : Self.of(path)) ?? nil
  }

  private static func directory(of path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
  }

  private static func exists(_ path: String) throws(DatastoreError) -> Bool {
    try FileSystem.perform("read", path, Files.exists(path))
  }

  private static func hasLog(_ path: String) throws(DatastoreError) -> Bool {
    let log = LogFile.path(of: path)
    return try FileSystem.perform("read", log, Files.length(of: log)) ?? 0 > 0
  }

  package var isReadOnly: Bool {
    if case .readWrite = self { false } else { true }
  }

  package var isImmutable: Bool {
    if case .immutable = self { true } else { false }
  }

  package var isDiskFull: Bool {
    if case .immutable(_, true) = self { true } else { false }
  }

  package var mode: Connection.Mode {
    switch self {
    case .readWrite: .readWrite
    case .readOnly: .readOnly
    case .immutable: .immutable
    }
  }

  /// Whether what was read without locks is still the file's content.
  package func isCurrent(_ path: String) -> Bool {
    guard case .immutable(let status, let isDiskFull) = self else { return true }
    return (try? FileStatus(path)) == status && (try? Self.hasLog(path)) == false
      && !(isDiskFull && Self.hasSpace(path))
  }
}
