import Foundation
import Glibc

/// A process of another program.
///
/// Foundation's `Process.run` reads beyond its buffer if some 1,400 files are open (Swift 6.3,
/// findMaximumOpenFromProcSelfFD), which tests that run beside each other can reach.
package struct SpawnedProcess: Sendable {
  package let id: Int32

  /// Where a standard stream goes.
  package enum Stream: Sendable {
    case inherited
    case descriptor(Int32)
    /// A file that is emptied first.
    case file(String)
  }

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - directory: The directory in which it runs; `nil` for that of this process.
  ///   - environment: Its variables; `nil` for those of this process.
  ///   - input: The file that it reads; by default it reads nothing.
  package init(
    _ path: String, _ arguments: [String], in directory: String? = nil, environment: [String: String]? = nil,
    input: String = "/dev/null", output: Stream = .inherited, errors: Stream = .inherited
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
    for (number, stream) in [(1 as Int32, output), (2, errors)] {
      switch stream {
      case .inherited: break
      case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      case .file(let path):
        posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      }
    }
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
