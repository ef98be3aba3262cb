import Glibc

/// An open file or directory, which closes with the last reference, or a standard stream of the process.
package final class OpenFile: Sendable {
  /// What a file is opened for.
  package enum Purpose: Sendable {
    /// Also for directories.
    case reading
    /// A new file; anything at the path is an error.
    case creating
    /// A file that is created, or emptied if it is there.
    case replacing

    fileprivate var flags: Int32 {
      switch self {
      case .reading: O_RDONLY
      case .creating: O_WRONLY | O_CREAT | O_EXCL
      case .replacing: O_WRONLY | O_CREAT | O_TRUNC
      }
    }
  }

  package static let standardInput = OpenFile(stream: STDIN_FILENO)
  package static let standardOutput = OpenFile(stream: STDOUT_FILENO)
  package static let standardError = OpenFile(stream: STDERR_FILENO)

  private let descriptor: Int32
  private let isStream: Bool

  private init(stream: Int32) {
    descriptor = stream
    isStream = true
  }

  package convenience init(_ path: String, for purpose: Purpose) throws(SystemError) {
    try self.init(path, flags: purpose.flags)
  }

  init(_ path: String, flags: Int32) throws(SystemError) {
    try SystemError.checkPath(path)
    isStream = false
    descriptor = open(path, flags | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw SystemError(errno) }
  }

  deinit {
    if !isStream, descriptor >= 0 { close(descriptor) }
  }

  /// Reads the next bytes, waiting for the first.
  ///
  /// - Returns: How many there were; 0 at the end.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    while true {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      guard errno == EINTR else { throw SystemError(errno) }
    }
  }

  /// Reads the next bytes into an array, from an offset on.
  package func read(into bytes: inout [UInt8], at offset: Int, upTo count: Int) throws(SystemError) -> Int {
    try bytes.withUnsafeMutableBufferPointer { bytes throws(SystemError) in
      try read(
        into: UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(bytes)[offset..<offset + count]))
    }
  }

  /// The next bytes; none at the end.
  package func read(upTo count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.removeLast(count - (try read(into: &bytes, at: 0, upTo: count)))
    return bytes
  }

  /// Writes all the bytes.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        throw SystemError(errno)
      }
    }
  }

  /// Makes sure that the file's content, or a directory's entries, are on disk.
  package func synchronize() throws(SystemError) {
    guard fsync(descriptor) == 0 else { throw SystemError(errno) }
  }

  /// Takes the file's advisory lock (`flock`), which lasts until ``unlock()``, or until the file is closed.
  ///
  /// - Returns: `false` when another holder, in this process or another one, has it.
  package func lock() throws(SystemError) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw SystemError(errno) }
    }
    return true
  }

  package func unlock() {
    flock(descriptor, LOCK_UN)
  }

  /// Whether the file has not been removed.
  package var hasName: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }

  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// Waits until nobody can read any more what is written to this pipe. A file and a terminal are read for good.
  ///
  /// - Returns: `false` when the system can't tell.
  package func waitUntilReaderIsGone() -> Bool {
    // Errors and hang-ups are reported without being asked for.
    var output = pollfd(fd: descriptor, events: 0, revents: 0)
    while true {
      let count = poll(&output, 1, -1)
      guard count < 0, errno == EINTR else { return count > 0 }
    }
  }
}
