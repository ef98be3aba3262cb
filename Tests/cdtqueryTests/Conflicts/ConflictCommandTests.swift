import Testing

@Suite struct ConflictCommandTests {
  private static let winner = "{\"_id\":\"milk\",\"_rev\":\"2-bbb\",\"litres\":2}"
  private static let loser = "{\"_id\":\"milk\",\"_rev\":\"2-aaa\",\"litres\":1,\"organic\":true}"

  private func workspace() throws -> Workspace {
    let space = try Workspace()
    try space.makeConflict()
    try space.run("put", "team/tasks", "eggs", "{}")
    return space
  }

  @Test func `conflicts names the conflicted documents and their revisions`() throws {
    let space = try workspace()
    let all = try space.run("conflicts", "team/tasks")
    #expect(all.output == "{\"_id\":\"milk\",\"_rev\":\"2-bbb\",\"_conflicts\":[\"2-aaa\"]}\n")
    #expect(all.status == 0)
    #expect(try space.run("conflicts", "team/tasks", "milk").lines == [Self.winner, Self.loser])
    #expect(try space.run("conflicts", "team/tasks", "eggs").output == "")
    let unknown = try space.run("conflicts", "team/tasks", "nobody")
    #expect(unknown.errors == "cdtquery: there is no document \"nobody\"; check the id, or create it\n")
    #expect(unknown.status == 66)
  }

