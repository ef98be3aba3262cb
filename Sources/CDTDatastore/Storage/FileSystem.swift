import FoundationEssentials
import Glibc

/// What the store does with files and directories, each failure a ``DatastoreError`` with the path.
enum FileSystem {
  enum Kind {
    case nothing, directory, other
  }

  static func kind(_ path: String) -> Kind {
    var isDirectory = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { return .nothing }
    return isDirectory ? .directory : .other
  }

  /// Makes a directory unless it is there; its parents have to be.
  static func makeDirectory(_ path: String) throws(DatastoreError) {
    // The system would take the path up to the NUL.
    guard !path.utf8.contains(0) else { throw .invalidPath(path) }
    guard mkdir(path, 0o777) != 0 else {
      // What is written in it is on disk only when its name is. A parent that can't be read can't be synced either.
      try? synchronize("\(path)/..")
      return
    }
    let failure = errno
    guard failure == EEXIST else { throw error("create", path, failure) }
    guard kind(path) == .directory else { throw .notADirectory(path) }
  }

  static func names(in directory: String) throws(DatastoreError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: directory)
    } catch {
      throw .system("read", directory, "\(error)", isFull: false)
    }
  }

  static func rename(_ old: String, to new: String) throws(DatastoreError) {
    guard Glibc.rename(old, new) == 0 else { throw error("rename", old, errno) }
  }

  /// Makes sure that a directory's entries are on disk.
  static func synchronize(_ directory: String) throws(DatastoreError) {
    let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw error("open", directory, errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw error("write", directory, errno) }
  }

  /// Removes a directory with all that is in it. Another process may be at it too, so what is gone already is no error.
  static func remove(_ path: String) throws(DatastoreError) {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      guard kind(path) == .nothing else { throw .system("remove", path, "\(error)", isFull: false) }
    }
  }

  /// The length of a file, or `nil` when there is none.
  static func length(of path: String) -> Int64? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// The size of all files below a directory; those that go meanwhile do not count.
  static func size(of directory: String) -> Int64 {
    var total: Int64 = 0
    for name in (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? [] {
      var status = stat()
      if lstat("\(directory)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG {
        total += Int64(status.st_size)
      }
    }
    return total
  }

  static func error(_ action: String, _ path: String, _ code: Int32) -> DatastoreError {
    .system(action, path, String(cString: strerror(code)), isFull: code == ENOSPC || code == EDQUOT)
  }
}
