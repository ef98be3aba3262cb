import CDTTestSupport
import Foundation
import Glibc

/// The end of a run of `cdtquery`, or of a line of shell.
struct ToolRun: Sendable {
  let status: Int32
  let output: String
  let errors: String

  /// The program beside the tests.
  static func program() throws -> String {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "cdtquery").path
  }

  /// Runs the program to its end.
  static func of(
    _ arguments: [String], in directory: ServerDirectory, input: String = "",
    environment: [String: String] = [:],
    output: String? = nil
  ) throws -> ToolRun {
    try run(try program(), arguments, directory, input, environment, output)
  }

  /// Runs a line of shell that knows the program by the name of the command that starts it.
  static func shell(_ line: String, in directory: ServerDirectory) throws -> ToolRun {
    let bin = directory.path(".bin")
    if mkdir(bin, 0o700) == 0 { symlink(try program(), bin + "/cdtquery") }
    return try run("/bin/bash", ["-c", line], directory, "", ["PATH": "\(bin):/usr/bin:/bin"], nil)
  }

  private static func run(
    _ program: String, _ arguments: [String], _ directory: ServerDirectory, _ input: String,
    _ environment: [String: String], _ output: String?
  ) throws -> ToolRun {
    let base = directory.path(".run-\(UUID().uuidString)")
    defer { for end in [".in", ".out", ".err"] { unlink(base + end) } }
    try Data(input.utf8).write(to: URL(filePath: base + ".in"))
    let variables = ProcessInfo.processInfo.environment.filter { $0.key != "CDTQUERY_PASSWORD" }
      .merging(environment) { $1 }
    let status = try SpawnedProcess(
      program, arguments, in: directory.path, environment: variables, input: .file(base + ".in"),
      output: .file(output ?? base + ".out"), errors: .file(base + ".err")
    ).wait()
    func text(_ end: String) throws -> String {
      String(decoding: try Data(contentsOf: URL(filePath: base + end)), as: UTF8.self)
    }
    return ToolRun(
      status: status, output: output == nil ? try text(".out") : "", errors: try text(".err"))
  }
}
