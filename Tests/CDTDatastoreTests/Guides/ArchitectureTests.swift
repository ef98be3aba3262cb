import CDTTestSupport
import Foundation
import Testing

/// `docs/architecture.md` and the READMEs of the folders of `Sources` say what the manifest and the sources say.
@Suite struct ArchitectureTests {
  private static let page = Result { try Repository.page("architecture.md") }

  private static func contents(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: Repository.root.appending(path: path).path).filter {
      !$0.hasPrefix(".") && $0 != "README.md"
    }
  }

  @Test func `the picture is that of the manifest`() throws {
    try withTemporaryDirectory { directory in
      let drawn = try Repository.output(
        of: "swift package --scratch-path '\(directory)' dump-package | scripts/draw-architecture.pl")
      let picture = try Data(contentsOf: Repository.root.appending(path: "docs/images/architecture.svg"))
      #expect(drawn == picture, "the command in docs/architecture.md draws it again")
    }
  }

  @Test func `no target of the manifest is left out of a container image`() throws {
    func text(_ path: String) throws -> String {
      try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
    }
    let ignored = try text(".dockerignore").split(separator: "\n")
    // Without the examples and the benchmarks, which an image does not build.
    let manifest = try text("Package.swift").split(separator: "if Context.environment")[0]
    let paths = manifest.split(separator: "path: \"").dropFirst().compactMap {
      $0.split(separator: "\"").first
    }
    #expect(paths.count > 8 && ignored.contains("Benchmarks"))
    for path in paths {
      #expect(!ignored.contains { path == $0 || path.hasPrefix("\($0)/") }, "\(path) is in .dockerignore")
    }
  }

  @Test func `each module is listed by its folder and by the page`() throws {
    let page = try Self.page.get()
    let folders = try Self.contents("Sources")
    #expect(folders.count == 7)
    for folder in folders {
      let readme = try String(
        contentsOf: Repository.root.appending(path: "Sources/\(folder)/README.md"), encoding: .utf8)
      #expect(page.contains("| \(folder) |"))
      for module in try Self.contents("Sources/\(folder)") {
        #expect(readme.contains("`\(module)`"), "\(folder)/\(module)")
        if !module.hasPrefix("CDTC") { #expect(page.contains("| `\(module)` |"), "\(module)") }
      }
    }
  }

  @Test func `the types of a feature are in the folders that the page names`() throws {
    let lines = try Self.page.get().split(separator: "\n", omittingEmptySubsequences: false)
    let first = try #require(lines.firstIndex { $0.hasPrefix("| feature |") })
    let rows = lines[first...].prefix { $0.hasPrefix("|") }.map { line in
      line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().map {
        $0.trimmingCharacters(in: .whitespaces)
      }
    }
    var count = 0
    for (column, folder) in rows[0].enumerated() where column > 0 && !folder.isEmpty {
      let root = Repository.root.appending(path: "Sources/\(folder)")
      let sources = try FileManager.default.subpathsOfDirectory(atPath: root.path)
        .filter { $0.hasSuffix(".swift") }
        .map { try String(contentsOf: root.appending(path: $0), encoding: .utf8) }
      for row in rows.dropFirst(2) {
        for type in row[column].split(separator: ", ").map({ $0.trimmingCharacters(in: ["`"]) }) {
          let isDeclared = sources.contains { text in
            ["struct", "class", "enum", "protocol"].contains { kind in
              [" ", ":", "<", "."].contains { text.contains("\(kind) \(type)\($0)") }
            }
          }
          #expect(isDeclared, "\(type) is not in \(folder)")
          count += 1
        }
      }
    }
    #expect(count > 30)
  }
}
