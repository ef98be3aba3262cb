import Foundation

/// A run of `cdtquery-server` in a shell, which passes the password on.
struct CommandRun {
  let process = Process()
  let directory: String

  init(_ script: String, _ arguments: [String], in directory: String, variable: String? = nil) throws {
    self.directory = directory
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "cdtquery-server").path
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["-c", script, program] + arguments
    process.currentDirectoryURL = URL(filePath: directory)
    var environment = ProcessInfo.processInfo.environment
    environment["CDTQUERY_PASSWORD"] = variable
    process.environment = environment
    for name in ["out", "err"] {
      try Data().write(to: URL(filePath: "\(directory)/\(name)"))
    }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: "\(directory)/out")
    process.standardError = FileHandle(forWritingAtPath: "\(directory)/err")
    try process.run()
  }

  /// The text of a standard stream, `out` or `err`.
  func text(_ name: String) throws -> String {
    try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
  }

  /// Waits for the end, without a thread of Swift's pool.
  func ended() async -> Int32 {
    await withCheckedContinuation { continuation in
      Thread {
        process.waitUntilExit()
        continuation.resume(returning: process.terminationStatus)
      }.start()
    }
  }
}
