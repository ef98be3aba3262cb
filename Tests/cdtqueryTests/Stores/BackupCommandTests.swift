import CDTPlatform
import CDTTestSupport
import FoundationEssentials
import Glibc
import Testing

@Suite struct BackupCommandTests {
  @Test func `states are saved, listed and restored`() throws {
    let space = try Workspace(Workspace.people)
    #expect(try space.run("backup", "people/contacts", "saved").output.hasPrefix(#"{"sequence":3,"#))
    try space.run("delete", "people/contacts", "mike")
    #expect(try space.run("backup", "people/contacts", "saved").output.contains(#""documents":1,"#))
    // Nothing has changed.
    #expect(try space.run("backup", "people/contacts", "saved").output.contains(#""bytes":0}"#))
    let listed = try space.run("backup", "--verify", "saved")
    #expect(listed.status == 0)
    #expect(listed.lines.count == 2)
    #expect(try space.run("restore", "saved", "people/now").status == 0)
    #expect(try space.run("restore", "saved", "elsewhere/before", "--at", "3").status == 0)
    #expect(try space.run("restore", "saved", "people/now").status == 73)
    #expect(
      try space.run("verify", "people/contacts", "people/now").output
        == "{\"documents\":3,\"differences\":0}\n")
    let other = try space.run("verify", "people/contacts", "elsewhere/before")
    #expect(other.status == 1)
    #expect(other.output.hasPrefix(#"{"id":"mike","difference":"leaves","#))
    #expect(try space.run("check", "elsewhere/before").status == 0)
  }

  @Test func `the directory that the backup is in is created, and no more than that`() throws {
    let space = try Workspace(Workspace.people)
    #expect(try space.run("backup", "people/contacts", "new/saved").status == 0)
    #expect(try space.run("backup", "--all", "people", "all/saved").status == 0)
    #expect(try space.run("backup", "--verify", "all/saved/contacts").status == 0)
    #expect(try space.run("backup", "people/none", "other/saved").status == 66)
    #expect(!space.exists("other"))
    let result = try space.run("backup", "people/contacts", "no/where/saved")
    #expect(result.status == 74)
    #expect(result.errors.hasPrefix("cdtquery: can't create no/where: No such file or directory"))
  }

  @Test func `a state that is not there, and damage, are told and leave no store`() throws {
    let space = try Workspace(Workspace.people)
    #expect(try space.run("restore", "nothing", "other/x").status == 66)
    #expect(try Files.kind(of: space.path("other")) == nil)
    try space.run("backup", "people/contacts", "saved")
    let early = try space.run("restore", "saved", "people/x", "--at", "2020-01-01T00:00:00Z")
    #expect(early.status == 66)
    #expect(early.errors.contains("sequence 3; name a later state"))
    let path = space.path("saved/00000001.jsonl")
    var data = try Data(contentsOf: URL(filePath: path))
    data[data.count / 2] ^= 1
    try data.write(to: URL(filePath: path))
    let verified = try space.run("backup", "--verify", "saved")
    #expect(verified.status == 1)
    #expect(
      verified.output.contains(#"{"kind":"database","finding":"the backup saved/00000001.jsonl is damaged"#))
    #expect(try space.run("restore", "saved", "people/x").status == 74)
    #expect(try Files.names(in: space.path("people")) == ["contacts"])
  }

  @Test func `an attachment that is lost is named with its document, and the rest is written`() throws {
    let space = try Workspace(Workspace.people)
    try space.write("a picture", to: "picture")
    try space.run("attachment", "put", "people/contacts", "mike", "picture")
    let attachments = "people/contacts/attachments"
    for name in try Files.names(in: space.path(attachments)) {
      try FileManager.default.removeItem(atPath: space.path("\(attachments)/\(name)"))
    }
    let loss =
      #"{"kind":"attachment","id":"mike","finding":"the content of attachment \"picture\" is missing"#
    let saved = try space.run("backup", "people/contacts", "saved")
    #expect(saved.status == 1)
    #expect(saved.lines.last?.hasPrefix(loss) == true)
    // It was told.
    #expect(try space.run("backup", "people/contacts", "saved").status == 0)
    for arguments in [["backup", "--verify", "saved"], ["restore", "saved", "people/again"]] {
      let result = try space.run(Built.cdtquery, arguments)
      #expect(result.status == 1)
      #expect(result.lines.last?.hasPrefix(loss) == true)
    }
    #expect(try space.run("count", "people/again", "{}").output == "3\n")
    let read = try space.run("count", "saved@1000")
    #expect(read.status == 0 && read.output == "3\n")
    #expect(
      read.errors.hasPrefix(
        #"cdtquery: attachment: document "mike": the content of attachment "picture" is missing"#))
    let exported = try space.run("export", "people/contacts", "--attachments")
    #expect(exported.status == 1)
    #expect(exported.lines.count == 3)
    #expect(exported.errors.contains(#"document "mike": the content of attachment "picture" is missing"#))
  }

  @Test func `bad arguments are refused`() throws {
    let space = try Workspace(Workspace.people)
    for arguments in [
      ["backup", "people/contacts"], ["backup", "--verify", "saved", "x"],
      ["backup", "--verify", "--follow", "saved"],
      ["restore", "saved", "people/x", "--at", "yesterday"],
      ["backup", "people/contacts", "saved", "--user", "u"],
      ["verify", "people/contacts", "people/contacts", "--user", "u"],
    ] {
      #expect(try space.run(Built.cdtquery, arguments).status == 64, "\(arguments)")
    }
  }

  @Test func `an encrypted store has an encrypted backup, with the same key`() throws {
    let space = try Workspace(Workspace.people)
    try space.write([UInt8](repeating: 7, count: 32), to: "key")
    try space.write("another\n", to: "passphrase")
    try space.write(Workspace.people, to: "people.jsonl")
    let key = ["--key-file", "key"]
    func run(_ arguments: [String]) throws -> Workspace.Result { try space.run(Built.cdtquery, arguments) }
    #expect(try run(["import", "secret/contacts", "people.jsonl"] + key).status == 0)
    #expect(try run(["backup", "secret/contacts", "saved"] + key).status == 0)
    #expect(try run(["backup", "--verify", "saved"] + key).lines.count == 1)
    for wrong in [[], ["--key-file", "passphrase"]] {
      #expect(try run(["backup", "--verify", "saved"] + wrong).status == 77)
      #expect(try run(["restore", "saved", "secret/x"] + wrong).status == 77)
    }
    #expect(try run(["restore", "saved", "secret/again"] + key).status == 0)
    #expect(try space.run("info", "secret/again").status == 77)
    #expect(
      try run(["verify", "secret/contacts", "secret/again"] + key).output
        == "{\"documents\":3,\"differences\":0}\n")
    let path = space.path("saved/00000001.sealed")
    var data = try Data(contentsOf: URL(filePath: path))
    data[data.count / 2] ^= 1
    try data.write(to: URL(filePath: path))
    let verified = try run(["backup", "--verify", "saved"] + key)
    #expect(verified.status == 1)
    #expect(verified.output.contains("saved/00000001.sealed is damaged"))
  }

  @Test(arguments: [[], ["--key-file", "key"]]) func `follow saves what others write`(_ key: [String]) throws
  {
    let space = try Workspace()
    try space.write([UInt8](repeating: 7, count: 32), to: "key")
    try space.write(Workspace.people, to: "people.jsonl")
    try space.run(Built.cdtquery, ["import", "people/contacts", "people.jsonl"] + key)
    let output = try Pipe()
    let program = try Program.start(
      Built.cdtquery, ["backup", "people/contacts", "saved", "--follow"] + key, directory: space.directory,
      input: .file("/dev/null"), output: .descriptor(output.writing), errors: .file("/dev/null"))
    close(output.writing)
    func line() throws -> String { try Descriptor.read(from: output.reading) { $0.hasSuffix("\n") } }
    #expect(try line().hasPrefix(#"{"sequence":3,"#))
    try space.run(Built.cdtquery, ["put", "people/contacts", "kim", "{}"] + key)
    #expect(try line().hasPrefix(#"{"sequence":4,"#))
    program.send(SIGINT)
    #expect(program.wait() == -SIGINT)
    close(output.reading)
    let listed = try space.run(Built.cdtquery, ["backup", "--verify", "saved"] + key)
    #expect(listed.status == 0)
    #expect(listed.lines.count == 2)
  }

  @Test func `all stores of a directory are saved, and one that can't be does not hide the others`() throws {
    let space = try Workspace(Workspace.people)
    try space.write("{\"_id\":\"milk\"}\n", to: "tasks.jsonl")
    try space.run("import", "people/tasks", "tasks.jsonl")
    let saved = try space.run("backup", "--all", "people", "saved")
    #expect(saved.status == 0)
    #expect(saved.lines.map { $0.prefix(19) } == [#"{"store":"contacts""#, #"{"store":"tasks","s"#])
    #expect(try space.run("restore", "saved/contacts", "people/again").status == 0)
    try space.write("no database", to: "people/again/db.sync")
    let partly = try space.run("backup", "--all", "people", "saved")
    #expect(partly.status != 0 && partly.lines.count == 2, "\(partly.errors)")
    #expect(partly.errors.contains("cdtquery: again: "))
    #expect(try space.run("backup", "--all", "nothing", "saved").status == 66)
  }

  @Test func `follow of all stores saves those that appear later`() throws {
    let space = try Workspace(Workspace.people)
    let output = try Pipe()
    let program = try Program.start(
      Built.cdtquery, ["backup", "--all", "people", "saved", "--follow"], directory: space.directory,
      input: .file("/dev/null"), output: .descriptor(output.writing), errors: .file("/dev/null"))
    close(output.writing)
    func line() throws -> String { try Descriptor.read(from: output.reading) { $0.hasSuffix("\n") } }
    #expect(try line().hasPrefix(#"{"store":"contacts","sequence":3,"#))
    try space.run("put", "people/contacts", "kim", "{}")
    #expect(try line().hasPrefix(#"{"store":"contacts","sequence":4,"#))
    try space.write("{\"_id\":\"milk\"}\n", to: "tasks.jsonl")
    try space.run("import", "people/tasks", "tasks.jsonl")
    #expect(try line().hasPrefix(#"{"store":"tasks","sequence":1,"#))
    program.send(SIGINT)
    #expect(program.wait() == -SIGINT)
    close(output.reading)
    #expect(try space.run("backup", "--verify", "saved/tasks").lines.count == 1)
  }

  /// Killed in the middle, again and again: what is there can be restored, and the next run goes on.
  @Test(arguments: [false, true]) func `a backup that is killed is what it was`(isEncrypted: Bool) throws {
    let space = try Workspace()
    try space.write("a passphrase\n", to: "key")
    let key = isEncrypted ? ["--key-file", "key"] : []
    func run(_ arguments: String...) throws -> Workspace.Result {
      try space.run(Built.cdtquery, arguments + key)
    }
    let keyText = key.joined(separator: " ")
    try space.shell(
      #"seq 1 20000 | sed 's/.*/{"_id":"&","text":"some text of document &"}/' | cdtquery import people/many - \#(keyText)"#
    )
    for delay in ["0.02", "0.05", "0.1", "0.2"] {
      _ = try space.shell("timeout -s KILL \(delay) cdtquery backup people/many saved --quiet \(keyText)")
      let verified = try run("backup", "--verify", "saved")
      #expect([0, 66].contains(verified.status), "\(verified.errors)")
    }
    #expect(try run("backup", "people/many", "saved").status == 0)
    #expect(try run("restore", "saved", "people/again", "--quiet").status == 0)
    #expect(
      try run("verify", "people/many", "people/again").output
        == "{\"documents\":20000,\"differences\":0}\n")
  }
}
