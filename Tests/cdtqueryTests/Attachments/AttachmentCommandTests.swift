import CDTJSON
import Testing

@Suite struct AttachmentCommandTests {
  private func list(_ space: Workspace, _ options: String...) throws -> [JSONObject] {
    let result = try space.run(
      Built.cdtquery, ["attachment", "list", "people/contacts", "mike"] + options)
    return try result.lines.map { try JSONObject(parsing: $0) }
  }

  @Test func `put attaches a file, get gives it back, byte for byte`() throws {
    let space = try Workspace(Workspace.people)
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    try space.write(bytes, to: "cat.jpg")
    let put = try space.run(
      "attachment", "put", "people/contacts", "mike", "./cat.jpg", "--type", "image/jpeg")
    #expect(put.output.hasPrefix("{\"_id\":\"mike\",\"_rev\":\"2-"))
    #expect(put.output.hasSuffix(",\"name\":\"Mike\",\"age\":36}\n"))
    let found = try list(space)
    #expect(found.count == 1)
    #expect(found.first?["name"] == "cat.jpg")
    #expect(found.first?["type"] == "image/jpeg")
    #expect(found.first?["length"] == 300_000)
    #expect(found.first?["revpos"] == 2)
    let digest = try space.shell("sha1sum < cat.jpg").output.prefix(40)
    #expect(found.first?["digest"] == .string(String(digest)))

    #expect(try space.run("attachment", "get", "people/contacts", "mike", "cat.jpg", "copy.jpg").status == 0)
    #expect(try space.shell("cmp cat.jpg copy.jpg").status == 0)
    let piped = try space.shell("cdtquery attachment get people/contacts mike cat.jpg - | cmp - cat.jpg")
    #expect(piped.status == 0)
    // What is no ordinary file is written to, not replaced.
    let device = try space.run("attachment", "get", "people/contacts", "mike", "cat.jpg", "/dev/null")
    #expect(device.status == 0)
    #expect(try space.shell("test -c /dev/null").status == 0)
  }

  @Test(arguments: ["a/b", "..", ".", "-x", " ", "名前", "x\ny", "\"", String(repeating: "n", count: 1_000)])
  func `any name is legal and becomes no path`(_ name: String) throws {
    let space = try Workspace(Workspace.people)
    let put = try space.run(
      "attachment", "put", "--", "people/contacts", "mike", name, "-", input: "meow")
    #expect(put.status == 0, "\(put.errors)")
    #expect(try list(space).map { $0["name"] } == [.string(name)])
    #expect(try space.run("attachment", "get", "--", "people/contacts", "mike", name).output == "meow")
    #expect(try space.run("attachment", "delete", "--", "people/contacts", "mike", name).status == 0)
    #expect(try list(space).isEmpty)
  }

  @Test func `put replaces what is there under the name, and leaves alone what is the same`() throws {
    let space = try Workspace(Workspace.people)
    for text in ["one", "two"] {
      try space.run("attachment", "put", "people/contacts", "mike", "a", "-", input: text)
    }
    try space.run("attachment", "put", "people/contacts", "mike", "b", "-", input: "b")
    #expect(try space.run("attachment", "get", "people/contacts", "mike", "a").output == "two")
    #expect(try list(space).map { $0["revpos"] } == [3, 4])
  }

  @Test func `delete removes one, and the document keeps the others`() throws {
    let space = try Workspace(Workspace.people)
    for name in ["a", "b"] {
      try space.run("attachment", "put", "people/contacts", "mike", name, "-", input: name)
    }
    let result = try space.run("attachment", "delete", "people/contacts", "mike", "a")
    #expect(result.output.hasPrefix("{\"_id\":\"mike\",\"_rev\":\"4-"))
    #expect(try list(space).map { $0["name"] } == ["b"])
  }

  @Test func `an older revision can be read, and is not changed`() throws {
    let space = try Workspace(Workspace.people)
    let put = try space.run("attachment", "put", "people/contacts", "mike", "a", "-", input: "one")
    let revision = try #require(try JSONObject(parsing: put.output)["_rev"]?.stringValue)
    try space.run("attachment", "put", "people/contacts", "mike", "a", "-", input: "two!")
    #expect(try list(space, "--rev", revision).map { $0["length"] } == [3])
    let get = try space.run("attachment", "get", "people/contacts", "mike", "a", "--rev", revision)
    #expect(get.output == "one")
    let stale = try space.run(
      "attachment", "put", "people/contacts", "mike", "a", "-", "--rev", revision, input: "three")
    #expect(stale.errors.contains("is not a leaf"))
    #expect(stale.status == 65)
  }

