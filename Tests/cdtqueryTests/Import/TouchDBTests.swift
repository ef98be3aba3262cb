import CDTImport
import FoundationEssentials
import Testing

/// `import --from-touchdb`, of the datastore that the core's tests have.
@Suite struct TouchDBTests {
  /// A workspace with a copy of the datastore, `old/tasks.touchdb`.
  private func space() throws -> Workspace {
    let space = try Workspace()
    try FileManager.default.copyItem(
      atPath: "\(Built.package)/Tests/CDTDatastoreTests/Import/Fixtures/touchdb", toPath: space.path("old"))
    return space
  }

  @Test func `documents, revisions, attachments and indexes come, once`() throws {
    let space = try space()
    let first = try space.run("import", "stores/tasks", "--from-touchdb", "old/tasks.touchdb")
    #expect(
      first.errors
        == "8 documents, 17 new revisions, 4 new attachments, 2 new local documents, 3 indexes\n")
    #expect(first.status == 0)
    #expect(first.output == "")
    let again = try space.run("import", "stores/tasks", "--from-touchdb", "old/tasks.touchdb", "--batch", "1")
    #expect(
      again.errors
        == "8 documents, 0 new revisions, 0 new attachments, 0 new local documents, 3 indexes\n")
    #expect(again.status == 0)
    let edited = try space.run("get", "stores/tasks", "edited", "--rev", "2-be2c05cd85b8468ce92b04e001b0e923")
    #expect(edited.output.contains(#""hi":"mike""#))
    let found = try space.run("find", "stores/tasks", #"{"$text": {"$search": "animal"}}"#, "--ids")
    #expect(found.lines == ["pictures"])
  }

  @Test func `an index that can't be made is told`() throws {
    let space = try space()
    try space.run("import", "stores/tasks", "-", input: "{}\n")
    try space.run("index", "create", "stores/tasks", "other", "--name", "by_v")
    let result = try space.run("import", "stores/tasks", "--from-touchdb", "old/tasks.touchdb")
    #expect(result.errors.contains(#"the json index "by_v" of ["v"] is left out: "#))
    #expect(result.status == 0)
  }

  @Test func `documents that can't be taken are told with --keep-going, and end the import without`() throws {
    let space = try space()
    for file in try FileManager.default.contentsOfDirectory(atPath: space.path("old/tasks attachments")) {
      try space.write("damaged", to: "old/tasks attachments/\(file)")
    }
    let refused = try space.run("import", "stores/tasks", "--from-touchdb", "old/tasks.touchdb")
    #expect(
      refused.errors.hasPrefix(#"cdtquery: old/tasks.touchdb: document "pictures": the attachment "cat.jpg""#)
    )
    #expect(refused.status == 65)
    let rest = try space.run("import", "stores/tasks", "--from-touchdb", "old/tasks.touchdb", "--keep-going")
    #expect(rest.errors.contains("7 documents, 15 new revisions, 0 new attachments"))
    #expect(rest.errors.contains(", 1 failed\n"))
    #expect(rest.status == 65)
  }

  @Test func `a missing file makes no store`() throws {
    let space = try space()
    try space.write("nothing", to: "text.touchdb")
    let text = try space.run("import", "stores/tasks", "--from-touchdb", "text.touchdb")
    #expect(text.errors == "cdtquery: text.touchdb: the file is not an SQLite database; check the path\n")
    #expect(text.status == 65)
    let missing = try space.run("import", "stores/tasks", "--from-touchdb", "none.touchdb")
    #expect(missing.errors.hasPrefix("cdtquery: none.touchdb: the file can't be read: No such file"))
    #expect(missing.status == 74)
    #expect(!space.exists("stores"))
  }

  @Test(arguments: [
    ["more.jsonl"], ["--format", "csv"], ["--at", "a"], ["--id", "a"], ["--on-conflict", "skip"],
  ])
  func `options that the file decides can't be given`(_ arguments: [String]) throws {
    let space = try space()
    let result = try space.run(
      Built.cdtquery, ["import", "stores/tasks", "--from-touchdb", "old/tasks.touchdb"] + arguments)
    #expect(result.errors.contains("--from-touchdb imports one file"))
    #expect(result.status == 64)
    #expect(!space.exists("stores"))
  }
}