  @Test func `keys that several documents have are listed, and no other document gets them`() throws {
    let space = try Workspace()
    try space.run(
      "import", "people/members", "-", input: #"{"_id":"a","n":1}"# + "\n" + #"{"_id":"b","n":[1,2]}"# + "\n")
    let made = try space.run("index", "create", "people/members", "n", "--unique")
    #expect(made.output == "unique_n\n")
    #expect(
      made.errors
        == "cdtquery: 1 key is shared by several documents; \"cdtquery conflicts --unique\" lists them\n")
    let listed = #"{"index":"unique_n","key":[1],"documents":["a","b"]}"# + "\n"
    #expect(try space.run("conflicts", "people/members", "--unique").output == listed)
    let message =
      #"the documents "c", "a" have the same key [1] in the unique index "unique_n"; change one of them"#
    let results = try [
      space.run("put", "people/members", "c", #"{"n":1}"#),
      space.run("import", "people/members", "-", input: #"{"_id":"c","n":1}"# + "\n"),
    ]
    for refused in results {
      #expect(refused.errors.contains(message) && refused.status == 65)
    }
    let kept = try space.run(
      "import", "people/members", "-", "--keep-going",
      input: #"{"_id":"c","n":1}"# + "\n" + #"{"_id":"d","n":4}"# + "\n")
    #expect(kept.errors.contains(message) && kept.errors.contains("1 imported"))
    let checked = try space.run("check", "people/members")
    #expect(checked.status == 0 && checked.lines.count == 1)
    #expect(checked.output.hasPrefix(#"{"kind":"unique","id":"a","finding":"the documents"#))
    #expect(try space.run("conflicts", "people/members", "a", "--unique").status == 64)
  }

  @Test(arguments: [("2-aaa", loser), ("2-bbb", winner)])
  func `pick lets one revision stay as it is`(_ c: (revision: String, document: String)) throws {
    let space = try workspace()
    let result = try space.run("resolve", "team/tasks", "milk", "--pick", c.revision)
    #expect(result.output == c.document + "\n")
    #expect(result.status == 0)
    #expect(try space.run("conflicts", "team/tasks").output == "")
    #expect(try space.run("get", "team/tasks", "milk").output == c.document + "\n")
    #expect(try space.run("check", "team/tasks", "--quiet").status == 0)
  }

  @Test func `merge fields merges what it can, and lists the fields that stay in conflict`() throws {
    let space = try workspace()
    let left = try space.run("resolve", "team/tasks", "--merge", "fields")
    #expect(left.status == 1)
    #expect(
      left.output
        == #"{"_id":"milk","fields":[{"path":"litres","versions":{"2-bbb":2,"2-aaa":1}},{"path":"organic","versions":{"2-aaa":true}}],"ancestor":"not stored"}"#
        + "\n")
    #expect(
      left.errors
        == "cdtquery: 1 document stays in conflict; resolve each with --pick, or with --merge and a body\n")
    #expect(try space.run("resolve", "team/tasks", "eggs", "--merge", "fields").status == 65)
    #expect(try space.run("resolve", "team/tasks", "--pick", "2-aaa").status == 64)
    #expect(try space.run("resolve", "team/tasks", "milk", "--pick", "2-aaa", "--as-set", "x").status == 64)
    #expect(try space.run("resolve", "team/tasks", "--merge", "fields", "--by-key", "x").status == 64)
  }

  @Test(arguments: [
    ("{\"litres\":3}", "winner"), ("{\"_id\":\"milk\",\"_rev\":\"2-aaa\",\"litres\":3}", "the other"),
  ])
  func `merge saves a new body on the winner, or on the revision that it names`(
    _ c: (body: String, parent: String)
  ) throws {
    let space = try workspace()
    try space.write(c.body, to: "merged.json")
    let result = try space.run("resolve", "team/tasks", "milk", "--merge", "@merged.json")
    #expect(result.output.hasPrefix("{\"_id\":\"milk\",\"_rev\":\"3-"))
    #expect(result.output.hasSuffix(",\"litres\":3}\n"))
    #expect(try space.run("conflicts", "team/tasks").output == "")
    #expect(try space.run("get", "team/tasks", "milk").output == result.output)
    let picked = c.parent == "winner" ? "2-aaa" : "2-bbb"
    // The one that was not followed is a leaf no more; it can't be picked again.
    #expect(try space.run("resolve", "team/tasks", "milk", "--pick", picked).status == 65)
  }

  @Test func `merge keeps the attachments of the revision that it follows`() throws {
    let space = try workspace()
    try space.run("attachment", "put", "team/tasks", "milk", "a.txt", "-", input: "a")
    let result = try space.run("resolve", "team/tasks", "milk", "--merge", "-", input: "{}")
    #expect(result.status == 0)
    #expect(try space.run("attachment", "get", "team/tasks", "milk", "a.txt").output == "a")
  }

  static let refused = [
    Refusal(testDescription: "neither", arguments: ["milk"], status: 64, error: "give --pick or --merge"),
    Refusal(
      testDescription: "both", arguments: ["milk", "--pick", "2-aaa", "--merge", "{}"], status: 64,
      error: "give --pick or --merge"),
    Refusal(
      testDescription: "no revision", arguments: ["milk", "--pick", "x"], status: 64,
      error: "\"x\" is not a revision id; give one such as 2-be2c05cd85b8468ce92b04e001b0e923"),
    Refusal(
      testDescription: "a revision of another", arguments: ["milk", "--pick", "2-ccc"], status: 65,
      error: "2-ccc is not a conflicting revision of \"milk\"; give one of 2-bbb and 2-aaa"),
    Refusal(
      testDescription: "an inner revision",
      arguments: ["milk", "--merge", "{\"_rev\":\"1-967a00dff5e02add41819138abb3284d\"}"], status: 65,
      error:
        "1-967a00dff5e02add41819138abb3284d is not a conflicting revision of \"milk\"; give one of 2-bbb and 2-aaa"
    ),
    Refusal(
      testDescription: "another id", arguments: ["milk", "--merge", "{\"_id\":\"eggs\"}"], status: 64,
      error: "the id argument and the body's _id differ; give only one of them"),
    Refusal(
      testDescription: "no JSON", arguments: ["milk", "--merge", "{"], status: 65,
      error: "the body must be a JSON object: "),
    Refusal(
      testDescription: "a reserved key", arguments: ["milk", "--merge", "{\"_x\":1}"], status: 65,
      error: "the key \"_x\""),
    Refusal(
      testDescription: "no conflict", arguments: ["eggs", "--pick", "1-a"], status: 65,
      error:
        "document \"eggs\" has no conflict; list the documents that have one with \"cdtquery conflicts team/tasks\""
    ),
    Refusal(
      testDescription: "no document", arguments: ["nobody", "--pick", "1-a"], status: 66,
      error: "there is no document \"nobody\""),
  ]

  @Test(arguments: refused) func `resolve refuses, and changes nothing`(_ c: Refusal) throws {
    let space = try workspace()
    let result = try space.run(Built.cdtquery, ["resolve", "team/tasks"] + c.arguments)
    #expect(result.errors.hasPrefix("cdtquery: \(c.error)"), "\(result.errors)")
    #expect(result.status == c.status)
    #expect(try space.run("conflicts", "team/tasks", "milk").lines == [Self.winner, Self.loser])
  }
}
