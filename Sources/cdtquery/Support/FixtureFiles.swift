import CDTCommandLine
import CDTPlatform
import CDTQuery
import CDTQueryTesting
import FoundationEssentials

/// The golden files of a directory: reads them, runs them in a temporary directory, and records them.
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
  }

  func fixture(_ path: String) throws -> QueryFixture {
    try QueryFixture(parsing: TextArgument.contents(of: LineReader(opening: path)), name: path)
  }

  func run(_ fixture: QueryFixture) throws -> [FixtureOutcome] {
    let directory = FileManager.default.temporaryDirectory.appending(path: "cdtquery-\(UUID().uuidString)")
      .path
    do throws(SystemError) {
      try Files.makeDirectory(directory)
    } catch {
      throw ToolError(
        .cantCreate, "can't create \(directory): \(error); set TMPDIR to a directory that can be written")
    }
    defer { try? Files.removeTree(directory) }
    return try fixture.run(in: directory)
  }

  /// Rewrites the file with the actual answers, if that changes it.
  func record(_ fixture: QueryFixture, _ path: String) throws -> Bool {
    let text = try fixture.recorded()
    guard text != fixture.text else { return false }
    var bytes = text
    try Output.writing(to: path) { output in
      try bytes.withUTF8 { try output.write(UnsafeRawBufferPointer($0)) }
    }
    return true
  }
}
