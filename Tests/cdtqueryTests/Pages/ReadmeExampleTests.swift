import CDTDatastore
import CDTQuery
import FoundationEssentials
import Glibc
import Testing

@Suite struct ReadmeExampleTests {
  /// The code of the README, which the next test compares with it.
  private static func example() throws {
    let manager = try DatastoreManager(directory: "people")
    let contacts = try manager.datastore(named: "contacts")

    var mike = try contacts.createDocument(
      from: DocumentRevision(id: "mike", body: ["age": 36, "pet": ["species": "cat"]]))
    mike.body["age"] = 37
    mike = try contacts.updateDocument(from: mike)

    try contacts.ensureIndexed(["pet.species", "age"])
    let catOwners = try contacts.find(["pet": ["species": "cat"], "age": ["$gte": 18]], sort: ["age"])
    try catOwners.forEach { print($0.id ?? "", $0.revision?.description ?? "") }
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

  @Test func `the products that the README tells to depend on are there`() throws {
    let manifest = PageTests.Page(name: "Package.swift").lines
    let named = PageTests.Page(name: "README.md").lines.compactMap { line in
      line.firstMatch(of: #/\.product\(name: "(\w+)", package:/#).map { String($0.1) }
    }
    #expect(named == ["CDTDatastore", "CDTQuery"])
    for name in named + ["CloudantSync"] {
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
        try Self.example()
        fflush(nil)
      })
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(output.split(separator: "\n").contains { $0.hasPrefix("mike 2-") }, "\(output)")
  }
}
