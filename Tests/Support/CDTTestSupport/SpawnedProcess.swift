import Foundation
import Glibc

/// A process of another program.
///
/// Foundation's `Process.run` reads beyond its buffer if some 1,400 files are open (Swift 6.3,
/// findMaximumOpenFromProcSelfFD), which tests that run beside each other can reach.
package struct SpawnedProcess: Sendable {
  package let id: Int32

  /// The destination of a standard stream.
  package enum Stream: Sendable {
    case inherited
    case descriptor(Int32)
    /// A file, which is emptied first unless it is the input.
    case file(String)
  }

  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
      self.description = description
    }
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - directory: The directory in which it runs; `nil` for that of this process.
  ///   - environment: Its variables; `nil` for those of this process.
  ///   - input: Its standard input; by default nothing.
  package init(
    _ path: String, _ arguments: [String], in directory: String? = nil, environment: [String: String]? = nil,
    input: Stream = .file("/dev/null"), output: Stream = .inherited, errors: Stream = .inherited
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in [(0 as Int32, input), (1, output), (2, errors)] {
      switch stream {
      case .inherited: break
      case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      case .file(let path):
        posix_spawn_file_actions_addopen(
          &actions, number, path, number == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      }
    }
    try Self.closeOthers(&actions)
    // Threads of a pool block signals, which the program must get.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    let variables = environment ?? ProcessInfo.processInfo.environment
    let command = (directory.map { ["/usr/bin/env", "-C", $0] } ?? []) + [path] + arguments
    var words = command.map { strdup($0) } + [nil]
    var pairs = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + pairs { free(word) } }
    var id = pid_t()
    let status = posix_spawn(&id, command[0], &actions, &attributes, &words, &pairs)
    guard status == 0 else { throw Failure(description: "\(path): \(String(cString: strerror(status)))") }
    self.id = id
  }

  /// Closes the files of this process in the new one. Otherwise the reader of another test's pipe, or the peer of its
  /// connection, would wait until the program ends.
  private static func closeOthers(_ actions: inout posix_spawn_file_actions_t) throws {
    typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt
    // Swift does not see the GNU extensions of the header.
    guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
      throw Failure(description: "the system's C library is older than glibc 2.34")
    }
    _ = unsafeBitCast(symbol, to: CloseFrom.self)(&actions, 3)
  }

  /// Sends a signal. The process must not have been waited for.
  package func send(_ signal: Int32) { kill(id, signal) }

  /// Waits for the end, once.
  ///
  /// - Returns: The status, or the signal that ended it as a negative number.
  package func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(id, &status, 0) == -1, errno == EINTR {}
    return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
  }

  /// Waits for the end, once, without a thread of Swift's pool.
  package func ended() async -> Int32 {
    await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: wait()) }.start()
    }
  }
}
