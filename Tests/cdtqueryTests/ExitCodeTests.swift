import CDTDatastore
import Glibc
import Testing

@Suite struct ExitCodeTests {
  @Test func `a store that another process writes to for long is busy`() throws {
    let space = try Workspace(Workspace.people)
    let manager = try DatastoreManager(directory: space.path("people"))
    let store = try manager.datastore(named: "contacts")
    let result = try store.write { _ in try space.run("put", "people/contacts", "{}") }
    #expect(
      result.errors
        == "cdtquery: another process is writing to people/contacts/db.sync; try again later\n")
    #expect(result.status == 69)
    try manager.closeDatastore(named: "contacts")
    #expect(try space.run("put", "people/contacts", "{}").status == 0)
  }

  @Test(arguments: [
    "find people/contacts {\"age\":7}", "count people/contacts {\"age\":7}", "index list people/contacts",
  ])
  func `want of file descriptors is a failure of the system, and told as that`(_ command: String) throws {
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "age")
    let expected = try space.shell("cdtquery \(command.replacing("\"", with: "\\\""))")
    #expect(expected.status == 0)
    var refused = 0
    for count in 4..<16 {
      let result = try space.shell(
        "cdtquery=$(type -p cdtquery); ulimit -n \(count); exec $cdtquery \(command.replacing("\"", with: "\\\""))"
      )
      if result.status == 0 {
        #expect(result.output == expected.output, "\(count)")
        continue
      }
      refused += 1
      #expect(result.status == 74, "\(count)")
      #expect(result.output == "", "\(count)")
      let isSaid = result.errors.contains("Too many open files") && result.errors.contains("people/contacts")
      #expect(isSaid, "\(count): \(result.errors)")
    }
    #expect(refused > 2)
    #expect(try space.run("check", "people/contacts").status == 0)
  }

  @Test func `a store whose place is taken can't be created`() throws {
    let space = try Workspace()
    try space.write("", to: "file")
    try space.run("import", "s", input: "")
    for (store, error) in [
      ("file/contacts", "file is not a directory; move the file"),
      ("file", "./file is not a directory; move the file"),
      ("/proc/cdtquery/contacts", "can't create /proc/cdtquery: "),
    ] {
      let result = try space.run("import", store, input: "{}")
      #expect(result.errors.hasPrefix("cdtquery: \(error)"), "\(result.errors)")
      #expect(result.status == 73)
    }
  }

  @Test func `a file other than a store is left alone`() throws {
    let space = try Workspace()
    try space.run("import", "people/contacts", input: "{}")
    let text = String(repeating: "no database at all ", count: 100)
    try space.write(text, to: "people/contacts/db.sync")
    for name in ["db.sync-wal", "db.sync-shm"] { unlink(space.path("people/contacts/\(name)")) }
    let result = try space.run("put", "people/contacts", "{}")
    #expect(result.errors.hasPrefix("cdtquery: people/contacts/db.sync is damaged: "))
    #expect(result.status == 74)
    #expect(try space.text("people/contacts/db.sync") == text)
  }

  @Test(arguments: [
    "find people/contacts {}", "export people/contacts", "get people/contacts mike",
    "changes people/contacts", "changes people/contacts --follow", "export people/contacts --attachments",
    "--help", "--version",
    "find people/contacts {} --format csv", "help find", "--generate-completion-script bash",
  ])
  func `output that can't be written is a failure`(_ command: String) throws {
    let space = try Workspace(Workspace.people)
    let result = try space.run(
      Built.cdtquery, command.split(separator: " ").map(String.init), output: "/dev/full")
    #expect(
      result.errors
        == "cdtquery: can't write the output: No space left on device; check its destination and try again\n"
    )
    #expect(result.status == 74)
  }

  @Test func `a reader that has seen enough does not make an error`() throws {
    let documents = (0..<20_000).map { "{\"_id\":\"\($0)\",\"text\":\"some text to fill a pipe\"}\n" }
      .joined()
    let space = try Workspace(documents)
    for command in ["find people/contacts '{}'", "export people/contacts", "find people/contacts '{}' --ids"]
    {
      let result = try space.shell("set -o pipefail; cdtquery \(command) | head -1")
      #expect(result.lines.count == 1)
      #expect(result.errors == "")
      #expect(result.status == 0)
    }
  }

  @Test func `an interrupt ends an import at once, and what was committed stays`() throws {
    let space = try Workspace()
    let (documents, messages) = (try Pipe(), try Pipe())
    let program = try Program.start(
      Built.cdtquery, ["import", "people/contacts", "-", "--batch", "10"], directory: space.directory,
      input: .descriptor(documents.reading), output: .file("/dev/null"),
      errors: .descriptor(messages.writing))
    close(documents.reading)
    close(messages.writing)
    // The first bytes tell the format; the import goes on while the pipe stays open.
    for number in 0..<95 { try Descriptor.write("{\"_id\":\"\(1000 + number)\"}\n", to: documents.writing) }
    let manager = try Self.waitForStore(space)
    let store = try manager.existingDatastore(named: "contacts")
    while try store.read({ try $0.documentCount() }) < 90 { sched_yield() }
    program.send(SIGINT)
    #expect(program.wait() == -SIGINT)
    close(documents.writing)
    #expect(try Descriptor.read(from: messages.reading) == "")
    close(messages.reading)
    try manager.closeDatastore(named: "contacts")
    #expect(try space.run("count", "people/contacts").output == "90\n")
    #expect(try space.run("put", "people/contacts", "{}").status == 0)
  }

  private static func waitForStore(_ space: Workspace) throws -> DatastoreManager {
    while !space.exists("people/contacts/db.sync-wal") { sched_yield() }
    return try DatastoreManager(directory: space.path("people"))
  }

  @Test func `every code that is used is listed in the help`() throws {
    let help = try Workspace().run("--help").output
    for code in [0, 1, 64, 65, 66, 69, 70, 73, 74] {
      #expect(help.split(separator: "\n").contains { $0.hasPrefix("  \(code) ") }, "\(code)")
    }
  }

  @Test func `bad usage says how it should be`() throws {
    let space = try Workspace()
    let unknown = try space.run("frobnicate")
    #expect(
      unknown.errors
        == "cdtquery: there is no command \"cdtquery frobnicate\"; \"cdtquery --help\" lists the commands\n")
    #expect(unknown.status == 64)
    for (words, meant) in [
      (["fnd", "s", "{}"], "find"), (["index", "creat", "s", "a"], "create"), (["help", "improt"], "import"),
      (["replicat", "a", "b"], "replicate"),
    ] {
      let result = try space.run(Built.cdtquery, words)
      #expect(result.errors.contains("did you mean \"\(meant)\"?"), "\(words): \(result.errors)")
      #expect(result.status == 64)
    }
    let option = try space.run("find", "s", "{}", "--fromat", "csv")
    #expect(option.errors.hasPrefix("cdtquery: Unknown option '--fromat'. Did you mean '--format'?\nUsage: "))
    #expect(option.status == 64)
  }
}
