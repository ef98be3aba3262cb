import Foundation
import Glibc

/// A run of the executable `crashtest`, which lies beside the tests' own.
final class ChildProcess {
  private let process = Process()
  private let output = Pipe()
  private var rest = Data()

  init(_ arguments: String...) throws {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    process.executableURL = URL(filePath: tests).deletingLastPathComponent().appending(path: "crashtest")
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
  }

  /// The next line of its output; `nil` when it has ended.
  func line() -> String? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest = Data(rest[(end + 1)...]) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      rest.append(more)
    }
  }

  /// Kills it, and gives the last line that it wrote after those that were read.
  func kill() -> String? {
    Glibc.kill(process.processIdentifier, SIGKILL)
    var last: String?
    while let line = line() { last = line }
    process.waitUntilExit()
    return last
  }

  /// Waits for its end; whether it was a good one.
  func wait() -> Bool {
    process.waitUntilExit()
    return process.terminationReason == .exit && process.terminationStatus == 0
  }
}
