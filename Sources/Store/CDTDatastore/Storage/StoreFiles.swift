import CDTPlatform
import CDTSQLite

/// The files of a datastore's directory.
///
/// A user may have put other files there, and links in place of directories. They are left alone.
package enum StoreFiles {
  private static let logs = LogFile.suffixes.map { DatabaseFile.name + $0 }

  static func attachments(in directory: String) -> String { "\(directory)/attachments" }
  static func extensions(in directory: String) -> String { "\(directory)/extensions" }

  /// The extension of the module `CDTQuery`, and its file of definitions. An app that does not use the module may have a datastore
  /// with indexes, too.
  package static let indexExtension = "com.cloudant.sync.query"
  package static let indexDefinitions = "indexes.json"

  /// The names that ``remove(_:)`` removes from a datastore's directory, the database last.
  private static let names = KeyFile.names + logs + [RelaxedDurability.name, DatabaseFile.name]

  /// The names of what a datastore has not made in its directory.
  static func foreignNames(in directory: String) throws(DatastoreError) -> [String] {
    let known = names + ["attachments", "extensions"]
    return try FileSystem.names(in: directory).filter { !known.contains($0) }
  }

  /// Copies a file, or a directory with everything in it, to the disk itself.
  ///
  /// - Throws: ``DatastoreError`` with the code `.io` if there is a link or something else that is neither.
  static func copyTree(_ path: String, to copy: String) throws {
    switch try FileSystem.kind(of: path) {
    case .directory:
      try FileSystem.makeDirectory(copy, followsLinks: false)
      for name in try FileSystem.names(in: path) { try copyTree("\(path)/\(name)", to: "\(copy)/\(name)") }
      try FileSystem.synchronize(copy)
    case .file:
      let file = try FileSystem.perform("create", copy, OpenFile(copy, for: .creating, isPrivate: true))
      try FileChunks.read(path, failure: { DatastoreError($0, "read", path) }) { bytes in
        try FileSystem.perform("write", copy, file.write(bytes))
      }
      try FileSystem.perform("write", copy, file.synchronize())
    case .link: throw DatastoreError(.link(path))
    case .other: throw DatastoreError(.notARegularFile(path))
    case nil: return
    }
  }

  /// Whether a directory has the file of a datastore.
  ///
  /// - Throws: ``DatastoreError`` with the code `.io` if that can't be determined, or if it is not a regular file.
  static func exist(in directory: String) throws(DatastoreError) -> Bool {
    let path = "\(directory)/\(DatabaseFile.name)"
    do throws(SystemError) {
      guard try FileStatus(path).kind != .file else { return true }
    } catch {
      guard !error.isMissing, !error.isNotDirectory else { return false }
      throw DatastoreError(error, "read", path)
    }
    throw DatastoreError(.notARegularFile(path))
  }

  /// Throws if something of another kind is in place of a file or directory: SQLite's message would not name it, and it
  /// would write where a symbolic link leads.
  static func checkKinds(in directory: String) throws(DatastoreError) {
    let database = DatabaseFile.path(in: directory)
    let hasKey = try FileSystem.kind(of: "\(directory)/\(KeyFile.name)") != nil
    for name in [DatabaseFile.name] + logs {
      let path = "\(directory)/\(name)"
      switch try FileSystem.kind(of: path) {
      case .directory
      where path == database + LogFile.suffix
        && (hasKey || (try? DatabaseCipher.isUsed(in: database)) == true):
        continue
      case .file
      where path == database + LogFile.suffix && hasKey
        && (try? DatabaseCipher.hasSQLiteMark(database)) == true:
        throw DatastoreError(.foreignLog(path))
      case .file, nil: continue
      case .link: throw DatastoreError(.link(path))
      case .directory, .other: throw DatastoreError(.notARegularFile(path))
      }
    }
    for path in [attachments(in: directory), extensions(in: directory)] {
      guard try (kind(of: path) ?? .directory) == .directory else {
        throw DatastoreError(.notADirectory(path))
      }
    }
  }

  /// The kind of the file at a path, or at the end of a link there.
  private static func kind(of path: String) throws(DatastoreError) -> FileStatus.Kind? {
    try FileSystem.perform("read", path, Files.kind(of: path))
  }

  /// Removes what a datastore has made. Other files, and the directory if there are any, are left.
  ///
  /// The database file is removed last. It marks the directory as a datastore's when the removal is interrupted.
  static func remove(_ directory: String) throws(DatastoreError) {
    try AttachmentFiles(directory: attachments(in: directory), storeName: "").removeAll()
    let extensions = extensions(in: directory)
    if try FileSystem.kind(of: extensions) == .directory { try FileSystem.remove(extensions) }
    for name in names {
      let path = "\(directory)/\(name)"
      try FileSystem.perform("remove", path, LogFile.remove(path))
    }
    try? Files.removeDirectory(directory)
  }

  /// Whether a directory has what an interrupted ``remove(_:)`` leaves.
  static func areRemains(_ directory: String) -> Bool {
    guard (try? FileSystem.kind(of: directory)) == .directory else { return false }
    let path = DatabaseFile.path(in: directory)
    return (try? FileSystem.kind(of: path)) == .file && (try? FileOwner.check(path)) != nil
      || (try? Files.names(in: directory))?.isEmpty == true
  }
}

/// The length of the path of a datastore's directory.
///
/// SQLite limits the absolute paths of databases. The paths of a datastore's directory, and of what extensions keep below
/// it, must all fit, so that a datastore is refused when it is opened and not when its first index is created.
enum StorePath {
  /// The longest path of a database below a datastore's directory.
  static let longestDatabase = "/extensions/\(StoreFiles.indexExtension)/indexes.sqlite.new"

  /// - Parameter directory: The path of a datastore's directory, which need not exist.
  /// - Throws: ``DatastoreError`` with the code `.io` if it is too long.
  static func check(_ directory: String) throws(DatastoreError) {
    let absolute = try absolute(directory)
    let longest = Connection.longestPath - longestDatabase.utf8.count
    guard absolute.utf8.count <= longest else { throw DatastoreError(.longPath(absolute, longest: longest)) }
  }

  /// The path without symbolic links, as SQLite uses it. The last component may be missing.
  private static func absolute(_ path: String) throws(DatastoreError) -> String {
    guard !path.utf8.contains(0) else { throw DatastoreError(.invalidPath(path)) }
    if let real = try FileSystem.perform("read", path, Files.realPath(path)) { return real }
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let parent = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = end.map { path[path.utf8.index(after: $0)...] } ?? path[...]
    // Without a parent, creating the directory fails.
    guard let real = try FileSystem.perform("read", parent, Files.realPath(parent)) else { return path }
    return real == "/" ? "/\(name)" : "\(real)/\(name)"
  }
}
