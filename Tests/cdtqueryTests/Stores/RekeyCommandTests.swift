import CDTPlatform
import CDTTestSupport
import FoundationEssentials
import Testing

@Suite struct RekeyCommandTests {
  private func workspace() throws -> Workspace {
    let space = try Workspace(Workspace.people)
    try space.write([UInt8](repeating: 7, count: 32), to: "key")
    try space.write("a passphrase\n", to: "passphrase")
    return space
  }

  private func count(_ space: Workspace, _ options: String...) throws -> Workspace.Result {
    try space.run(Built.cdtquery, ["count", "people/contacts", "{}"] + options)
  }

  @Test func `a store is encrypted, gets another key and another passphrase, and is plain again`() throws {
    let space = try workspace()
    #expect(try space.run("rekey", "people/contacts", "--new-key-file", "key").status == 0)
    #expect(try count(space).status == 77)
    #expect(try count(space, "--key-file", "key").output == "3\n")
    // It is done already.
    #expect(try space.run("rekey", "people/contacts", "--new-key-file", "key").status == 0)
    #expect(
      try space.run("rekey", "people/contacts", "--key-file", "key", "--new-key-file", "passphrase").status
        == 0
    )
    #expect(try count(space, "--key-file", "key").status == 77)
    let before = try space.text("people/contacts/encryption.json")
    // The same passphrase for another data key.
    #expect(try space.run("rekey", "people/contacts", "--key-file", "passphrase").status == 0)
    #expect(try space.text("people/contacts/encryption.json") != before)
    #expect(
      try space.run(
        "rekey", "people/contacts", "--key-file", "passphrase", "--new-key-file", "key", "--secret-only"
      ).status == 0)
    #expect(try count(space, "--key-file", "passphrase").status == 77)
    #expect(try count(space, "--key-file", "key").output == "3\n")
    let result = try space.run("rekey", "people/contacts", "--key-file", "key", "--no-key")
    #expect(result.status == 0)
    #expect(result.output == "")
    #expect(result.errors == "")
    #expect(try count(space).output == "3\n")
    #expect(try Files.names(in: space.path("people")) == ["contacts"])
  }

  @Test func `what can't be done is told`() throws {
    let space = try workspace()
    for arguments in [
      ["--new-key-file", "key", "--no-key"], ["--secret-only"], ["--no-key", "--secret-only"],
    ] {
      #expect(try space.run(Built.cdtquery, ["rekey", "people/contacts"] + arguments).status == 64)
    }
    for arguments in [[], ["--no-key"], ["--key-file", "key"], ["--new-key-file", "key", "--secret-only"]] {
      let result = try space.run(Built.cdtquery, ["rekey", "people/contacts"] + arguments)
      #expect(result.status == 77, "\(arguments): \(result.errors)")
    }
    #expect(try space.run("rekey", "people/none", "--new-key-file", "key").status == 66)
    #expect(try space.run("rekey", "none/none", "--new-key-file", "key").status == 66)
    #expect(try space.run("rekey", "people/contacts", "--new-key-file", "nothing").status == 66)
    #expect(try count(space).output == "3\n")
    #expect(try Files.names(in: space.path("people")) == ["contacts"])
  }

  @Test func `every command takes the key of an encrypted store`() throws {
    let space = try workspace()
    let key = ["--key-file", "key"]
    #expect(try space.run("rekey", "people/contacts", "--new-key-file", "key").status == 0)
    let commands = [
      ["check", "people/contacts"], ["compact", "people/contacts"], ["info", "people/contacts"],
      ["index", "create", "people/contacts", "age"], ["export", "people/contacts", "all.jsonl"],
      ["import", "people/copy", "all.jsonl"], ["verify", "people/contacts", "people/copy"],
      ["recover", "people/contacts", "people/saved"], ["verify", "people/contacts", "people/saved"],
      ["backup", "people/contacts", "backup"], ["restore", "backup", "people/restored"],
      ["verify", "people/contacts", "people/restored"], ["changes", "people/contacts"],
      ["find", "people/contacts", #"{"age": {"$gt": 7}}"#],
    ]
    for command in commands {
      let without = try space.run(Built.cdtquery, command)
      if command[0] != "import" { #expect(without.status == 77, "\(command): \(without.errors)") }
      if command[0] == "import" { try space.run("drop", "people/copy", "--yes") }
      let result = try space.run(Built.cdtquery, command + key)
      #expect(result.status == 0, "\(command): \(result.errors)")
    }
    for name in ["copy", "saved", "restored"] {
      #expect(space.exists("people/\(name)/encryption.json"))
    }
    #expect(
      try space.run(
        "count", "people/saved", "{}",
        environment: ["CDTQUERY_KEY": String(repeating: "07", count: 32)]
      ).output == "3\n")
  }
}
