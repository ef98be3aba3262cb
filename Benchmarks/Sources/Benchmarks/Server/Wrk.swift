import FoundationEssentials

/// `wrk`, which sends requests over many connections at once and measures each.
struct Wrk {
  private let program: Program
  private let script: String
  private let output: String

  /// - Parameters:
  ///   - script: The script of its requests, in Lua.
  ///   - output: A file for what it writes.
  init(script: String, output: String) throws {
    guard let program = Program.installed("wrk") else {
      throw BenchError("wrk is not installed (apt-get install wrk)")
    }
    self.program = program
    self.script = script
    self.output = output
  }

  /// The output of the script at its end. Times are in nanoseconds.
  struct Outcome: Codable {
    /// The requests that were answered.
    let requests: Int
    let nanoseconds: Int
    /// Replies with an error, and connections that failed.
    let failures: Int
    let p50: Int
    let p99: Int
    let greatest: Int
  }

  func run(_ url: String, connections: Int, seconds: Int, _ arguments: [String]) throws -> Outcome {
    let threads = min(connections, 2)
    _ = try program.run(
      [
        "--timeout", "600s", "-t", "\(threads)", "-c", "\(connections)", "-d", "\(seconds)s", "-s", script,
        url,
        "--",
      ] + arguments, output: output)
    let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
    return try JSONDecoder().decode(Outcome.self, from: Data((lines.last ?? "").utf8))
  }
}
