import CDTTestSupport
import Glibc
import Testing

/// What is different when a person watches.
@Suite struct TerminalTests {
  /// Runs the tool with a pseudo-terminal as one of its streams, and gives what a person would see.
  private func watch(
    _ arguments: [String], in space: Workspace, output: Bool, columns: UInt16 = 0,
    environment: [String: String] = ["NO_COLOR": "1"]
  ) throws -> String {
    let terminal = try Terminal()
    if columns > 0 {
      var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
      #expect(ioctl(terminal.program, UInt(TIOCSWINSZ), &size) == 0)
    }
    let program = try Program.start(
      Built.cdtquery, arguments, directory: space.directory, environment: environment,
      input: .file("/dev/null"),
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

  @Test func `a file without a size has a rate and no bar`() throws {
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
      seen.contains("documents, ") && seen.contains("\r\u{1B}[Kcdtquery: no problems found"), "\(seen)")
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

  @Test func `JSON and the heads of tables are in color on a terminal, unless it is not wanted`() throws {
    let space = try Workspace("{\"_id\":\"mike\",\"age\":36,\"tags\":[null]}\n")
    let find = ["find", "people/contacts", "--no-rev"]
    let plain = "{\"_id\":\"mike\",\"age\":36,\"tags\":[null]}\r\n"
    let colored = try watch(find, in: space, output: true, environment: [:])
    #expect(
      colored
        == "{\u{1B}[34;1m\"_id\"\u{1B}[0m:\u{1B}[32m\"mike\"\u{1B}[0m,\u{1B}[34;1m\"age\"\u{1B}[0m:\u{1B}[36m36\u{1B}[0m,\u{1B}[34;1m\"tags\"\u{1B}[0m:[\u{1B}[36mnull\u{1B}[0m]}\r\n"
    )
    #expect(try watch(find, in: space, output: true) == plain)
    #expect(try watch(find, in: space, output: true, environment: ["NO_COLOR": ""]) == colored)
    #expect(try watch(find, in: space, output: true, environment: ["TERM": "dumb"]) == plain)
    let table = try watch(find + ["--format", "table"], in: space, output: true, environment: [:])
    #expect(table.hasPrefix("\u{1B}[1m_id   age  tags\u{1B}[0m\r\n────"), "\(table)")
    #expect(try space.run(Built.cdtquery, find).output == plain.filter { $0 != "\r\n" } + "\n")
  }

  @Test(arguments: [20, 40, 60, 79, 80, 200] as [UInt16])
  func `a progress bar is one line, and a table fits, at any width`(_ columns: UInt16) throws {
    let space = try importing()
    let seen = try watch(["import", "s", "many.jsonl"], in: space, output: false, columns: columns)
    let bars = seen.split(separator: "\r\u{1B}[K").dropLast()
    #expect(!bars.isEmpty && bars.allSatisfy { $0.count < columns }, "\(bars)")
    let long = String(repeating: "long ", count: 20)
    let people = try Workspace("{\"_id\":\"mike\",\"a\":\"\(long)\",\"b\":\"\(long)\",\"c\":1}\n")
    let table = try watch(
      ["find", "people/contacts", "--format", "table"], in: people, output: true, columns: columns)
    let lines = table.split(separator: "\r\n")
    #expect(lines.count == 3)
    #expect(lines.allSatisfy { $0.count <= columns }, "\(table)")
  }
}
