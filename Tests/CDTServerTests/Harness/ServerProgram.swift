import Foundation
import Glibc
import Synchronization

/// The built server in a process of its own.
final class ServerProgram: Sendable {
  private let process: Int32
  /// Whether its end was waited for, after which another process may have its number.
  private let hasEnded = Mutex(false)
  let port: Int

  private struct NotStarted: Error {
    let output: String
  }

  /// Starts it at a free port, and waits until it listens.
  init(_ directory: String, _ options: [String] = []) throws {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let path = URL(filePath: tests).deletingLastPathComponent().appending(path: "cdtquery-server").path
    let pipe = Pipe()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipe.fileHandleForWriting.fileDescriptor, 2)
    let words = [path, "serve", directory, "--bind", "127.0.0.1:0"] + options
    var arguments = words.map { strdup($0) } + [nil]
    defer { for word in arguments { free(word) } }
    var process: pid_t = 0
    let status = posix_spawn(&process, path, &actions, nil, &arguments, environ)
    guard status == 0 else { throw NotStarted(output: String(cString: strerror(status))) }
    self.process = process
    try pipe.fileHandleForWriting.close()
    // The first line is `cdtquery: serving DIRECTORY at http://127.0.0.1:PORT`.
    var line = Data()
    while let byte = try pipe.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) {
      line += byte
    }
    let text = String(decoding: line, as: UTF8.self)
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else {
      throw NotStarted(output: text)
    }
    self.port = port
  }

  /// Asks it to end.
  func terminate() { send(SIGTERM) }

  /// Ends it at once.
  func kill() { send(SIGKILL) }

  private func send(_ signal: Int32) {
    hasEnded.withLock { if !$0 { Glibc.kill(process, signal) } }
  }

  /// Waits for its end, and returns its exit status, or the signal that ended it as a negative number.
  func wait() -> Int32 {
    var status: Int32 = 0
    waitpid(process, &status, 0)
    hasEnded.withLock { $0 = true }
    return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
  }

  deinit {
    if hasEnded.withLock({ $0 }) { return }
    kill()
    _ = wait()
  }
}
