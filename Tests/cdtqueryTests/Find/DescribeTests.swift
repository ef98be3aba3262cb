import CDTJSON
import CDTPlatform
import Testing

/// `describe` and `sample`.
@Suite struct DescribeTests {
  @Test func `a store, a file and a pipe have the same fields`() throws {
    let space = try Workspace(Workspace.people)
    try space.write(Workspace.people, to: "people.jsonl")
    let store = try space.run("describe", "people/contacts")
    #expect(
      store.output
        == """
        3 documents

        field  in     types   distinct  examples
        ─────  ─────  ──────  ────────  ────────────────────
        name   100 %  string  3         "Ann", "Mike", "Zoe"
        age    100 %  number  3         7, 36, 12

        """, "\(store.output)")
    #expect(store.status == 0)
    let data = try JSONObject(
      parsing: try space.run("describe", "people/contacts", "--format", "json").output)
    #expect(data["documents"] == 3)
    #expect(data["fields"]?.arrayValue?.count == 2)
    let file = try space.run("describe", "people.jsonl")
    #expect(file.lines.first == "3 documents" && file.lines.count == store.lines.count)
    #expect(try space.run("describe", "-", input: Workspace.people).output == file.output)
  }

  @Test func `an empty store has no fields, and a missing one is told`() throws {
    let space = try Workspace("")
    #expect(try space.run("describe", "people/contacts").output == "0 documents\n")
    #expect(try space.run("describe", "people/other").status == 66)
  }

  @Test func `the data has the number of each value, while they are few`() throws {
    let documents = (0..<300).map { "{\"state\":\"\($0 % 3 == 0 ? "new" : "paid")\",\"n\":\($0)}\n" }
    let result = try Workspace().run("describe", "-", "--format", "json", input: documents.joined())
    let data = try JSONValue(parsing: result.output)
    #expect(data["fields"]?[0]?["counts"] == [["paid", 200], ["new", 100]])
    #expect(data["fields"]?[1]?["counts"] == nil)
  }

  @Test func `a share is rounded, but never to nothing`() throws {
    let documents = (0..<300).map { $0 == 7 ? "{\"rare\":1,\"a\":2}\n" : $0 < 100 ? "{\"a\":1}\n" : "{}\n" }
    let result = try Workspace().run("describe", "-", input: documents.joined())
    #expect(
      result.output.contains("\nrare   <1 %  ") && result.output.contains("\na      33 %  "),
      "\(result.output)")
  }

  @Test func `a sample is the same for the same seed, and has matches only`() throws {
    let lines = (0..<200).map { "{\"_id\":\"\($0)\",\"n\":\($0 % 2)}\n" }
    let space = try Workspace(lines.joined())
    try space.write(lines.joined(), to: "n.jsonl")
    let sample = ["sample", "people/contacts", "{\"n\":1}", "--limit", "7"]
    let first = try space.run(Built.cdtquery, sample + ["--seed", "1"])
    #expect(first.lines.count == 7)
    #expect(first.lines.allSatisfy { $0.contains("\"n\":1") })
    #expect(try space.run(Built.cdtquery, sample + ["--seed", "1"]).output == first.output)
    #expect(try space.run(Built.cdtquery, sample + ["--seed", "2"]).output != first.output)
    #expect(try space.run("sample", "people/contacts").lines.count == 10)
    #expect(try space.run("sample", "n.jsonl", "--limit", "500").lines.count == 200)
    #expect(try space.run("sample", "n.jsonl", "--limit", "0").status == 64)
    let fields = try space.run("sample", "n.jsonl", "--limit", "1", "--fields", "n").output
    #expect(try JSONObject(parsing: fields).map(\.key) == ["_id", "n"])
    let none = try space.run("sample", "people/contacts", "{\"m\":1}")
    #expect(none.errors == "cdtquery: no document has the field \"m\"; did you mean \"n\"?\n")
    let table = try space.run("sample", "people/contacts", "--limit", "1", "--no-rev", "--format", "csv")
    #expect(table.lines.first == "_id,n")
  }

  @Test(arguments: [
    ("{status: open}", #"{"status": "open"}"#),
    ("{'a': 'it is', b: [1, x, null,],}", #"{"a": "it is", "b": [1, "x", null]}"#),
    ("status=open", #"{"status": "open"}"#), ("age=36", #"{"age": 36}"#),
    ("{pet.age: {$gt: -1.5}}", #"{"pet.age": {"$gt": -1.5}}"#),
    ("{a: true, \"b c\": false}", #"{"a": true, "b c": false}"#), ("{a:\"x\\\"y\"}", #"{"a":"x\"y"}"#),
    ("{é: ü}", #"{"é": "ü"}"#), ("{a: 0551.58, b: 007}", #"{"a": 551.58, "b": 7}"#),
    ("{a: 2026-11-29}", #"{"a": "2026-11-29"}"#),
  ])
  func `a selector that is almost JSON is refused with the JSON`(_ selector: String, _ meant: String) throws {
    let space = try Workspace(Workspace.people)
    for command in [
      ["find", "people/contacts"], ["count", "people/contacts"], ["explain", "people/contacts"],
    ] {
      let result = try space.run(Built.cdtquery, command + [selector])
      #expect(result.errors.hasSuffix("; did you mean '\(meant)'?\n"), "\(result.errors)")
      #expect(result.status == 65)
    }
    let update = try space.run("update", "people/contacts", selector, "--set", "a=1", "--yes")
    #expect(update.errors.hasSuffix("; did you mean '\(meant)'?\n"), "\(update.errors)")
  }

  @Test(arguments: [
    "", "{", "{a: 5.}",
    "{a", "{a:", "{a b}", "{a: 1} x", "{a: 'x}", "hello", "a==", "[1", "{a: \"\\x\"}", "}",
  ])
  func `other text is refused without a suggestion`(_ selector: String) throws {
    let result = try Workspace(Workspace.people).run("find", "people/contacts", selector)
    #expect(!result.errors.contains("did you mean"), "\(result.errors)")
    #expect(result.status == 65)
  }

  @Test func `deep text is refused without a suggestion`() throws {
    let deep = String(repeating: "{a:", count: 1_000)
    #expect(try Workspace(Workspace.people).run("find", "people/contacts", deep).status == 65)
  }

  @Test func `tables can be flat and without revisions`() throws {
    let space = try Workspace(
      """
      {"_id":"a","pet":{"kind":"cat","tags":[1]},"x.y":1}
      {"_id":"b","pet":"none","z":{}}

      """)
    let find = ["find", "people/contacts", "--format", "csv", "--no-rev", "--flatten"]
    #expect(
      try space.run(Built.cdtquery, find).output
        == "_id,pet.kind,pet.tags,x\\.y,pet,z\na,cat,[1],1,,\nb,,,,none,{}\n")
    #expect(
      try space.run(Built.cdtquery, find + ["--fields", "pet,z"]).output
        == "_id,pet.kind,pet.tags,pet,z\na,cat,[1],,\nb,,,none,{}\n")
    let pretty = try space.run(
      "find", "people/contacts", "{\"_id\":\"b\"}", "--no-rev", "--pretty", "--format", "json")
    #expect(
      pretty.output
        == "[\n {\n   \"_id\": \"b\",\n   \"pet\": \"none\",\n   \"z\": {}\n },\n]\n".replacing(
          ",\n]", with: "\n]"))
  }

  @Test func `members are in the order of the fields that were asked for`() throws {
    let space = try Workspace("{\"_id\":\"a\",\"x\":1,\"pet\":{\"b\":2,\"a\":3},\"y\":4}\n")
    func found(_ fields: String) throws -> String {
      try space.run("find", "people/contacts", "--no-rev", "--fields", fields).output
    }
    #expect(try found("y,x") == "{\"_id\":\"a\",\"y\":4,\"x\":1}\n")
    #expect(try found("pet.a,y,pet.b,_id") == "{\"_id\":\"a\",\"pet\":{\"b\":2,\"a\":3},\"y\":4}\n")
    #expect(try found("none") == "{\"_id\":\"a\"}\n")
    let all = try space.run("find", "people/contacts", "{\"selector\":{},\"fields\":[\"y\",\"_rev\",\"x\"]}")
    #expect(Examples.matches(all.output, "{\"_id\":\"a\",\"_rev\":\"1-…\",\"y\":4,\"x\":1}"))
  }

  @Test func `a proposed index is quoted for a shell, and creates what it says`() throws {
    let space = try Workspace()
    try space.shell(
      #"seq 1 1500 | sed 's/.*/{"o":{"d.t":&},"x'"'"'; touch pwned; '"'"'":&}/' | cdtquery import 'b s/s' -"#
    )
    let described = try space.run("describe", "b s/s")
    let commands = described.lines.filter { $0.hasPrefix("cdtquery index create") }
    #expect(commands.count == 2, "\(described.output)")
    for command in commands { try space.shell(command) }
    #expect(try Files.kind(of: space.path("pwned")) == nil)
    #expect(try !space.run("describe", "b s/s").output.contains("cdtquery index create"))
  }

  @Test func `count and sample refuse what they would leave out`() throws {
    let space = try Workspace(Workspace.people)
    #expect(try space.run("count", "people/contacts", #"{"selector":{},"limit":1}"#).status == 64)
    #expect(try space.run("count", "people/contacts", #"{"selector":{}}"#).output == "3\n")
    #expect(try space.run("sample", "people/contacts", #"{"selector":{},"fields":["age"]}"#).status == 64)
    #expect(try space.run("sample", "people/contacts", #"{"selector":{}}"#).lines.count == 3)
  }

  @Test(arguments: [
    "a!=3", "=1", "{a: .5}", "{a: NaN}", "{a: undefined}", "{a:/x/i}", "{“a”: 1}", "{a: None}",
  ])
  func `ambiguous arguments get no suggestion`(_ text: String) throws {
    let result = try Workspace(Workspace.people).run("find", "people/contacts", text)
    #expect(result.status == 65)
    #expect(!result.errors.contains("did you mean"), "\(result.errors)")
  }
}
