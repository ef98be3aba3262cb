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
  /// The log after its first line, if it is kept.
  private let log: FileHandle?

  private struct NotStarted: Error {
    let output: String
  }

  /// Starts it at a free port, and waits until it listens.
  ///
  /// - Parameters:
  ///   - environment: Variables besides those of this process.
  ///   - keepsLog: Whether the log can be read by ``nextLine()``. If a test does not read it, a long one holds the server.
  init(
    _ directory: String, _ options: [String] = [], environment: [String: String] = [:],
    keepsLog: Bool = false
  ) throws {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let path = URL(filePath: tests).deletingLastPathComponent().appending(path: "cdtquery").path
    let pipe = Pipe()
    process = try SpawnedProcess(
      path, ["serve", directory, "--bind", "127.0.0.1:0"] + options,
      environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
      errors: .descriptor(pipe.fileHandleForWriting.fileDescriptor))
    try pipe.fileHandleForWriting.close()
    // The first line is `cdtquery: serving DIRECTORY at http://127.0.0.1:PORT`.
    let text = try Self.nextLine(of: pipe.fileHandleForReading)
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else {
      throw NotStarted(output: text)
    }
    self.port = port
    log = keepsLog ? pipe.fileHandleForReading : nil
  }

  /// The next line of the log, without that on the version of SQLite; waits for it.
  func nextLine() throws -> String {
    guard let log else { return "" }
    var line = ""
    repeat { line = try Self.nextLine(of: log) } while line.contains("has the WAL-reset bug")
    return line
  }

  private static func nextLine(of file: FileHandle) throws -> String {
    var line = Data()
    while let byte = try file.read(upToCount: 1), byte != Data("\n".utf8) { line += byte }
    return String(decoding: line, as: UTF8.self)
  }

  /// Asks it to end.
  func terminate() { send(SIGTERM) }

  /// Asks it to read again what may have changed.
  func hangUp() { send(SIGHUP) }

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