  static let refused = [
    Refusal(
      testDescription: "a name that is not there", arguments: ["get", "people/contacts", "mike", "x"],
      status: 66, error: "document \"mike\" has no attachment \"x\"; it has \"a\""),
    Refusal(
      testDescription: "a name that is not there, to delete",
      arguments: ["delete", "people/contacts", "mike", "x"], status: 66,
      error: "document \"mike\" has no attachment \"x\"; it has \"a\""),
    Refusal(
      testDescription: "a document that is not there", arguments: ["list", "people/contacts", "x"],
      status: 66, error: "there is no document \"x\"; check the id, or create it"),
    Refusal(
      testDescription: "a file that is not there", arguments: ["put", "people/contacts", "mike", "x"],
      status: 74, error: "can't read x: No such file or directory"),
    Refusal(
      testDescription: "standard input without a name", arguments: ["put", "people/contacts", "mike", "-"],
      status: 64, error: "standard input has no name; give the attachment's name before -"),
    Refusal(
      testDescription: "an empty name", arguments: ["put", "people/contacts", "mike", "", "-"], status: 65,
      error: "an attachment has an empty name; name it"),
    Refusal(
      testDescription: "a directory to write to",
      arguments: ["get", "people/contacts", "mike", "a", "people"], status: 73, error: "can't create people: "
    ),
    Refusal(
      testDescription: "a directory that is not there",
      arguments: ["get", "people/contacts", "mike", "a", "no/such"], status: 73, error: "can't create no/"),
  ]

  @Test(arguments: refused) func `it is refused, and nothing changes`(_ c: Refusal) throws {
    let space = try Workspace(Workspace.people)
    try space.run("attachment", "put", "people/contacts", "mike", "a", "-", input: "a")
    let result = try space.run(Built.cdtquery, ["attachment"] + c.arguments)
    #expect(result.errors.hasPrefix("cdtquery: \(c.error)"), "\(result.errors)")
    #expect(result.status == c.status)
    #expect(result.output == "")
    #expect(try list(space).map { $0["revpos"] } == [2])
  }

