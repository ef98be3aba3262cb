import CDTDatastore
import CDTJSON
import CDTTestSupport
import FoundationEssentials
import Glibc

/// A temporary directory to run the tool in. It goes when the workspace does.
final class Workspace {
  let directory: String
  private var runs = 0

  /// - Parameter documents: JSON Lines to import into `people/contacts`; nothing is imported without.
  init(_ documents: String? = nil) throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "cdtquery-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    if let documents {
      let result = try run("import", "people/contacts", "-", input: documents)
      guard result.status == 0 else { throw SpawnedProcess.Failure(description: result.errors) }
    }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// The documents most tests begin with.
  static let people = """
    {"_id":"mike","name":"Mike","age":36}
    {"_id":"zoe","name":"Zoe","age":12}
    {"_id":"ann","name":"Ann","age":7}

    """

  /// Makes a store `team/tasks` with a document "milk" to which two people have written at the same time, as a replicator
  /// leaves it.
  func makeConflict() throws {
    let manager = try DatastoreManager(directory: path("team"))
    defer { try? manager.closeDatastore(named: "tasks") }
    let store = try manager.datastore(named: "tasks")
    let branches: [(leaf: RevisionID, body: JSONObject)] = [
      (RevisionID(generation: 2, suffix: "aaa"), ["litres": 1, "organic": true]),
      (RevisionID(generation: 2, suffix: "bbb"), ["litres": 2]),
    ]
    for (leaf, body) in branches {
      try store.write {
        try $0.forceInsert(
          DocumentRevision(id: "milk", revisionID: leaf, body: body),
          history: [leaf, RevisionID(generation: 1, suffix: "967a00dff5e02add41819138abb3284d")])
      }
    }
  }

  struct Result {
    /// The exit code, or the signal that ended it as a negative number.
    let status: Int32
    let output: String
    let errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  /// Runs cdtquery to its end.
  @discardableResult
  func run(
    _ arguments: String..., input: String? = nil, environment: [String: String] = [:], output: String? = nil
  ) throws -> Result {
    try run(Built.cdtquery, arguments, input: input.map { Array($0.utf8) }, environment, output: output)
  }

  /// Runs a line of shell to its end.
  @discardableResult
  func shell(_ command: String, mergesErrors: Bool = false) throws -> Result {
    try run("/bin/bash", ["-c", (mergesErrors ? "exec 2>&1\n" : "") + command])
  }

  /// - Parameter output: Where standard output goes, when not to the result.
  @discardableResult
  func run(
    _ program: String, _ arguments: [String], input: [UInt8]? = nil, _ environment: [String: String] = [:],
    output: String? = nil
  ) throws -> Result {
    runs += 1
    let base = "\(directory)/.run-\(runs)"
    if let input { try Data(input).write(to: URL(filePath: base + ".in")) }
    let program = try Program.start(
      program, arguments, directory: directory, environment: environment,
      input: .file(input == nil ? "/dev/null" : base + ".in"), output: .file(output ?? base + ".out"),
      errors: .file(base + ".err"))
    let status = program.wait()
    return Result(
      status: status, output: output == nil ? try text(".run-\(runs).out") : "",
      errors: try text(".run-\(runs).err"))
  }

  // MARK: Files

  func write(_ text: String, to name: String) throws {
    try write(Array(text.utf8), to: name)
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: path(name)))
  }

  func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path(name))), as: UTF8.self)
  }

  func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: path(name))
  }

  func path(_ name: String) -> String { "\(directory)/\(name)" }
}
