import CDTCLibrary
import CDTCPlatform

/// An open file or directory, which closes with the last reference, or a standard stream.
package final class OpenFile: Sendable {
  /// The mode of opening a file.
  package enum Purpose: Sendable {
    /// Also for directories.
    case reading
    /// A new file; an existing file is an error.
    case creating
    /// A file that is created, or truncated if it exists.
    case replacing
    /// A directory, to lock it.
    case directory
    /// A file that is created if it does not exist, to lock it. A symbolic link is not followed.
    case locking
    /// A file that is there, without following a link and without waiting for the writer of a FIFO.
    case probing

    fileprivate var flags: Int32 {
      switch self {
      case .directory: O_RDONLY | O_DIRECTORY
      case .locking: O_RDWR | O_CREAT | O_NOFOLLOW
      case .probing: O_RDONLY | O_NONBLOCK | O_NOFOLLOW
      case .reading: O_RDONLY
      case .creating: O_WRONLY | O_CREAT | O_EXCL
      case .replacing: O_WRONLY | O_CREAT | O_TRUNC
      }
    }
  }

  package static let standardInput = OpenFile(stream: STDIN_FILENO)
  package static let standardOutput = OpenFile(stream: STDOUT_FILENO)
  package static let standardError = OpenFile(stream: STDERR_FILENO)

  let descriptor: Int32
  private let isStream: Bool

  private init(stream: Int32) {
    descriptor = stream
    isStream = true
  }

  /// - Parameter isPrivate: Whether only the user can access a file that is created. Otherwise its permissions depend on
  ///   the process's umask.
  package convenience init(_ path: String, for purpose: Purpose, isPrivate: Bool = false) throws(SystemError)
  {
    try self.init(path, flags: purpose.flags, isPrivate: isPrivate)
  }

  /// Opens a regular file, or a link to one, for reading. Other kinds, such as a FIFO, don't block.
  ///
  /// - Returns: `nil` if it is not a regular file.
  package static func regular(_ path: String) throws(SystemError) -> OpenFile? {
    do throws(SystemError) {
      let file = try OpenFile(path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
      return try file.status().kind == .file ? file : nil
    } catch {
      // The error for a socket.
      guard error.code == ENXIO else { throw error }
      return nil
    }
  }

  /// A new file without a name, to write and read. It goes with the last reference.
  package static func scratch(in directory: String) throws(SystemError) -> OpenFile {
    let path = "\(directory)/cdt-\(RandomID.uuid())"
    let file = try OpenFile(path, flags: O_RDWR | O_CREAT | O_EXCL)
    unlink(path)
    return file
  }

  init(_ path: String, flags: Int32, isPrivate: Bool = true) throws(SystemError) {
    try SystemError.checkPath(path)
    isStream = false
    descriptor = cdt_open(path, flags, isPrivate ? 0o600 : 0o666)
    guard descriptor >= 0 else { throw SystemError(-descriptor) }
  }

  deinit {
    if !isStream, descriptor >= 0 { close(descriptor) }
  }

  /// Reads the next bytes, blocking until there are some.
  ///
  /// - Returns: The number of bytes; 0 at the end.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    while true {
      let count = readOnce(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      guard errno == EINTR else { throw SystemError(errno) }
    }
  }

  /// Reads the next bytes into an array, starting at an offset.
  package func read(into bytes: inout [UInt8], at offset: Int, upTo count: Int) throws(SystemError) -> Int {
    try bytes.withUnsafeMutableBufferPointer { bytes throws(SystemError) in
      try read(
        into: UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(bytes)[offset..<offset + count]))
    }
  }

  /// The bytes at an offset of the file; fewer at its end. It does not change where the next read begins.
  package func bytes(at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let read = bytes.withUnsafeMutableBytes { buffer in
        pread(
          descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(offset) + off_t(filled))
      }
      if read == 0 { break }
      if read > 0 { filled += read } else if errno != EINTR { throw SystemError(errno) }
    }
    bytes.removeLast(count - filled)
    return bytes
  }

  /// The length in bytes.
  package func length() throws(SystemError) -> Int64 { try status().size }

  /// The next bytes; empty at the end.
  package func read(upTo count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.removeLast(count - (try read(into: &bytes, at: 0, upTo: count)))
    return bytes
  }

  /// Writes all bytes.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = writeOnce(descriptor, rest.baseAddress, rest.count)
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        throw SystemError(errno)
      }
    }
  }

  /// Syncs the file's content, or a directory's entries, to disk.
  package func synchronize() throws(SystemError) {
    let error = cdt_synchronize(descriptor)
    guard error == 0 else { throw SystemError(error) }
  }

  /// Gives the file the permissions of another file, unless that does not exist.
  package func copyPermissions(of path: String) throws(SystemError) {
    guard let status = try FileStatus.ofFile(at: path) else { return }
    guard fchmod(descriptor, mode_t(status.permissions)) == 0 else { throw SystemError(errno) }
  }

  /// Gives a file that was opened without a name one that does not exist yet.
  func link(to path: String) throws(SystemError) {
    guard linkat(AT_FDCWD, descriptorPath, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 else {
      throw SystemError(errno)
    }
  }

  /// The file among the open files of this process. It is not there if `/proc` is not mounted.
  private var descriptorPath: String { "/proc/self/fd/\(descriptor)" }

  /// Whether ``link(to:)`` is possible.
  var canBeLinked: Bool { access(descriptorPath, F_OK) == 0 }

  /// Takes the file's advisory lock (`flock`), until ``unlock()`` or until the file is closed.
  ///
  /// - Parameter isShared: Whether others can have it as well, if theirs is shared too.
  /// - Returns: `false` if another holder, in this process or another, has it.
  package func lock(isShared: Bool = false) throws(SystemError) -> Bool {
    while flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw SystemError(errno) }
    }
    return true
  }

  package func unlock() {
    flock(descriptor, LOCK_UN)
  }

  /// Whether another process has locked bytes of the file (`fcntl`). Closing the file releases the locks of this process.
  package func isLocked(_ bytes: Range<Int64>) -> Bool {
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = off_t(bytes.lowerBound)
    lock.l_len = off_t(bytes.count)
    return withUnsafeMutablePointer(to: &lock) { fcntl(descriptor, F_GETLK, $0) } == 0
      && lock.l_type != Int16(F_UNLCK)
  }

  package func status() throws(SystemError) -> FileStatus { try FileStatus(descriptor: descriptor) }

  /// Whether the file still has a name.
  package func hasName() throws(SystemError) -> Bool { try status().links > 0 }

  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The number of columns of the terminal; `nil` if the file is not a terminal or the number is unknown.
  package var terminalColumns: Int? {
    let columns = cdt_terminal_columns(descriptor)
    return columns > 0 ? Int(columns) : nil
  }

  /// Waits until this pipe has no reader. For a file or a terminal it waits forever.
  ///
  /// - Returns: `false` if the system can't report it.
  package func waitUntilReaderIsGone() -> Bool {
    // Errors and hang-ups are always reported.
    var output = pollfd(fd: descriptor, events: 0, revents: 0)
    while true {
      let count = poll(&output, 1, -1)
      guard count < 0, errno == EINTR else { return count > 0 }
    }
  }
}

// These functions of the C library are hidden by the methods.

private func readOnce(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(file, buffer, count)
}

private func writeOnce(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, buffer, count)
}
