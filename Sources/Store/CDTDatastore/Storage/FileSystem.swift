package import CDTPlatform
import CDTSQLite

/// File system operations of the store. Each failure is a ``DatastoreError`` with the path.
package enum FileSystem {
  /// Makes a system call. The error of a failure names the action and the file.
  package static func perform<R>(
    _ action: String, _ path: String, _ call: @autoclosure () throws(SystemError) -> R
  ) throws(DatastoreError) -> R {
    do {
      return try call()
    } catch {
      throw DatastoreError(error, action, path)
    }
  }

  /// The kind of the file at a path, which may be a link; `nil` if there is no file.
  package static func kind(of path: String) throws(DatastoreError) -> FileStatus.Kind? {
    try perform("read", path, Files.kind(of: path, followsLinks: false))
  }

  /// Runs `body`, which opens or reads a file. Errors of SQLite and of the system become ``DatastoreError`` with the path.
  package static func reading<R>(_ path: String, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as SystemError {
      throw error.isMissing ? DatastoreError(.noFile(path)) : DatastoreError(error, "read", path)
    } catch let error as SQLiteError {
      throw DatastoreError(error, path: path)
    }
  }

  /// Creates a directory if it does not exist; its parent must exist.
  ///
  /// - Parameter followsLinks: Whether a symbolic link to a directory is one; otherwise it is an error.
  package static func makeDirectory(_ path: String, followsLinks: Bool = true) throws(DatastoreError) {
    // The system would cut the path at the NUL.
    guard !path.utf8.contains(0) else { throw DatastoreError(.invalidPath(path)) }
    var attempts = 100
    while true {
      do {
        try Files.makeDirectory(path)
        break
      } catch {
        guard error.isExisting else { throw DatastoreError(error, "create", path) }
      }
      switch try perform("read", path, Files.kind(of: path, followsLinks: followsLinks)) {
      case .directory: return
      // Somebody has removed it in between.
      case nil where attempts > 0: attempts -= 1
      case .link: throw DatastoreError(.link(path))
      default: throw DatastoreError(.notADirectory(path))
      }
    }
    // Files in the directory are durable only when its own name is. If the parent can't be read, it can't be synced
    // either.
    try? synchronize("\(path)/..")
  }

  package static func names(in directory: String) throws(DatastoreError) -> [String] {
    try perform("read", directory, Files.names(in: directory))
  }

  package static func rename(_ old: String, to new: String) throws(DatastoreError) {
    try perform("rename", old, Files.rename(old, to: new))
  }

  /// Syncs a directory's entries to disk.
  package static func synchronize(_ directory: String) throws(DatastoreError) {
    let file = try perform("open", directory, OpenFile(directory, for: .reading))
    try perform("write", directory, file.synchronize())
  }

  /// Removes a directory recursively, without following links. Another process may do the same, so a missing file is
  /// not an error.
  package static func remove(_ path: String) throws(DatastoreError) {
    try perform("remove", path, Files.removeTree(path))
  }

  /// The total size of the files below a directory, without those that links lead to; files removed in the meantime don't
  /// count.
  package static func size(of directory: String) throws(DatastoreError) -> Int64 {
    let names: [String]
    do throws(SystemError) {
      names = try Files.names(in: directory)
    } catch {
      if error.isMissing { return 0 }
      throw DatastoreError(error, "read", directory)
    }
    var total: Int64 = 0
    for name in names {
      let path = "\(directory)/\(name)"
      let status = try perform("read", path, FileStatus.ofFile(at: path, followsLinks: false))
      switch status?.kind {
      case .file: total += status?.size ?? 0
      case .directory: total += try size(of: path)
      case .link, .other, nil: break
      }
    }
    return total
  }
}
