import FoundationEssentials
import Testing

@Suite struct DocumentCommandTests {
  private static let mike = "{\"_id\":\"mike\",\"_rev\":\"1-dc7c404fb82b5e0160f925a3aaa9534b\",\"age\":36}"

  private func workspace() throws -> Workspace {
    try Workspace("{\"_id\":\"mike\",\"age\":36}\n{\"_id\":\"zoe\",\"age\":12}\n")
  }

  private func revision(_ text: String) -> String {
    let parts = text.split(separator: "\"")
    return parts.firstIndex(of: "_rev").map { String(parts[$0 + 2]) } ?? ""
  }

  // MARK: get

  @Test func `get prints documents in the order of the ids`() throws {
    let result = try workspace().run("get", "people/contacts", "zoe", "mike")
    #expect(result.lines.count == 2)
    #expect(result.lines.first?.hasPrefix("{\"_id\":\"zoe\"") == true)
    #expect(result.lines.last == Self.mike)
    #expect(result.status == 0)
  }

  @Test func `get prints what there is and tells what is not`() throws {
    let result = try workspace().run("get", "people/contacts", "x", "mike", "y")
    #expect(result.output == Self.mike + "\n")
    #expect(
      result.errors == """
        cdtquery: there is no document "x"; check the id, or create it
        cdtquery: there is no document "y"; check the id, or create it

        """)
    #expect(result.status == 66)
  }

  @Test func `get prints an older revision`() throws {
    let space = try workspace()
    let first = revision(Self.mike)
    try space.run("put", "people/contacts", "mike", "{\"age\":37}", "--rev", first)
    let result = try space.run("get", "people/contacts", "mike", "--rev", first)
    #expect(result.output == Self.mike + "\n")
    #expect(try space.run("get", "people/contacts", "mike", "--rev", "9-abc").status == 66)
    #expect(try space.run("get", "people/contacts", "mike", "--rev", "nine").status == 64)
    #expect(try space.run("get", "people/contacts", "mike", "zoe", "--rev", first).status == 64)
  }

  @Test func `-- ends the options`() throws {
    let space = try workspace()
    #expect(try space.run("put", "people/contacts", "--", "--rev", "{}").status == 0)
    #expect(try space.run("get", "people/contacts", "--", "--rev").output.hasPrefix("{\"_id\":\"--rev\""))
    #expect(try space.run("delete", "people/contacts", "--", "--rev").status == 0)
  }

  @Test(arguments: [
    ["people/contacts", "mike"], ["people/contacts/", "zoe", "mike"], ["people/contacts", "x", "mike"],
    ["people/contacts", ""], ["people/contacts"], ["people", "mike"], ["/", "mike"], ["", "mike"],
    ["people/contacts", "get", "help"], [],
  ])
  func `get says the same with and without --`(_ values: [String]) throws {
    let space = try workspace()
    let plain = try space.run(Built.cdtquery, ["get"] + values)
    let parsed = try space.run(Built.cdtquery, ["get", "--"] + values)
    #expect(plain.output == parsed.output)
    #expect(plain.errors == parsed.errors)
    #expect(plain.status == parsed.status)
  }

  // MARK: put

  @Test func `put takes its body from the argument, a file and standard input`() throws {
    let space = try Workspace()
    try space.write("{\n  \"a\": 2\n}\n", to: "body.json")
    let results = [
      try space.run("put", "s", "a", "{\"a\": 1}"), try space.run("put", "s", "b", "@body.json"),
      try space.run("put", "s", "c", "-", input: "{\"a\": 3}"),
    ]
    #expect(results.map(\.status) == [0, 0, 0])
    #expect(
      results.map { $0.output.suffix(8) } == ["\"a\":1}\n", "\"a\":2}\n", "\"a\":3}\n"].map { "," + $0 })
    #expect(try space.run("export", "s").output == results.map(\.output).joined())
  }

  @Test func `put takes id and revision from the body, or makes them`() throws {
    let space = try workspace()
    let updated = try space.run("put", "people/contacts", Self.mike.replacing("36", with: "37"))
    #expect(updated.output.hasPrefix("{\"_id\":\"mike\",\"_rev\":\"2-"))
    let made = try space.run("put", "people/contacts", "{}")
    #expect(made.status == 0)
    #expect(try space.run("count", "people/contacts").output == "3\n")
  }

  static let refused = [
    Refusal(
      testDescription: "a taken id", arguments: ["mike", "{}"], status: 65,
      error: "document \"mike\" already exists; to replace it, give its current revision with --rev"),
    Refusal(
      testDescription: "a stale revision", arguments: ["mike", "{}", "--rev", "1-abc"], status: 65,
      error:
        "revision 1-abc of document \"mike\" is not a leaf; read the document again and repeat the change"),
    Refusal(
      testDescription: "no revision", arguments: ["mike", "{}", "--rev", "abc"], status: 64,
      error: "\"abc\" is not a revision id; give one such as 2-be2c05cd85b8468ce92b04e001b0e923"),
    Refusal(
      testDescription: "two ids", arguments: ["mike", "{\"_id\":\"zoe\"}"], status: 64,
      error: "the id argument and the body's _id differ; give only one of them"),
    Refusal(
      testDescription: "a revision of nothing", arguments: ["{}", "--rev", "1-abc"], status: 64,
      error: "a revision needs the id of its document; give it before the body"),
    Refusal(
      testDescription: "text that is cut off", arguments: ["{\"a\":"], status: 65,
      error:
        "the body must be a JSON object: line 1, column 6: the text ends inside a value; check that it is complete"
    ),
    Refusal(
      testDescription: "an array", arguments: ["[]"], status: 65,
      error: "the body must be a JSON object: line 1, column 1: expected an object, in braces"),
    Refusal(
      testDescription: "no file", arguments: ["@nowhere"], status: 74,
      error: "can't read nowhere: No such file or directory; check the path"),
    Refusal(
      testDescription: "an id that is a number", arguments: ["{\"_id\":7}"], status: 65,
      error: "_id must be a string; quote it"),
    Refusal(
      testDescription: "a reserved id", arguments: ["_x", "{}"], status: 65,
      error: "the id \"_x\" begins with an underscore, which is reserved for _design/…; choose another"),
    Refusal(
      testDescription: "an empty id", arguments: ["", "{}"], status: 65,
      error: "a document id can't be empty; omit it to have one generated"),
    Refusal(
      testDescription: "a reserved key", arguments: ["{\"_x\":7}"], status: 65,
      error: "the key \"_x\" begins with an underscore, which is reserved; rename the key"),
  ]

  @Test(arguments: refused) func `put refuses`(_ c: Refusal) throws {
    let space = try workspace()
    let result = try space.run(Built.cdtquery, ["put", "people/contacts"] + c.arguments)
    #expect(result.errors == "cdtquery: \(c.error)\n")
    #expect(result.status == c.status)
    #expect(result.output == "")
    #expect(try space.run("count", "people/contacts").output == "2\n")
  }

  @Test func `put refuses a body that is not UTF-8`() throws {
    let space = try workspace()
    try space.write(Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8), to: "f")
    let result = try space.run("put", "people/contacts", "@f")
    #expect(result.errors == "cdtquery: f is not UTF-8; convert it to UTF-8\n")
    #expect(result.status == 65)
  }

  @Test func `an update of a store that is not there does not make one`() throws {
    let space = try Workspace()
    #expect(try space.run("put", "people/contacts", "a", "{}", "--rev", "1-abc").status == 66)
    #expect(!space.exists("people"))
  }

  // MARK: delete

  @Test func `delete prints the tombstone, and the id is free again`() throws {
    let space = try workspace()
    let result = try space.run("delete", "people/contacts", "zoe")
    #expect(
      result.output
        == "{\"_id\":\"zoe\",\"_rev\":\"2-f58a356b9eb60990966350d5ac1b915c\",\"_deleted\":true}\n")
    let gone = try space.run("get", "people/contacts", "zoe")
    #expect(
      gone.errors == "cdtquery: document \"zoe\" is deleted; create it again to reuse the id\n")
    #expect(gone.status == 66)
    #expect(try space.run("put", "people/contacts", "zoe", "{}").output.contains("\"_rev\":\"3-"))
  }

  @Test func `delete takes a revision, which has to be current`() throws {
    let space = try workspace()
    let first = revision(Self.mike)
    let second = revision(try space.run("put", "people/contacts", "mike", "{}", "--rev", first).output)
    #expect(try space.run("delete", "people/contacts", "mike", "--rev", first).status == 65)
    #expect(try space.run("delete", "people/contacts", "mike", "--rev", second).status == 0)
  }

  @Test func `delete deletes every leaf`() throws {
    let space = try workspace()
    let result = try space.run("delete", "people/contacts", "mike", "--all-leaves")
    #expect(result.lines.count == 1)
    #expect(result.output.contains("\"_deleted\":true"))
    #expect(
      try space.run("delete", "people/contacts", "zoe", "--all-leaves", "--rev", "1-a").status == 64)
  }

  @Test func `delete of matches asks, unless it is told`() throws {
    let space = try workspace()
    let requested = try space.run("delete", "people/contacts", "--matching", "{}")
    #expect(requested.status == 64)
    #expect(requested.errors.contains("to delete 2 documents, add --yes"))
    #expect(
      try space.run("delete", "people/contacts", "--matching", "{}", "--dry-run").output
        == "2 would be deleted\n")
    #expect(try space.run("count", "people/contacts").output == "2\n")
    let selector = #"{"_id": "zoe"}"#
    #expect(
      try space.run("delete", "people/contacts", "--matching", selector, "--yes").output == "1 deleted\n")
    #expect(try space.run("count", "people/contacts").output == "1\n")
    for arguments in [
      ["mike", "--matching", "{}"], [], ["mike", "--yes"], ["--matching", "{}", "--all-leaves"],
    ] {
      #expect(try space.run(Built.cdtquery, ["delete", "people/contacts"] + arguments).status == 64)
    }
    #expect(try space.run("delete", "people/contacts", "--matching", "", "--yes").status == 65)
    #expect(try space.run("count", "people/contacts").output == "1\n")
  }

  // MARK: update

  @Test func `update changes what matches, all or nothing`() throws {
    let space = try workspace()
    let changed = try space.run(
      "update", "people/contacts", "{}", "--set", "pet.name=\"Rex\"", "--append", "tags=1", "--increment",
      "n",
      "--increment", "m=1.5", "--unset", "age", "--yes")
    #expect(changed.output == "2 updated\n")
    let found = try space.run("get", "people/contacts", "zoe").output
    #expect(found.contains(#""pet":{"name":"Rex"},"n":1,"m":1.5,"tags":[1]}"#))
    let refused = try space.run("update", "people/contacts", "{}", "--increment", "pet", "--yes")
    #expect(refused.status == 65)
    #expect(refused.errors.contains("the field is an object, not a number"))
    #expect(try space.run("get", "people/contacts", "zoe").output == found)
    let update = ["update", "people/contacts", "{}", "--yes"]
    for option in [["--set", "a"], ["--set", "a=b"], ["--increment", "n=x"], []] {
      #expect(try space.run(Built.cdtquery, update + option).status == 64)
    }
    for option in [["--set", "_id=1"], ["--set", "a..b=1"], ["--increment", "n=true"]] {
      #expect(try space.run(Built.cdtquery, update + option).status == 65)
    }
  }

  @Test func `update renames a field`() throws {
    let space = try workspace()
    let update = ["update", "people/contacts", "{}", "--yes"]
    let renamed = try space.run(
      Built.cdtquery, update + ["--rename", "age=years.now", "--set", "age=1"])
    #expect(renamed.output == "2 updated\n")
    let found = try space.run("find", "people/contacts", "{}", "--fields", "age,years")
    #expect(found.lines.count == 2)
    for line in found.lines {
      #expect(line.contains(#""age":1"#) && line.contains(#""years":{"now":"#), "\(line)")
    }
    for text in ["a", "a=b=c"] {
      let refused = try space.run(Built.cdtquery, update + ["--rename", text])
      #expect(refused.status == 64)
      #expect(
        refused.errors
          == "cdtquery: --rename \(text): write a field and its new name, as in --rename stat=state\n")
    }
    let overlapping = try space.run(Built.cdtquery, update + ["--rename", "age=age.now"])
    #expect(overlapping.status == 65)
    #expect(overlapping.errors.contains("name another path, or rename in two steps"))
  }

  @Test func `delete of nothing is refused`() throws {
    let result = try workspace().run("delete", "people/contacts", "nobody")
    #expect(result.errors == "cdtquery: there is no document \"nobody\"; check the id, or create it\n")
    #expect(result.status == 66)
  }

  // MARK: export

  @Test func `export and import give the same documents`() throws {
    let space = try Workspace(
      """
      {"_id":"b","n":1e400000}
      """.replacing("1e400000", with: "123456789012345678901234567890") + "\n"
        + #"{"_id":"a","s":"\u0000\"\\\n😀","x":{"y":[null,true,-0.0,1E5]},"":1}"# + "\n")
    let exported = try space.run("export", "people/contacts")
    #expect(exported.lines.map { $0.prefix(10) } == ["{\"_id\":\"a\"", "{\"_id\":\"b\""])
    #expect(try space.run("export", "people/contacts", "out.jsonl").output == "")
    #expect(try space.text("out.jsonl") == exported.output)
    #expect(try space.run("import", "copy", "out.jsonl").errors == "2 imported\n")
    #expect(try space.run("export", "copy", "-").output == exported.output)
  }

  @Test func `an export to a file of another kind has its format, or is refused`() throws {
    let space = try Workspace(
      "{\"_id\":\"a\",\"n\":1,\"t\":\"1\",\"x.y\":2}\n{\"_id\":\"b\",\"o\":{\"s\":\"ü\"}}\n")
    #expect(try space.run("export", "people/contacts", "out.csv").status == 0)
    #expect(
      Examples.matches(
        try space.text("out.csv"), "_id,_rev,n,t,x\\.y,o\na,…,1,\"1\",2,\nb,…,,,,\"{\"\"s\"\":\"\"ü\"\"}\"\n")
    )
    #expect(try space.run("export", "people/contacts", "out.TSV").status == 0)
    #expect(try space.text("out.TSV").hasPrefix("_id\t_rev\tn\tt\tx\\.y\to\na\t"))
    #expect(try space.run("export", "people/contacts", "--format", "csv").output == space.text("out.csv"))
    #expect(try space.run("export", "people/contacts", "out.csv", "--format", "jsonl").status == 0)
    #expect(try space.text("out.csv") == space.run("export", "people/contacts").output)
    for words in [["out.jsonl.gz"], ["out.csv", "--attachments"]] {
      let result = try space.run(Built.cdtquery, ["export", "people/contacts"] + words)
      #expect(result.status == 64, "\(words): \(result.errors)")
    }
    #expect(!space.exists("out.jsonl.gz"))
  }

  @Test func `export of no store leaves an earlier file alone`() throws {
    let space = try workspace()
    try space.write("precious", to: "out.jsonl")
    #expect(try space.run("export", "people/nobody", "out.jsonl").status == 66)
    #expect(try space.text("out.jsonl") == "precious")
  }

  @Test func `an export keeps the permissions of the file that it replaces`() throws {
    let space = try workspace()
    let result = try space.shell(
      "umask 022; touch private; chmod 600 private"
        + "; for file in new private; do '\(Built.cdtquery)' export people/contacts $file; stat -c %a $file; done"
    )
    #expect(result.output == "644\n600\n")
  }

  @Test func `export into a directory that is not there is refused`() throws {
    let result = try workspace().run("export", "people/contacts", "no/where.jsonl")
    #expect(
      result.errors
        == "cdtquery: can't create no/where.jsonl: No such file or directory; check the path and its permissions\n"
    )
    #expect(result.status == 73)
  }

  @Test func `several documents are deleted, and the others although one is not there`() throws {
    let space = try Workspace(Workspace.people)
    let result = try space.run("delete", "people/contacts", "mike", "nobody", "zoe")
    #expect(result.lines.count == 2)
    #expect(result.errors == "cdtquery: there is no document \"nobody\"; check the id, or create it\n")
    #expect(result.status == 66)
    #expect(try space.run("find", "people/contacts", "--ids").output == "ann\n")
    #expect(try space.run("delete", "people/contacts", "a", "b", "--rev", "1-a").status == 64)
    let selector = try space.run("delete", "people/contacts", #"{"age": 7}"#)
    #expect(selector.errors.hasSuffix("; if it is a selector, give it with --matching\n"))
    #expect(try space.run("count", "people/contacts").output == "1\n")
  }

  @Test func `get prints a document over several lines, and without its revision`() throws {
    let space = try Workspace(Workspace.people)
    let result = try space.run("get", "people/contacts", "ann", "--pretty", "--no-rev")
    #expect(result.output == "{\n  \"_id\": \"ann\",\n  \"name\": \"Ann\",\n  \"age\": 7\n}\n")
  }

  @Test func `an export that fails keeps the file of the one before`() throws {
    let space = try Workspace(Workspace.people)
    try space.write("meow", to: "cat.txt")
    #expect(try space.run("attachment", "put", "people/contacts", "zoe", "cat.txt").status == 0)
    #expect(try space.run("export", "people/contacts", "backup.jsonl", "--attachments").status == 0)
    let backup = try space.text("backup.jsonl")
    #expect(backup.split(separator: "\n").count == 3)
    // The link stays one, and its file is replaced.
    try FileManager.default.createSymbolicLink(
      atPath: space.path("link"), withDestinationPath: space.path("backup.jsonl"))
    #expect(try space.run("export", "people/contacts", "link").status == 0)
    #expect(try space.text("backup.jsonl") != backup)
    #expect(try space.run("export", "people/contacts", "link", "--attachments").status == 0)
    #expect(try space.text("backup.jsonl") == backup)
    let contents = space.path("people/contacts/attachments")
    for name in try FileManager.default.contentsOfDirectory(atPath: contents) {
      try FileManager.default.removeItem(atPath: "\(contents)/\(name)")
    }
    // Without the attachment, the rest is written, and the last whole export stays.
    for file in ["backup.jsonl", "link"] {
      let result = try space.run("export", "people/contacts", file, "--attachments")
      #expect(result.status == 1)
      #expect(result.errors.contains(#"document "zoe": the content of attachment "cat.txt" is missing"#))
    }
    #expect(try space.text("backup.jsonl").split(separator: "\n").count == 3)
    #expect(try space.text("backup.jsonl.complete") == backup)
    let left = try FileManager.default.contentsOfDirectory(atPath: space.directory).sorted()
    #expect(left.filter { $0.hasSuffix(".tmp") } == [])
    // What is no file is written to directly.
    #expect(try space.run("export", "people/contacts", "/dev/null").status == 0)
  }
}
