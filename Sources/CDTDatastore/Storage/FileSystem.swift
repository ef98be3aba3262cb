import CDTPlatform
import FoundationEssentials

/// What the store does with files and directories, each failure a ``DatastoreError`` with the path.
enum FileSystem {
  /// Makes a call of the system. The error for its failure says what can't be done with which file.
  static func perform<R>(
    _ action: String, _ path: String, _ call: @autoclosure () throws(SystemError) -> R
  ) throws(DatastoreError) -> R {
    do {
      return try call()
    } catch {
      throw DatastoreError(error, action, path)
    }
  }

  /// Makes a directory unless it is there; its parents have to be.
  static func makeDirectory(_ path: String) throws(DatastoreError) {
    // The system would take the path up to the NUL.
    guard !path.utf8.contains(0) else { throw .invalidPath(path) }
    do {
      try Files.makeDirectory(path)
    } catch {
      guard error.isExisting else { throw DatastoreError(error, "create", path) }
      guard Files.kind(of: path) == .directory else { throw .notADirectory(path) }
      return
    }
    // What is written in it is on disk only when its name is. A parent that can't be read can't be synced either.
    try? synchronize("\(path)/..")
  }

  static func names(in directory: String) throws(DatastoreError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: directory)
    } catch {
      throw .system("read", directory, "\(error)", isFull: false)
    }
  }

  static func rename(_ old: String, to new: String) throws(DatastoreError) {
    try perform("rename", old, Files.rename(old, to: new))
  }

  /// Makes sure that a directory's entries are on disk.
  static func synchronize(_ directory: String) throws(DatastoreError) {
    let file = try perform("open", directory, OpenFile(directory, for: .reading))
    try perform("write", directory, file.synchronize())
  }

  /// Removes a directory with all that is in it. Another process may be at it too, so what is gone already is no error.
  static func remove(_ path: String) throws(DatastoreError) {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      guard Files.kind(of: path) == nil else { throw .system("remove", path, "\(error)", isFull: false) }
    }
  }

  /// The size of all files below a directory; those that go meanwhile do not count.
  static func size(of directory: String) -> Int64 {
    var total: Int64 = 0
    for name in (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? [] {
      let status = try? FileStatus("\(directory)/\(name)", followsLinks: false)
      if let status, status.kind == .file { total += status.size }
    }
    return total
  }
}
