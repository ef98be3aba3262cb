import CDTTestSupport
import Glibc
import Testing

/// What is different when a person watches.
@Suite struct TerminalTests {
  /// Runs the tool with a pseudo-terminal as one of its streams, and gives what a person would see.
  private func watch(_ arguments: [String], in space: Workspace, output: Bool) throws -> String {
    let terminal = try Terminal()
    let program = try Program.start(
      Built.cdtquery, arguments, directory: space.directory, input: .file("/dev/null"),
      output: output ? .descriptor(terminal.program) : .file("/dev/null"),
      errors: output ? .file("/dev/null") : .descriptor(terminal.program))
    close(terminal.program)
    let seen = try Descriptor.read(from: terminal.person)
    close(terminal.person)
    #expect(program.wait() == 0)
    return seen
  }

  private func importing() throws -> Workspace {
    let space = try Workspace()
    try space.write((0..<3000).map { "{\"_id\":\"\($0)\"}\n" }.joined(), to: "many.jsonl")
    return space
  }

  @Test func `a progress bar with rate and remaining time shows on a terminal, and goes`() throws {
    let seen = try watch(["import", "s", "many.jsonl"], in: try importing(), output: false)
    let parts = seen.split(separator: "\r\u{1B}[K", omittingEmptySubsequences: false)
    #expect(parts.count >= 3)
    let first = try #require(parts.dropFirst().first)
    #expect(Examples.matches(String(first), "█…░ … %  1000 documents, …/s  …:… left"), "\(first)")
    // A terminal writes a line feed as two bytes.
    #expect(parts.last == "3000 imported\r\n")
  }

  @Test func `without a size there is no bar, but the rate`() throws {
    let space = try importing()
    let terminal = try Terminal()
    let program = try Program.start(
      Built.cdtquery, ["import", "s"], directory: space.directory, input: .file(space.path("many.jsonl")),
      output: .file("/dev/null"), errors: .descriptor(terminal.program))
    close(terminal.program)
    let seen = try Descriptor.read(from: terminal.person)
    close(terminal.person)
    #expect(program.wait() == 0)
    #expect(seen.contains("1000 documents, ") && seen.contains("/s"))
    #expect(!seen.contains("█") && !seen.contains("left"))
  }

  @Test(arguments: [["--keep-going"], []])
  func `a message does not run into the bar`(_ options: [String]) throws {
    let space = try importing()
    let terminal = try Terminal()
    let program = try Program.start(
      Built.cdtquery, ["import", "s", "many.jsonl", "many.jsonl"] + options, directory: space.directory,
      input: .file("/dev/null"), output: .file("/dev/null"), errors: .descriptor(terminal.program))
    close(terminal.program)
    let seen = try Descriptor.read(from: terminal.person)
    close(terminal.person)
    #expect(program.wait() == 65)
    #expect(seen.contains("\r\u{1B}[Kcdtquery: many.jsonl:1: document \"0\" already exists"), "\(seen)")
  }

  @Test func `building an index shows how far it is, unless it is to be quiet`() throws {
    let space = try importing()
    try space.run("import", "s", "many.jsonl")
    let seen = try watch(["index", "create", "s", "a"], in: space, output: false)
    let parts = seen.split(separator: "\r\u{1B}[K", omittingEmptySubsequences: false)
    #expect(parts.count >= 3 && parts.first == "" && parts.last == "", "\(parts)")
    #expect(parts.dropFirst().dropLast().allSatisfy { $0.contains(" documents, ") && $0.contains("left") })
    #expect(try watch(["index", "create", "s", "b", "--quiet"], in: space, output: false) == "")
    #expect(try watch(["index", "update", "s"], in: space, output: false) == "")
    #expect(try watch(["index", "rebuild", "s"], in: space, output: false).contains(" documents, "))
    #expect(try space.run("index", "rebuild", "s").errors == "")
  }

  @Test func `a check shows how far it is`() throws {
    let space = try importing()
    try space.run("import", "s", "many.jsonl")
    let seen = try watch(["check", "s"], in: space, output: false)
    #expect(
      seen.contains("documents, ") && seen.hasSuffix("\r\u{1B}[Kcdtquery: no problems found\r\n"), "\(seen)")
  }

  @Test func `no bar shows in a pipe`() throws {
    let result = try importing().run("import", "s", "many.jsonl")
    #expect(result.errors == "3000 imported\n")
  }

  @Test func `auto is a table on a terminal, and nothing else is`() throws {
    let space = try Workspace("{\"_id\":\"mike\",\"age\":36}\n")
    let table = try watch(["find", "people/contacts", "{}", "--format", "auto"], in: space, output: true)
    #expect(table.hasPrefix("_id   _rev"))
    let lines = try watch(["find", "people/contacts", "{}"], in: space, output: true)
    #expect(lines.hasPrefix("{\"_id\":\"mike\""))
  }
}
