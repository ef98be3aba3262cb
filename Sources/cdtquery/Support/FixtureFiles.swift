import CDTQuery
import CDTQueryTesting
import FoundationEssentials

/// The golden files of a directory, read, run in a directory that goes afterwards, and written anew.
struct FixtureFiles {
  /// The files, by name.
  let paths: [String]

  init(_ path: String) throws {
    var isDirectory = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw ToolError(.missing, "there is no \(path); name a directory of *.test files")
    }
    guard isDirectory else {
      paths = [path]
      return
    }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw ToolError(.io, "can't read \(path): \(error)")
    }
    paths = names.filter { $0.hasSuffix(".test") && !$0.hasPrefix(".") }.sorted().map { "\(path)/\($0)" }
    guard !paths.isEmpty else { throw ToolError(.missing, "there is no *.test file in \(path)") }
  }

  func fixture(_ path: String) throws -> QueryFixture {
    let text: String
    do {
      text = try String(contentsOfFile: path, encoding: .utf8)
    } catch {
      throw ToolError(.io, "can't read \(path) as UTF-8: \(error)")
    }
    return try QueryFixture(parsing: text, name: path)
  }

  func run(_ fixture: QueryFixture) throws -> [FixtureOutcome] {
    let directory = FileManager.default.temporaryDirectory.appending(path: "cdtquery-\(UUID().uuidString)")
      .path
    do {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    } catch {
      throw ToolError(.cantCreate, "can't create \(directory): \(error)")
    }
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try fixture.run(in: directory)
  }

  /// Writes the file with the answers that are given, if that changes it.
  func record(_ fixture: QueryFixture, _ path: String) throws -> Bool {
    let text = try fixture.recorded()
    guard text != fixture.text else { return false }
    do {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    } catch {
      throw ToolError(.io, "can't write \(path): \(error)")
    }
    return true
  }
}
