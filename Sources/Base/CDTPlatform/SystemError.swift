#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An error of a system call, by its code.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The value of `errno`.
  package let code: Int32

  package init(_ code: Int32) {
    self.code = code
  }

  /// The error of the thread's last system call, if it failed.
  package static var last: SystemError {
    get { SystemError(errno) }
    set { errno = newValue.code }
  }

  /// The system's message.
  package var description: String { String(cString: strerror(code)) }

  /// The disk or the user's quota is full.
  package var isFull: Bool { code == ENOSPC || code == EDQUOT }

  /// The file or directory does not exist.
  package var isMissing: Bool { code == ENOENT || code == ENOTDIR }

  /// A part of the path that should be a directory is a file.
  package var isNotDirectory: Bool { code == ENOTDIR }

  /// The permissions, or a read-only file system, don't allow it.
  package var isForbidden: Bool { code == EACCES || code == EPERM || code == EROFS }

  /// The system does not permit it, whatever the permissions are: on Apple's systems, files may be protected while a device is locked.
  package var isProtected: Bool { code == EPERM }

  /// The path already exists.
  package var isExisting: Bool { code == EEXIST }

  /// Another socket listens at the address.
  package var isAddressInUse: Bool { code == EADDRINUSE }

  /// The disk is full.
  package static var full: SystemError { SystemError(ENOSPC) }

  /// There is not enough memory.
  package static var outOfMemory: SystemError { SystemError(ENOMEM) }

  /// The pipe has no reader.
  package var isClosedPipe: Bool { code == EPIPE }

  /// The system would cut the path at the NUL, which names another file.
  static func checkPath(_ path: String) throws(SystemError) {
    // Searching the views of a string costs more than the system calls.
    var path = path
    let isCut = path.withUTF8 { $0.firstIndex(of: 0) != nil }
    guard !isCut else { throw SystemError(EINVAL) }
  }
}
