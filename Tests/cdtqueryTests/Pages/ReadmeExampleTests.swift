import CDTPlatform
import CDTQuery
import FoundationEssentials
import Glibc
import Testing

@Suite struct ReadmeExampleTests {
  /// The code of the README, which the next test compares with it.
  private static func example() throws {
    struct Person: DocumentModel {
      var id: String
      var revision: RevisionID?
      var name: String
      var age: Int
    }

    let contacts = try DatastoreManager(directory: "people").datastore(named: "contacts")
    try contacts.ensureIndexed(Person.self, \.age)

    // The first run fills the store.
    if try contacts.count(Person.self) == 0 {
      try contacts.save(Person(id: "mike", name: "Mike", age: 36))
      try contacts.save(Person(id: "zoe", name: "Zoe", age: 12))
      try contacts.save(Person(id: "anna", name: "Anna", age: 41))
    }

    for adult in try contacts.find(Person.self, where: { $0.age >= 18 }, sort: \.age.ascending) {
      print(adult.name, adult.age)
    }
  }

  @Test func `the README's code is the code that is run here`() throws {
    let code = try #require(PageTests.Page(name: "README.md").blocks(in: "swift").first).map(\.text)
    let source = String(decoding: try Data(contentsOf: URL(filePath: #filePath)), as: UTF8.self)
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false).map(Self.trimmed)
    let imports = code.filter { $0.hasPrefix("import ") }
    #expect(!imports.isEmpty && imports.allSatisfy(lines.contains))
    let statements = code.map { Self.trimmed($0[...]) }.drop { $0.isEmpty || $0.hasPrefix("import ") }
    let isHere = lines.indices.contains { lines[$0...].starts(with: statements) }
    #expect(statements.count > 5 && isHere)
  }

  @Test func `the first heading of the changes is the version`() {
    let lines = PageTests.Page(name: "CHANGELOG.md").lines
    let first = lines.first { $0.hasPrefix("## ") } ?? ""
    #expect(first == "## \(Version.current), unreleased" || first.hasPrefix("## \(Version.current) - "))
    #expect(PageTests.Page(name: "docs/openapi.yaml").lines.contains("  version: \(Version.current)"))
    let readme = PageTests.Page(name: "README.md").lines
    #expect(readme.contains { $0.contains("The version is \(Version.current)") })
  }

  @Test func `the products that the README tells to depend on are there`() throws {
    let manifest = PageTests.Page(name: "Package.swift").lines
    let named = PageTests.Page(name: "README.md").lines.compactMap { line in
      line.firstMatch(of: #/\.product\(name: "(\w+)", package:/#).map { String($0.1) }
    }
    #expect(named == ["CDTQuery"])
    for name in named + ["CDTDatastore", "CloudantSync"] {
      #expect(manifest.contains { $0.contains(".library(name: \"\(name)\"") }, "\(name)")
    }
  }

  private static func trimmed(_ line: Substring) -> String {
    String(line.drop { $0 == " " })
  }

  @Test func `the README's code does what it says`() async throws {
    // The example's path is relative, so it gets a process of its own to stand in an empty directory.
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent],
      performing: {
        let space = try Workspace()
        try #require(chdir(space.directory) == 0)
        // As in two runs.
        for _ in 1...2 { try Self.example() }
        fflush(nil)
      })
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    let lines = PageTests.Page(name: "README.md").lines
    let shown = lines.drop { $0 != "It prints:" }.dropFirst(2).prefix { $0.hasPrefix("    ") }
    let expected = shown.map { $0.dropFirst(4) }.joined(separator: "\n")
    #expect(!expected.isEmpty && output.contains("\(expected)\n\(expected)\n"), "\(output)")
  }
}
