import CDTTestSupport
import Foundation
import Glibc
import Synchronization

/// The built server in a process of its own.
final class ServerProgram: Sendable {
  private let process: SpawnedProcess
  /// Whether its end was waited for, after which another process may have its number.
  private let hasEnded = Mutex(false)
  let port: Int

  private struct NotStarted: Error {
    let output: String
  }

  /// Starts it at a free port, and waits until it listens.
  init(_ directory: String, _ options: [String] = []) throws {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let path = URL(filePath: tests).deletingLastPathComponent().appending(path: "cdtquery").path
    let pipe = Pipe()
    process = try SpawnedProcess(
      path, ["serve", directory, "--bind", "127.0.0.1:0"] + options,
      errors: .descriptor(pipe.fileHandleForWriting.fileDescriptor))
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
    hasEnded.withLock { if !$0 { process.send(signal) } }
  }

  /// Waits for its end, and returns its exit status, or the signal that ended it as a negative number.
  func wait() -> Int32 {
    let status = process.wait()
    hasEnded.withLock { $0 = true }
    return status
  }

  deinit {
    if hasEnded.withLock({ $0 }) { return }
    kill()
    _ = wait()
  }
}