  @Test func `standard input may be a pipe, and a file has to be a regular one`() throws {
    let space = try Workspace(Workspace.people)
    let put = "cdtquery attachment put people/contacts mike"
    #expect(try space.shell("printf meow | \(put) a -").status == 0)
    #expect(try space.run("attachment", "get", "people/contacts", "mike", "a").output == "meow")
    let refused = try space.shell("mkfifo fifo; \(put) b fifo")
    #expect(refused.status == 65)
    #expect(
      refused.errors.hasPrefix("cdtquery: the file \"fifo\" of attachment \"b\" is not a regular file; "))
    #expect(try list(space).map { $0["name"] } == ["a"])
  }

  @Test func `a damaged file is told, and no byte of it is given`() throws {
    let space = try Workspace(Workspace.people)
    try space.run("attachment", "put", "people/contacts", "mike", "a", "-", input: "meow")
    try space.shell("echo wow! > people/contacts/attachments/*")
    let result = try space.run("attachment", "get", "people/contacts", "mike", "a")
    #expect(result.output == "")
    #expect(result.status == 74)
    try space.write("old", to: "copy")
    #expect(try space.run("attachment", "get", "people/contacts", "mike", "a", "copy").status == 74)
    #expect(try space.text("copy") == "old")
  }

  // MARK: export and import

  @Test func `export with attachments, imported, is the same`() throws {
    let space = try Workspace(Workspace.people)
    try space.run(
      "attachment", "put", "people/contacts", "mike", "a", "-", "--type", "text/plain", input: "meow")
    try space.run("attachment", "put", "people/contacts", "mike", "empty", "-", input: "")
    let exported = try space.run("export", "people/contacts", "--attachments")
    let mike = try JSONObject(parsing: exported.lines[1])
    let inline: JSONObject = [
      "content_type": "text/plain", "revpos": 2, "digest": "sha1-fVwqLWE2+/FmIR1Rg79mIUokfzE=",
      "data": "bWVvdw==",
    ]
    #expect(mike["_attachments"]?["a"] == .object(inline))
    #expect(mike["_attachments"]?["empty"]?["data"] == "")
    #expect(!exported.lines[0].contains("_attachments"))
    #expect(try space.run("export", "people/contacts").output.contains("_attachments") == false)

    #expect(try space.run("import", "people/copy", input: exported.output).errors == "3 imported\n")
    #expect(try space.run("attachment", "get", "people/copy", "mike", "a").output == "meow")
    let again = try space.run("export", "people/copy", "--attachments").lines.map {
      try JSONObject(parsing: $0)
    }
    #expect(again[1]["_attachments"]?["a"]?["content_type"] == "text/plain")
    #expect(again[1]["_attachments"]?["empty"]?["data"] == "")
    #expect(try space.run("check", "people/copy", "--quiet").status == 0)
  }

  @Test func `numbers and texts are exported the same with attachments and without`() throws {
    let document =
      #"{"_id":"a","x":[1,1.0,1e2,-0.0,12345678901234567890123,0.1],"y":"é\u0000\n\"/\\"}"#
    let space = try Workspace()
    try space.run("import", "s", input: document)
    try space.run("attachment", "put", "s", "a", "x", "-", input: "x")
    let plain = try space.run("export", "s").output
    #expect(plain.hasSuffix("}\n"))
    let whole = try space.run("export", "s", "--attachments").output
    #expect(whole.hasPrefix(plain.dropLast(2) + ",\"_attachments\":{"))
  }

  @Test func `a document that is replaced gets the attachments that come, or keeps its own`() throws {
    let space = try Workspace(Workspace.people)
    try space.run("attachment", "put", "people/contacts", "mike", "a", "-", input: "meow")
    let replace = ["import", "people/contacts", "--on-conflict", "replace"]
    func replacing(_ document: String) throws -> [JSONValue?] {
      _ = try space.run(Built.cdtquery, replace, input: Array(document.utf8))
      return try list(space).map { $0["name"] }
    }
    #expect(try replacing(#"{"_id":"mike","age":37}"#) == ["a"])
    #expect(try replacing(#"{"_id":"mike","_attachments":{"b":{"data":"Yg=="}}}"#) == ["b"])
    #expect(try replacing(#"{"_id":"mike","_attachments":{}}"#) == [])
  }

  static let malformed = [
    (#"[]"#, "_attachments must be an object that maps names to attachments; correct it, or leave it out"),
    (#"{"a":1}"#, #"the attachment "a" must be an object; give it data"#),
    (
      #"{"a":{"stub":true}}"#,
      #"the attachment "a" comes without its data; export documents with it, as attachments=true does"#
    ),
    (#"{"a":{"data":1}}"#, #"the attachment "a" has data that is not base64; export the document again"#),
    (#"{"a":{"data":"?"}}"#, #"the attachment "a" has data that is not base64; export the document again"#),
    (
      #"{"a":{"data":"YQ==","content_type":1}}"#,
      #"the attachment "a" has a content_type that is not a string; use a string"#
    ),
    (
      #"{"a":{"data":"YQ==","encoding":"gzip"}}"#,
      #"the attachment "a" has compressed data; export it without att_encoding_info"#
    ),
    (
      #"{"a":{"data":"YQ==","digest":"sha1-fVwqLWE2+/FmIR1Rg79mIUokfzE="}}"#,
      #"the attachment "a" has data that does not match its digest; export the document again"#
    ),
    (#"{"":{"data":"YQ=="}}"#, "an attachment"),
  ]

  @Test(arguments: malformed)
  func `malformed attachments are refused with their place`(_ c: (json: String, error: String)) throws {
    let space = try Workspace()
    let input = "{\"_id\":\"a\"}\n{\"_id\":\"b\",\"_attachments\":\(c.json)}\n"
    let result = try space.run("import", "s", "-", "--keep-going", input: input)
    #expect(result.errors.hasPrefix("cdtquery: standard input:2: \(c.error)"), "\(result.errors)")
    #expect(result.errors.hasSuffix("\n1 imported, 1 failed\n"))
    #expect(result.status == 65)
  }
}
