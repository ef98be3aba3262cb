import CDTCLibrary
import CDTCPlatform

/// Operations on files and directories by path.
package enum Files {
  /// - Throws: ``SystemError`` if the system can't tell.
  package static func exists(_ path: String) throws(SystemError) -> Bool {
    try FileStatus.ofFile(at: path) != nil
  }

  /// The kind of file at a path; `nil` if there is none.
  ///
  /// - Parameter followsLinks: Whether to follow a symbolic link.
  /// - Throws: ``SystemError`` if the system can't tell.
  package static func kind(
    of path: String, followsLinks: Bool = true
  ) throws(SystemError) -> FileStatus.Kind? {
    try FileStatus.ofFile(at: path, followsLinks: followsLinks)?.kind
  }

  /// The absolute path of a file without symbolic links; `nil` if there is no file.
  package static func realPath(_ path: String) throws(SystemError) -> String? {
    try SystemError.checkPath(path)
    guard let real = realpath(path, nil) else {
      let error = SystemError(errno)
      guard error.isMissing else { throw error }
      return nil
    }
    defer { free(real) }
    return String(cString: real)
  }

  /// The length of a regular file; `nil` if there is none.
  ///
  /// - Throws: ``SystemError`` if the system can't tell.
  package static func length(of path: String) throws(SystemError) -> Int64? {
    guard let status = try FileStatus.ofFile(at: path), status.kind == .file else { return nil }
    return status.size
  }

  /// Whether the file can be written to, or the entries of a directory changed.
  package static func isWritable(_ path: String) -> Bool {
    faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
  }

  /// The bytes that this user can still write to the file system of a directory.
  package static func freeBytes(in directory: String) throws(SystemError) -> Int64 {
    try SystemError.checkPath(directory)
    var free: UInt64 = 0
    let error = cdt_free_bytes(directory, &free)
    guard error == 0 else { throw SystemError(error) }
    return Int64(clamping: free)
  }

  /// - Throws: ``SystemError`` if the file can't be read.
  package static func checkReadable(_ path: String) throws(SystemError) {
    guard access(path, R_OK) == 0 else { throw SystemError(errno) }
  }

  /// Creates a directory that only the user can access. Its parent must exist.
  package static func makeDirectory(_ path: String) throws(SystemError) {
    try SystemError.checkPath(path)
    guard mkdir(path, 0o700) == 0 else { throw SystemError(errno) }
  }

  /// Creates an empty file that only the user can access, unless the path exists.
  ///
  /// The file is not opened: closing it would release the locks that this process has on it.
  package static func makeFile(_ path: String) throws(SystemError) {
    try SystemError.checkPath(path)
    let error = cdt_make_file(path)
    guard error == 0 || error == EEXIST else { throw SystemError(error) }
  }

  /// Renames a file, replacing an existing one.
  package static func rename(_ path: String, to other: String) throws(SystemError) {
    guard renameFile(path, other) == 0 else { throw SystemError(errno) }
  }

  /// Exchanges two directories of one file system: at any moment, each path leads to one of them.
  ///
  /// - Throws: ``SystemError`` if the file system can't do that, or the paths are on different ones.
  package static func exchange(_ path: String, _ other: String) throws(SystemError) {
    try SystemError.checkPath(path)
    try SystemError.checkPath(other)
    let error = cdt_exchange(path, other)
    guard error == 0 else { throw SystemError(error) }
  }

  /// Replaces a file, or creates it. After a power failure it has the old content or the new; when the call returns, the
  /// new content is on disk.
  ///
  /// The content is first written to the path with `.new` at its end. Only one caller may replace the file at a time.
  package static func replace(_ path: String, with content: [UInt8]) throws(SystemError) {
    let draft = path + ".new"
    // Of a call that was interrupted, or something that can't be written to.
    try remove(draft)
    do throws(SystemError) {
      let file = try OpenFile(draft, for: .creating, isPrivate: true)
      try content.withUnsafeBufferPointer { content throws(SystemError) in
        try file.write(UnsafeRawBufferPointer(content))
      }
      try file.synchronize()
      try rename(draft, to: path)
    } catch {
      unlink(draft)
      throw error
    }
    try synchronizeDirectory(of: path)
  }

  /// Moves a directory that was filled elsewhere in the same file system to its place. After a power failure it is there with the
  /// names that it has now, or not at all.
  ///
  /// - Parameter isExchange: Whether a directory is at that place, which moves to the place of the draft.
  package static func publish(
    _ draft: String, at place: String, asExchange isExchange: Bool = false
  ) throws(SystemError) {
    try synchronizeDirectory(of: "\(draft)/")
    if isExchange { try exchange(place, draft) } else { try rename(draft, to: place) }
    for path in isExchange ? [place, draft] : [place] {
      do throws(SystemError) {
        try synchronizeDirectory(of: path)
      } catch {
        // A directory that can't be read can't be synced.
        guard error.isForbidden else { throw error }
      }
    }
  }

  /// Syncs the name of a file to disk.
  package static func synchronizeDirectory(of path: String) throws(SystemError) {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    try OpenFile(end.map { String(path[...$0]) } ?? ".", for: .reading).synchronize()
  }

  /// Removes a file; a missing file is not an error.
  package static func remove(_ path: String) throws(SystemError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw SystemError(errno) }
  }

  /// The names in a directory, in no order.
  ///
  /// - Parameter followsLinks: Whether the directory may be a symbolic link.
  package static func names(
    in directory: String, followsLinks: Bool = true
  ) throws(SystemError) -> [String] {
    try SystemError.checkPath(directory)
    let descriptor = cdt_open(directory, O_RDONLY | O_DIRECTORY | (followsLinks ? 0 : O_NOFOLLOW), 0)
    guard descriptor >= 0 else { throw SystemError(-descriptor) }
    guard let stream = fdopendir(descriptor) else {
      let error = SystemError(errno)
      close(descriptor)
      throw error
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw SystemError(errno) }
        return names
      }
      // An entry may be shorter than its type, so it is not copied.
      let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
      let name = String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
      if name != ".", name != ".." { names.append(name) }
    }
  }

  /// Removes a file, a symbolic link, or a directory with everything in it. What a link leads to is left alone, and a
  /// missing file is not an error.
  package static func removeTree(_ path: String) throws(SystemError) {
    guard try kind(of: path, followsLinks: false) == .directory else { return try remove(path) }
    for name in try names(in: path, followsLinks: false) { try removeTree("\(path)/\(name)") }
    try removeDirectory(path)
  }

  /// Removes an empty directory; a missing one is not an error.
  package static func removeDirectory(_ path: String) throws(SystemError) {
    guard rmdir(path) == 0 || errno == ENOENT else { throw SystemError(errno) }
  }

  /// Whether somebody holds the lock of a file; `false` if there is no file.
  package static func isLocked(_ path: String) throws(SystemError) -> Bool {
    do throws(SystemError) {
      return try !OpenFile(path, for: .probing).lock()
    } catch {
      if error.isMissing { return false }
      throw error
    }
  }

  /// Removes a file unless it is locked, while holding its lock.
  ///
  /// - Returns: Whether it was removed.
  package static func removeUnlocked(_ path: String) -> Bool {
    guard let file = try? OpenFile(path, for: .probing),
      (try? file.lock()) == true
    else { return false }
    return unlink(path) == 0
  }
}

/// `rename` of the C library, which the method hides.
private func renameFile(_ path: String, _ other: String) -> Int32 { rename(path, other) }
