import CDTJSON
import CDTPlatform
import CDTTestSupport
import FoundationEssentials
import Testing

@Suite struct RekeyCommandTests {
  private func workspace() throws -> Workspace {
    let space = try Workspace(Workspace.people)
    try space.write([UInt8](repeating: 7, count: 32), to: "key")
    try space.write("a passphrase\n", to: "passphrase")
    try space.shell("chmod 600 key passphrase")
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

  @Test func `a change of key that is not possible is refused, and leaves the store as it was`() throws {
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

  @Test func `a former key that is wrong is refused, also if the new one opens the store`() throws {
    let space = try workspace()
    try space.write("another one\n", to: "other")
    #expect(try space.run("rekey", "people/contacts", "--new-key-file", "key").status == 0)
    let before = try space.text("people/contacts/encryption.json")
    let result = try space.run("rekey", "people/contacts", "--key-file", "other", "--new-key-file", "key")
    #expect(result.status == 77)
    #expect(result.errors.contains("the new key opens people/contacts, and the former one does not"))
    #expect(try space.text("people/contacts/encryption.json") == before)
  }

  @Test func `unencrypted files of an interrupted run are named, and removed with the key`() throws {
    let space = try workspace()
    try space.run("rekey", "people/contacts", "--new-key-file", "key")
    let id = try #require(
      try JSONValue(parsing: space.text("people/contacts/encryption.json"))["id"]?.stringValue)
    let work = "people/.contacts.rekeying"
    try space.shell("mkdir -p \(work)/store && echo plain > \(work)/store/db.sync")
    try space.write(#"{"store":"x","old":"\#(id)","new":null}"#, to: "\(work)/state.json")
    let name = "\(work) has unencrypted files that an interrupted rekey has left"
    for arguments in [["list", "people"], ["count", "people/contacts"]] {
      #expect(try space.run(Built.cdtquery, arguments).errors.contains(name))
      #expect(space.exists(work))
    }
    let opened = try count(space, "--key-file", "key")
    #expect(opened.output == "3\n")
    #expect(opened.errors.contains("removed \(work), the unencrypted files"))
    #expect(try Files.names(in: space.path("people")) == ["contacts"])
    #expect(try space.run("list", "people").errors == "")
  }

  @Test func `a key and a passphrase are told apart in files as in the variable`() throws {
    let space = try workspace()
    let hex = String(repeating: "07", count: 32)
    func run(_ content: String, _ arguments: String...) throws -> Workspace.Result {
      try space.write(content, to: "secret")
      try space.shell("chmod 600 secret")
      return try space.run(Built.cdtquery, arguments + ["--key-file", "secret"])
    }
    #expect(try run("\u{FEFF}\(hex.uppercased())\r\n", "put", "people/hex", "a", "{}").status == 0)
    #expect(try space.run("get", "people/hex", "a", environment: ["CDTQUERY_KEY": hex]).status == 0)
    #expect(try space.run("get", "people/hex", "a", "--key-file", "key").status == 0)
    for (number, count) in [30, 31, 32, 33].enumerated() {
      let text = String(repeating: "x", count: count)
      #expect(try run("\u{FEFF}\(text)\n", "put", "people/s\(number)", "a", "{}").status == 0)
      for end in ["", "\n"] {
        let result = try space.run(
          "get", "people/s\(number)", "a", environment: ["CDTQUERY_KEY": text + end])
        #expect(result.status == 0, "\(count): \(result.errors)")
        #expect(result.errors == "")
      }
    }
    let short = try space.run("put", "people/short", "a", "{}", environment: ["CDTQUERY_KEY": "42"])
    #expect(short.errors.hasPrefix("cdtquery: CDTQUERY_KEY was taken as a passphrase of 2 characters; "))
    let near = try space.run("put", "people/near", "a", "{}", environment: ["CDTQUERY_KEY": hex + "0"])
    #expect(near.errors.contains("a passphrase of 65 characters, as a key has 64 hexadecimal digits"))
    try space.shell("chmod 644 key")
    let open = try space.run("get", "people/hex", "a", "--key-file", "key")
    #expect(open.status == 0)
    #expect(
      open.errors
        == "cdtquery: everybody can read key, which has the key; make it private with \"chmod 600 key\"\n")
    for content in ["", "\n", "\u{FEFF}", "\n\n"] {
      #expect(try run(content, "list", "people").status == 65)
    }
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
