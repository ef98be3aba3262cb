import CDTTestSupport
import Foundation

/// A run of `cdtquery` in a shell, which passes the password on. Its output goes to files.
struct CommandRun {
  let process: SpawnedProcess
  let directory: String

  /// - Parameter script: A line of shell, in which the program is `$0` and the arguments `$1` and so on.
  init(_ script: String, _ arguments: [String], in directory: String, variable: String? = nil) throws {
    self.directory = directory
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "cdtquery").path
    var environment = ProcessInfo.processInfo.environment
    environment["CDTQUERY_PASSWORD"] = variable
    process = try SpawnedProcess(
      "/bin/bash", ["-c", script, program] + arguments, in: directory, environment: environment,
      output: .file("\(directory)/out"), errors: .file("\(directory)/err"))
  }

  /// The text of a standard stream, `out` or `err`.
  func text(_ name: String) throws -> String {
    try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
  }

  /// Waits for the end, once.
  func ended() async -> Int32 { await process.ended() }
}
