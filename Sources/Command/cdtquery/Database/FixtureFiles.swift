import CDTPlatform
import CDTQuery
import CDTQueryTesting

/// The golden files of a directory: reads and records them.
struct FixtureFiles {
  /// The files, sorted by name.
  let paths: [String]

  init(_ path: String) throws {
    let names: [String]
    do throws(SystemError) {
      guard try FileStatus(path).kind == .directory else {
        paths = [path]
        return
      }
      names = try Files.names(in: path)
    } catch {
      guard !error.isMissing, !error.isNotDirectory else {
        throw ToolError(.missing, "there is no file \(path); give a *.test file or a directory of them")
      }
      throw ToolError.unreadable(path, error)
    }
    paths = names.filter { $0.hasSuffix(".test") && !$0.hasPrefix(".") }.sorted().map { "\(path)/\($0)" }
    guard !paths.isEmpty else {
      throw ToolError(.missing, "there is no *.test file in \(path); check the path")
    }
    // A FIFO, for example, would be waited for. One that the user names is read.
    for path in paths where try Files.kind(of: path) == .other {
      throw ToolError(.missing, "\(path) is not a file; give it another name, or name the files to test")
    }
  }

  func fixture(_ path: String) throws -> QueryFixture {
    try QueryFixture(parsing: TextArgument.contents(of: InputLines(opening: path)), name: path)
  }

  /// Rewrites the file with the actual answers, if that changes it.
  func record(_ fixture: QueryFixture, _ path: String) throws -> Bool {
    let text = try fixture.recorded()
    guard text != fixture.text else { return false }
    var bytes = text
    let output = try Output.opening(path)
    try bytes.withUTF8 { try output.write(UnsafeRawBufferPointer($0)) }
    try output.finish()
    return true
  }
}

/// The place where the cases of a fixture are run.
protocol FixturePlace {
  func run(_ fixture: QueryFixture) throws -> [FixtureOutcome]
}

/// A temporary directory for each fixture.
struct LocalFixtures: FixturePlace {
  func run(_ fixture: QueryFixture) throws -> [FixtureOutcome] {
    let directory = try Self.makeDirectory()
    defer { withExtendedLifetime(directory) {} }
    return try fixture.run(in: directory.path)
  }

  /// Creates a directory for the stores of a run.
  static func makeDirectory() throws -> TemporaryDirectory {
    let parent = FileManager.default.temporaryDirectory.path
    return try ToolError.perform("create a directory in", parent) { () throws(SystemError) in
      try TemporaryDirectory(in: parent, named: "cdtdatastore-")
    }
  }
}

extension FixtureOutcome {
  /// Prints what a case returned instead of the golden answer.
  func report() throws {
    for finding in findings {
      try Output.standard.line("\(place): \(name)")
      try Output.standard.line("  \(finding.way)")
      for line in finding.difference { try Output.standard.line("    \(line)") }
    }
  }
}

extension FixtureError: ReportedError {
  var exitStatus: ExitStatus { .data }
}
