import Testing

@Suite struct ImportTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let input: String
    var options: [String] = []
    /// The ids, as `find --ids` gives them.
    let ids: [String]
  }

  static let cases = [
    Case(testDescription: "JSON Lines", input: "{\"_id\":\"a\"}\n{\"_id\":\"b\"}\n", ids: ["a", "b"]),
    Case(testDescription: "no last line feed", input: "{\"_id\":\"a\"}\n{\"_id\":\"b\"}", ids: ["a", "b"]),
    Case(testDescription: "blank lines and CRLF", input: "\r\n{\"_id\":\"a\"}\r\n \r\n", ids: ["a"]),
    Case(testDescription: "an array", input: "[{\"_id\":\"a\"},\n {\"_id\":\"b\"}]\n", ids: ["a", "b"]),
    Case(testDescription: "an empty array", input: " [ ] ", ids: []),
    Case(
      testDescription: "objects on several lines",
      input: "{\n  \"_id\": \"a\",\n  \"b\": [\n    1\n  ]\n}\n{\n\"_id\": \"b\"}\n",
      ids: ["a", "b"]),
    Case(
      testDescription: "objects without line ends", input: #"{"_id":"a"}{"_id":"b"} {"_id":"c"}"#,
      ids: ["a", "b", "c"]),
    Case(
      testDescription: "arrays on lines", input: "[{\"_id\":\"a\"},{\"_id\":\"b\"}]\n[{\"_id\":\"c\"}]\n[]\n",
      ids: ["a", "b", "c"]),
    Case(
      testDescription: "a document that begins with docs",
      input: #"{"docs":[{"page":1}],"title":"Manual","_id":"x"}"#, ids: ["x"]),
    Case(testDescription: "nothing", input: "", ids: []),
    Case(testDescription: "white space", input: " \n\n", ids: []),
    Case(testDescription: "a byte order mark", input: "\u{FEFF}{\"_id\":\"a\"}\n", ids: ["a"]),
    Case(
      testDescription: "a byte order mark before an array", input: "\u{FEFF}[{\"_id\":\"a\"}]", ids: ["a"]),
    Case(testDescription: "a byte order mark alone", input: "\u{FEFF}", ids: []),
    Case(
      testDescription: "an array at a path", input: #"{"x":"]","a":{"y":[1,{"z":"\""}],"b":[{"_id":"m"}]}}"#,
      options: ["--at", "a.b"], ids: ["m"]),
    Case(
      testDescription: "a path with a dot in a name", input: #"{"a.b":[{"_id":"m"}],"c":[{"_id":"n"}]}"#,
      options: ["--at", #"a\.b"#], ids: ["m"]),
    Case(
      testDescription: "a path spelled with an escape", input: #"{"\u0061":[{"_id":"m"}]}"#,
      options: ["--at", "a"], ids: ["m"]),
    Case(
      testDescription: "a path behind an array",
      input: #"{"rows":[{"doc":{"_id":"m"}},{"doc":{"_id":"n"},"x":1}]}"#,
      options: ["--at", "rows.doc"], ids: ["m", "n"]),
    Case(
      testDescription: "ids from a path",
      input: #"{"p":{"code":"a"}}"# + "\n" + #"{"p":{"code":12345678901234567890}}"#,
      options: ["--id", "p.code"], ids: ["12345678901234567890", "a"]),
    Case(
      testDescription: "ids from a field with a dot", input: #"{"p.code":"a"}"#,
      options: ["--id", #"p\.code"#], ids: ["a"]),
    Case(
      testDescription: "ids from a field", input: #"{"code":"a"}"# + "\n" + #"{"code":7}"#,
      options: ["--id", "code"], ids: ["7", "a"]),
    Case(
      testDescription: "ids that differ in Unicode's normal form only",
      input: "{\"_id\":\"\u{E9}\"}\n{\"_id\":\"e\u{301}\"}\n", ids: ["e\u{301}", "\u{E9}"]),
  ]

  @Test(arguments: cases) func reads(_ c: Case) throws {
    let space = try Workspace()
    try space.write(c.input, to: "input")
    let result = try space.run(
      Built.cdtquery, ["import", "people/contacts", "input"] + c.options)
    #expect(result.errors == "\(c.ids.count) imported\n")
    #expect(result.status == 0)
    #expect(result.output == "")
    let found = try space.run("find", "people/contacts", "{}", "--ids", "--sort", "_id")
    #expect(Array(found.output.utf8) == Array(c.ids.map { $0 + "\n" }.joined().utf8))
  }

  @Test func `ids are made and differ`() throws {
    let space = try Workspace("{\"a\":1}\n{\"a\":1}\n")
    let ids = try space.run("find", "people/contacts", "{}", "--ids").lines
    #expect(Set(ids).count == 2)
    #expect(ids.allSatisfy { !$0.isEmpty && !$0.hasPrefix("_") })
  }

  @Test func `_rev is ignored`() throws {
    let space = try Workspace("{\"_id\":\"mike\",\"_rev\":\"7-abc\",\"age\":36}\n")
    #expect(
      try space.run("get", "people/contacts", "mike").output
        == "{\"_id\":\"mike\",\"_rev\":\"1-dc7c404fb82b5e0160f925a3aaa9534b\",\"age\":36}\n")
  }

  @Test func `standard input is the default, and - among files`() throws {
    let space = try Workspace()
    try space.write("{\"_id\":\"a\"}\n", to: "a")
    try space.write("[{\"_id\":\"c\"}]", to: "c")
    #expect(try space.run("import", "s", input: "{\"_id\":\"x\"}\n").errors == "1 imported\n")
    #expect(try space.run("import", "s", "a", "-", "c", input: "{\"_id\":\"b\"}").errors == "3 imported\n")
    #expect(try space.run("find", "s", "{}", "--ids", "--sort", "_id").lines == ["a", "b", "c", "x"])
  }

  @Test func `the parent directory of the store is created, and no more than that`() throws {
    let space = try Workspace()
    #expect(try space.run("import", "new/contacts", input: "{}").status == 0)
    let result = try space.run("import", "no/where/contacts", input: "{}")
    #expect(result.status == 73)
    #expect(
      result.errors
        == "cdtquery: can't create no/where: No such file or directory; check the path and its permissions\n")
  }

  // MARK: Conflicts

  @Test(arguments: [
    (
      "fail", 65, 36,
      "cdtquery: standard input:2: document \"mike\" already exists; skip or replace such documents (--on-conflict)\n"
    ),
    ("skip", 0, 36, "1 imported, 1 skipped\n"),
    ("replace", 0, 37, "1 imported, 1 replaced\n"),
  ])
  func `conflicts go by the rule`(_ c: (rule: String, status: Int32, age: Int, errors: String)) throws {
    let space = try Workspace(Workspace.people)
    let result = try space.run(
      "import", "people/contacts", "--on-conflict", c.rule,
      input: "{\"_id\":\"new\"}\n{\"_id\":\"mike\",\"age\":37}\n")
    #expect(result.errors == c.errors)
    #expect(result.status == c.status)
    #expect(try space.run("count", "people/contacts").output == (c.status == 0 ? "4\n" : "3\n"))
    #expect(try space.run("get", "people/contacts", "mike").output.contains("\"age\":\(c.age)"))
  }

  @Test func `a replaced document has a second revision`() throws {
    let space = try Workspace(Workspace.people)
    try space.run("import", "people/contacts", "--on-conflict", "replace", input: "{\"_id\":\"mike\"}")
    #expect(try space.run("get", "people/contacts", "mike").output.contains("\"_rev\":\"2-"))
  }

  @Test func `a document that was deleted is imported again`() throws {
    let space = try Workspace(Workspace.people)
    #expect(try space.run("delete", "people/contacts", "mike").status == 0)
    #expect(
      try space.run("import", "people/contacts", input: "{\"_id\":\"mike\"}").errors == "1 imported\n")
  }

  // MARK: Revisions

  @Test(arguments: ["", "--force"])
  func `a line with a revision replaces that one only`(_ force: String) throws {
    let space = try Workspace(Workspace.people)
    let before = try space.run("export", "people/contacts").output
    #expect(try space.run("delete", "people/contacts", "ann").status == 0)
    let mike = try #require(before.split(separator: "\n").first { $0.contains("mike") })
    try space.run(
      "import", "people/contacts", "--on-conflict", "replace", input: "{\"_id\":\"mike\",\"age\":1}\n")
    try space.write(before + "{\"_id\":\"new\",\"_rev\":\"5-a\"}\n", to: "edited.jsonl")
    let options = ["--on-conflict", "replace"] + (force.isEmpty ? [] : [force])
    let result = try space.run(Built.cdtquery, ["import", "people/contacts", "edited.jsonl"] + options)
    let found = try space.run("get", "people/contacts", "mike").output
    if force.isEmpty {
      #expect(
        Examples.matches(
          result.errors,
          """
          cdtquery: edited.jsonl:1: document "ann" was deleted (2-…), but this line replaces 1-…; edit the current revision, or overwrite it with --force
          cdtquery: edited.jsonl:2: document "mike" has changed to 2-…, but this line replaces 1-…
          1 imported, 1 replaced, 2 stale
          """))
      #expect(result.status == 65)
      #expect(found.contains("\"age\":1}"))
      #expect(try space.run("count", "people/contacts").output == "3\n")
    } else {
      #expect(result.errors == "2 imported, 2 replaced\n")
      #expect(result.status == 0)
      #expect(found.contains("\"age\":36}") && !found.contains(mike.prefix(40)))
    }
  }

  @Test func `a malformed revision is refused where it counts`() throws {
    let space = try Workspace(Workspace.people)
    let line = "{\"_id\":\"mike\",\"_rev\":\"x\"}\n"
    #expect(try space.run("import", "people/contacts", "--on-conflict", "replace", input: line).status == 65)
    #expect(try space.run("import", "people/contacts", "--on-conflict", "skip", input: line).status == 0)
  }

  // MARK: The store

  @Test func `an import that fails removes the store that it made, and no other`() throws {
    let space = try Workspace()
    for input in ["nonsense", "{\"_id\":\"a\"}\n{\"_id\":\"a\"}\n", "{\"_id\":\"_a\"}\n"] {
      for options in [[], ["--keep-going", "--id", "x"]] where options.isEmpty || input == "nonsense" {
        let result = try space.run(Built.cdtquery, ["import", "new/s"] + options, input: Array(input.utf8))
        #expect(result.status == 65)
        #expect(!space.exists("new"), "\(input)")
      }
    }
    #expect(try space.run("put", "new/s", "{\"_x\":1}").status == 65)
    #expect(!space.exists("new"))
    try space.run("import", "new/s", input: "")
    #expect(try space.run("import", "new/s", input: "nonsense").status == 65)
    #expect(try space.run("import", "new/t", input: "nonsense").status == 65)
    #expect(try space.run("list", "new").output == "s\n")
    #expect(try space.run("import", "new/t", "--batch", "1", input: "{}\nnonsense").status == 65)
    #expect(try space.run("count", "new/t").output == "1\n")
  }

  // MARK: What can't be taken

  @Test func `a bad line names its place, and its batch is not written`() throws {
    let space = try Workspace()
    let good = (1...5).map { "{\"_id\":\"\($0)\"}\n" }.joined()
    try space.write(good + "{\"_id\":\"ü\",,}\n" + good, to: "people.jsonl")
    let result = try space.run("import", "s", "people.jsonl", "--batch", "2")
    #expect(result.status == 65)
    #expect(
      result.errors
        == "cdtquery: people.jsonl:6:12: expected a member name in double quotes; remove a comma after the last member\n"
    )
    #expect(try space.run("find", "s", "{}", "--ids", "--sort", "_id").lines == ["1", "2", "3", "4"])
  }

  @Test func `--keep-going reports and goes on`() throws {
    let space = try Workspace()
    let result = try space.run(
      "import", "s", "--keep-going",
      input: """
        {"_id":"a"}
        nonsense
        {"_id":true}
        {"_id":"a"}
        {"_id":"_b"}
        {"_id":"c","_x":1}
        {"_id":"d"} {"_id":"e"},
        [1]
        {"_id":"z"}
        """)
    #expect(result.status == 65)
    #expect(
      result.errors.split(separator: "\n").map { $0.prefix { $0 != ";" } } == [
        "cdtquery: standard input:2:1: expected an object, in braces",
        "cdtquery: standard input:3: _id must be a string",
        "cdtquery: standard input:6: the key \"_x\" begins with an underscore, which is reserved",
        "cdtquery: standard input:7:24: expected an object, in braces",
        "cdtquery: standard input:8:2: a document must be an object in braces",
        "cdtquery: standard input:4: document \"a\" already exists",
        "cdtquery: standard input:5: the id \"_b\" begins with an underscore, which is reserved for _design/…",
        "4 imported, 7 failed",
      ])
    #expect(try space.run("find", "s", "{}", "--ids", "--sort", "_id").lines == ["a", "d", "e", "z"])
  }

  @Test func `--keep-going passes over elements of an array`() throws {
    let space = try Workspace()
    let result = try space.run(
      "import", "s", "--keep-going", input: #"[{"_id":"a"},1,"x]",{"_id":"b",},[[{}]],{"_id":"c"}]"#)
    #expect(result.status == 65)
    #expect(result.errors.hasSuffix("\n2 imported, 4 failed\n"))
    #expect(try space.run("find", "s", "{}", "--ids", "--sort", "_id").lines == ["a", "c"])
  }

  @Test func `--keep-going ends with a file whose text is broken, and begins with the next`() throws {
    let space = try Workspace()
    try space.write(#"[{"_id":"a"}, {"_id":"b"#, to: "broken")
    try space.write(#"{"_id":"c"}"#, to: "whole")
    let result = try space.run("import", "s", "--keep-going", "broken", "whole")
    #expect(result.status == 65)
    #expect(
      result.errors == """
        cdtquery: broken:1:15: the text ends inside the document that begins here; check that it is complete
        2 imported, 1 failed

        """)
    #expect(try space.run("find", "s", "{}", "--ids", "--sort", "_id").lines == ["a", "c"])
  }

  static let refused: [(input: String, options: [String], error: String)] = [
    (
      "{\"_id\":\"a\",\n{\"_id\":\"b\"}\n", [],
      "2:1: expected a member name in double quotes; remove a comma after the last member"
    ),
    ("{\"_id\":\"a\"", [], "1:11: the text ends inside a value; check that it is complete"),
    (
      #"{"a":[{"_id":"a"}]} {"_id":"b"}"#, ["--at", "a"],
      "1:21: the documents end here, but the text continues; import the rest on its own"
    ),
    (
      #"{"docs":[{"page":1}],"title":"Manual"}"#, [],
      #"1:1: the object has a member "title" beside "docs"; give --format json to import it as one document, or --format couchdb to import the documents in "docs" alone"#
    ),
    (
      #"{"CH":{"name":"Switzerland"},"DE":{"name":"Germany"}}"#, [],
      "1:1: the text is one object whose 2 members are objects of one kind; give --at . to import each of them with its name as the id, or --format json to import the object as one document"
    ),
    ("a,b\n1,2\n", [], "1:1: expected an object, in braces; for comma-separated values give --format csv"),
    ("PK\u{3}\u{4}", [], "1: the file is compressed by zip; unpack it first, as with unzip -p"),
    (
      #"{"_id":7}"#, ["--format", "json"],
      "1: _id must be a string; quote it, or leave it out and name another field with --id"
    ),
    (#"[{"_id":"a"}"#, [], "1:13: the text ends inside the array; check that it is complete"),
    (#"[{"_id":"a"} {"_id":"b"}]"#, [], "1:14: expected a comma or \"]\""),
    (#"[{"_id":"a"},]"#, [], "1:14: a document must be an object in braces; remove anything else"),
    (
      "[{\"_id\":\"a\"},\n  {\"b\":01}]", [],
      "2:9: invalid number; write numbers as 0, -1.5 or 2e10, with no leading zero and digits on both sides of the point"
    ),
    (#"{"a":[]}"#, ["--at", "b"], "1:8: there is no member \"b\"; check the path given to --at"),
    (#"{"a":1}"#, ["--at", "a"], "1:6: expected an array or an object of documents"),
    ("1", ["--at", "a"], "1:1: expected an object with a member \"a\""),
    (
      #"{"rows":[{"doc":{"_id":"m"}},{"x":1}]}"#, ["--at", "rows.doc"],
      #"1:30: the element has no object at "doc"; check the path given to --at"#
    ),
    (#"{"a":{"b"#, ["--at", "a.b"], "1:7: there is no member \"b\"; check the path given to --at"),
    (
      #"{"x":1}"#, ["--id", "code"],
      "1: the document has no field \"code\" to use as the id; choose another field"
    ),
    (
      #"{"code":[1]}"#, ["--id", "code"],
      "1: the field \"code\" must be a string or a whole number to serve as the id; choose another field"
    ),
    (#"{"a":1,"a":2}"#, [], "1:8: the object has two members named \"a\"; name each once"),
  ]

  @Test(arguments: refused)
  func refuses(_ c: (input: String, options: [String], error: String)) throws {
    let space = try Workspace()
    try space.write(c.input, to: "f")
    let result = try space.run(Built.cdtquery, ["import", "s", "f"] + c.options)
    #expect(result.errors == "cdtquery: f:\(c.error)\n")
    #expect(result.status == 65)
    #expect(!space.exists("s"))
  }

  @Test func `bytes that are not UTF-8 are refused, in JSON and CSV`() throws {
    let space = try Workspace()
    try space.write(Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8), to: "f")
    #expect(
      try space.run("import", "s", "f").errors
        == "cdtquery: f:1:7: invalid UTF-8; convert the text to UTF-8\n")
    try space.write(Array("a\n".utf8) + [0xC3, 0x0A], to: "g")
    #expect(
      try space.run("import", "s", "g", "--format", "csv").errors
        == "cdtquery: g:2: the record is not UTF-8; convert the text to UTF-8\n")
    #expect(!space.exists("s"))
  }

  @Test func `a file that is not there is noticed before anything is done`() throws {
    let space = try Workspace()
    try space.write("{}", to: "a")
    let result = try space.run("import", "people/contacts", "a", "nowhere.jsonl")
    #expect(result.status == 74)
    #expect(
      result.errors == "cdtquery: can't read nowhere.jsonl: No such file or directory; check the path\n")
    #expect(!space.exists("people"))
    #expect(try space.run("import", "s", ".").status == 74)
  }

  @Test func `a line of many megabytes is read`() throws {
    let space = try Workspace()
    let text = String(repeating: "long ", count: 1_000_000)
    try space.write("{\"_id\":\"a\",\"text\":\"\(text)\"}\n{\"_id\":\"b\"}\n", to: "f")
    #expect(try space.run("import", "s", "f").errors == "2 imported\n")
    #expect(try space.run("get", "s", "a").output.utf8.count > 5_000_000)
  }

  @Test func `nesting without bound is refused`() throws {
    let space = try Workspace()
    let deep = "{\"a\":" + String(repeating: "[", count: 1_000_000)
    for text in [deep, "[" + deep, "{\"docs\":[" + deep, "{\"rows\":[" + deep] {
      try space.write(text, to: "f")
      #expect(try space.run("import", "s", "f").status == 65)
    }
    try space.write(deep, to: "f")
    #expect(try space.run("import", "s", "f", "--at", "b").status == 65)
  }

  @Test(arguments: [
    ["--batch", "0"], ["--batch", "x"], ["--at", "a..b"], ["--at", "a", "--format", "csv"], ["--id", "a..b"],
    ["--force"], ["--force", "--on-conflict", "skip"], ["--delimiter", "ab"], ["--delimiter", "é"],
    ["--flat", "--format", "json"], ["--text-columns", "a", "--at", "b"],
  ])
  func `options that mean nothing are refused`(_ options: [String]) throws {
    let space = try Workspace()
    let result = try space.run(Built.cdtquery, ["import", "s"] + options)
    #expect(result.status == 64)
    #expect(result.errors.hasPrefix("cdtquery: "))
    #expect(!space.exists("s"))
  }
}
