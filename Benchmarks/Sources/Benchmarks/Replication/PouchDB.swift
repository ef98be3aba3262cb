import FoundationEssentials

/// PouchDB, in Chromium, which a script starts.
struct PouchDB {
  private let python: Program
  private let script: String
  private let bundle: String

  init(bundle: String, python: String, script: String) throws {
    self.python = try Program(python)
    (self.bundle, self.script) = (bundle, script)
  }

  /// The output of the script.
  struct Outcome: Codable {
    let pull: Run
    let nothing: Run
    let push: Run
  }

  struct Run: Codable {
    let milliseconds: Double
    let written: Int

    var nanoseconds: Int { Int(milliseconds * 1e6) }
  }

  /// Pulls a database, does that again, and pushes what it has to another database.
  ///
  /// - Parameter batch: The number of documents that it sends in a request.
  func run(from source: String, to target: String, batch: Int, output: String) throws -> Outcome {
    _ = try python.run([script, bundle, source, target, "\(batch)"], output: output)
    return try JSONDecoder().decode(Outcome.self, from: Data(contentsOf: URL(filePath: output)))
  }
}
