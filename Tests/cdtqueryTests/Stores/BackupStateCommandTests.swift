import CDTPlatform
import CDTTestSupport
import FoundationEssentials
import Glibc
import Testing

/// `BACKUP@TIME` in place of a store, and `diff`.
@Suite struct BackupStateCommandTests {
  /// A workspace with a backup of two states: with the sequence 3, and with 5, in which Mike has grown older and Ann is gone.
  private func workspace() throws -> Workspace {
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "age")
    try space.run("backup", "people/contacts", "saved")
    try space.run("update", "people/contacts", #"{"_id":"mike"}"#, "--set", "age=37", "--yes")
    try space.run("delete", "people/contacts", "ann")
    try space.run("backup", "people/contacts", "saved")
    return space
  }

  private static let mike = #"{"_id":"mike","name":"Mike","age":36}"# + "\n"

  struct Case: Sendable, CustomTestStringConvertible {
    let arguments: [String]
    let output: String
    var testDescription: String { arguments.joined(separator: " ") }
  }

  static let cases = [
    Case(arguments: ["find", "saved@3", #"{"age":{"$gt":12}}"#, "--no-rev"], output: mike),
    Case(arguments: ["find", "saved@4", #"{"age":{"$gt":12}}"#, "--no-rev"], output: mike),
    Case(arguments: ["find", "./saved@3", #"{"age":{"$gt":12}}"#, "--ids"], output: "mike\n"),
    Case(arguments: ["find", "saved/@3", #"{"age":{"$gt":12}}"#, "--ids"], output: "mike\n"),
    Case(arguments: ["count", "saved@3"], output: "3\n"),
    Case(arguments: ["count", "saved@5"], output: "2\n"),
    Case(arguments: ["count", "saved@2100-01-01T00:00:00Z"], output: "2\n"),
    Case(arguments: ["get", "saved@3", "mike", "--no-rev"], output: mike),
    Case(arguments: ["group", "saved@3", "--sum", "years=age"], output: "{\"years\":55}\n"),
    Case(arguments: ["distinct", "saved@3", "age"], output: "7\n12\n36\n"),
    Case(
      arguments: ["sample", "saved@3", #"{"_id":"mike"}"#, "--no-rev"], output: mike),
    Case(arguments: ["conflicts", "saved@3"], output: ""),
    Case(arguments: ["attachment", "list", "saved@3", "mike"], output: ""),
    Case(arguments: ["diff", "saved@3", "saved@4"], output: ""),
    Case(arguments: ["diff", "saved@5", "people/contacts"], output: ""),
    Case(
      arguments: ["verify", "saved@5", "people/contacts"],
      output: "{\"documents\":3,\"differences\":0}\n"),
  ]

  @Test func `commands that read take a state, and leave nothing behind`() throws {
    let space = try workspace()
    let temporary = space.path("temporary")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    for c in Self.cases {
      let result = try space.run(Built.cdtquery, c.arguments, ["TMPDIR": temporary])
      #expect(result.status == 0, "\(c.testDescription): \(result.errors)")
      #expect(result.output == c.output, "\(c.testDescription)")
      #expect(try Files.names(in: temporary).isEmpty, "\(c.testDescription)")
    }
    let exported = try space.run("export", "saved@3", "--attachments")
    #expect(exported.lines.count == 3)
    let described = try space.run("describe", "saved@3", "--format", "json")
    #expect(described.output.hasPrefix(#"{"documents":3,"#))
    let explained = try space.run("explain", "saved@3", #"{"age":{"$gt":12}}"#)
    #expect(explained.output.hasPrefix(#"index "age""#), "\(explained.output)")
    #expect(try space.run("index", "list", "saved@3").output.hasPrefix(#"{"name":"age""#))
  }

  @Test func `the directory of a run that was killed is removed by the next`() throws {
    let space = try workspace()
    let temporary = space.path("temporary")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    let output = try Pipe()
    let program = try Program.start(
      Built.cdtquery, ["find", "saved@3", "--batch", "-"], directory: space.directory,
      environment: ["TMPDIR": temporary], input: .file(try holdOpen(in: space)),
      output: .descriptor(output.writing), errors: .file("/dev/null"))
    close(output.writing)
    #expect(try Descriptor.read(from: output.reading) { $0.hasSuffix("\n") }.contains("mike"))
    #expect(try Files.names(in: temporary).count == 1)
    program.send(SIGKILL)
    #expect(program.wait() == -SIGKILL)
    close(output.reading)
    #expect(try Files.names(in: temporary).count == 1)
    #expect(try space.run("count", "saved@3", environment: ["TMPDIR": temporary]).output == "3\n")
    #expect(try Files.names(in: temporary).isEmpty)
  }

  struct Refused: Sendable {
    let arguments: [String]
    let status: Int32
  }

  @Test(arguments: [
    Refused(arguments: ["put", "saved@3", "kim", "{}"], status: 64),
    Refused(arguments: ["import", "saved@3", "people.jsonl"], status: 64),
    Refused(arguments: ["update", "saved@3", "{}", "--set", "a=1", "--yes"], status: 74),
    Refused(arguments: ["delete", "saved@3", "mike"], status: 74),
    Refused(arguments: ["index", "create", "saved@3", "name"], status: 74),
    Refused(arguments: ["compact", "saved@3"], status: 74),
    Refused(arguments: ["drop", "saved@3", "--yes"], status: 64),
    Refused(arguments: ["rekey", "saved@3", "--no-key"], status: 64),
    Refused(arguments: ["restore", "saved", "people/x@3"], status: 64),
    Refused(arguments: ["changes", "saved@3"], status: 64),
    Refused(arguments: ["info", "saved@3"], status: 64),
    Refused(arguments: ["find", "saved@3", "--watch"], status: 64),
    Refused(arguments: ["log", "saved@3", "mike"], status: 64),
  ])
  func `commands that write, or need sequences or times, are refused with the way`(_ c: Refused) throws {
    let space = try workspace()
    try space.write(Workspace.people, to: "people.jsonl")
    let result = try space.run(Built.cdtquery, c.arguments)
    #expect(result.status == c.status, "\(c.arguments): \(result.errors)")
    let message =
      c.status == 74
      ? "the state of a backup can only be read; restore it in a new datastore, and write to that"
      : c.arguments.contains("people/x@3")
        ? "people/x@3 is the state of a backup, which this command does not take; restore it in a new store: cdtquery restore people/x STORE --at 3"
        : "saved@3 is the state of a backup, which this command does not take; restore it in a new store: cdtquery restore saved STORE --at 3"
    #expect(result.errors == "cdtquery: \(message)\n", "\(c.arguments)")
    #expect(try space.run("backup", "--verify", "saved").lines.count == 2)
  }

  @Test func `an @ without a time, or with a bad one, lists the states`() throws {
    let space = try workspace()
    for argument in ["saved@", "saved@yesterday", "saved@-1"] {
      let result = try space.run("find", argument)
      #expect(result.status == 64)
      #expect(
        result.errors.wholeMatch(
          of:
            #/cdtquery: write the time or the sequence of a state after saved@; the newest are \S+Z \(sequence 3\), \S+Z \(sequence 5\), and "cdtquery backup --verify saved" lists all\n/#
        ) != nil, "\(result.errors)")
    }
    for argument in ["nothing@", "nothing@3", "people/contacts@3"] {
      let result = try space.run("find", argument)
      #expect(result.status == 66)
      #expect(result.errors.contains("there is no backup in \(argument.split(separator: "@")[0])"))
    }
    let early = try space.run("find", "saved@2")
    #expect(early.status == 66)
    #expect(early.errors.contains("sequence 3; name a later state"))
  }

  @Test func `an @ in the path of a file, of a directory and of a backup is part of it`() throws {
    let space = try workspace()
    try space.write(Workspace.people, to: "people@3")
    #expect(try space.run("count", "people@3").output == "3\n")
    #expect(try space.run("count", "people@3.jsonl").errors.contains("people@3.jsonl"))
    try space.write(Workspace.people, to: "people.jsonl")
    #expect(try space.run("import", "me@home/contacts", "people.jsonl").status == 0)
    #expect(try space.run("backup", "me@home/contacts", "me@work").status == 0)
    #expect(try space.run("count", "me@work@3").output == "3\n")
  }

  @Test func `a state of an encrypted backup is read with its key`() throws {
    let space = try Workspace()
    try space.write(Workspace.people, to: "people.jsonl")
    try space.write("correct horse battery\n", to: "passphrase")
    let key = ["--key-file", "passphrase"]
    func run(_ arguments: [String]) throws -> Workspace.Result { try space.run(Built.cdtquery, arguments) }
    try #require(run(["import", "secret/contacts", "people.jsonl"] + key).status == 0)
    try #require(run(["backup", "secret/contacts", "saved"] + key).status == 0)
    #expect(try run(["count", "saved@3"] + key).output == "3\n")
    #expect(try run(["diff", "saved@3", "secret/contacts"] + key).status == 0)
    #expect(try run(["count", "saved@3"]).status == 77)
  }

  @Test func `a state is read as a user`() throws {
    let space = try Workspace(Workspace.people)
    try space.write(
      #"{"read":[{"roles":["*"],"selector":{"name":{"$data":"userCtx.name"}}}]}"#, to: "rules.json")
    try #require(try space.run("rules", "set", "people/contacts", "@rules.json").status == 0)
    try space.run("backup", "people/contacts", "saved")
    #expect(try space.run("find", "saved@9", "--ids", "--as", "Mike").output == "mike\n")
  }

  // MARK: diff

  @Test func `prints a row for each field that differs, by id`() throws {
    let space = try workspace()
    try space.run("put", "people/contacts", "kim", #"{"name":"Kim","pet":{"species":"cat"}}"#)
    try space.run("put", "people/contacts", "max", "{}")
    try space.run("update", "people/contacts", #"{"_id":"zoe"}"#, "--set", "age=13", "--yes")
    try space.run("update", "people/contacts", #"{"_id":"zoe"}"#, "--set", "age=12", "--yes")
    let result = try space.run("diff", "saved@3", "people/contacts")
    #expect(result.status == 1)
    #expect(result.errors.isEmpty)
    #expect(
      result.lines == [
        #"{"id":"ann","change":"deleted","path":"name","old":"Ann"}"#,
        #"{"id":"ann","change":"deleted","path":"age","old":7}"#,
        #"{"id":"kim","change":"created","path":"name","new":"Kim"}"#,
        #"{"id":"kim","change":"created","path":"pet","new":{"species":"cat"}}"#,
        #"{"id":"max","change":"created"}"#,
        #"{"id":"mike","change":"changed","path":"age","old":36,"new":37}"#,
      ])
    let back = try space.run("diff", "people/contacts", "saved@3", "--format", "csv")
    #expect(back.status == 1)
    #expect(back.lines.prefix(2) == ["id,change,path,new,old", "ann,created,name,Ann,"])
    let table = try space.run("diff", "saved@3", "saved@5", "--format", "table")
    #expect(table.lines.last == "mike  changed  age   36   37")
    #expect(try space.run("diff", "saved@3", "people/none").status == 66)
  }

  @Test func `a document in conflict is compared by its winner`() throws {
    let space = try Workspace()
    try space.makeConflict()
    try space.run("backup", "team/tasks", "saved")
    try space.run("resolve", "team/tasks", "milk", "--pick", "2-bbb")
    #expect(try space.run("diff", "saved@1000", "team/tasks").status == 0)
    #expect(try space.run("verify", "saved@1000", "team/tasks").status == 1)
  }

  /// A pipe with one request, which is open as long as the workspace is.
  private func holdOpen(in space: Workspace) throws -> String {
    let path = space.path("requests")
    guard mkfifo(path, 0o600) == 0 else { throw SpawnedProcess.Failure(description: "no pipe") }
    // Opened for both, so that nobody waits for the other end.
    let descriptor = open(path, O_RDWR)
    try Descriptor.write("{\"_id\":\"mike\"}\n", to: descriptor)
    return path
  }
}
