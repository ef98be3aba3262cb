import Testing

/// Fields whose names begin with an underscore: `--reserved`.
@Suite struct ReservedNameTests {
  private static let patient =
    #"{"resourceType":"Patient","birthDate":"1974-12-25","_birthDate":{"extension":[{"url":"u"}]},"_links":1}"#

  static let cases: [(option: String, input: String, json: String)] = [
    (
      "rename", patient,
      #"{"resourceType":"Patient","birthDate":"1974-12-25","x_birthDate":{"extension":[{"url":"u"}]},"x_links":1}"#
    ),
    ("drop", patient, #"{"resourceType":"Patient","birthDate":"1974-12-25"}"#),
    ("rename", #"{"_":1,"__":1.50}"#, #"{"x_":1,"x__":1.50}"#),
    ("rename", #"{"__v":1,"v":2}"#, #"{"v":2,"x__v":1}"#),
    ("drop", #"{"__v":1,"v":2}"#, #"{"v":2}"#),
    ("drop", #"{"_links":{}}"#, "{}"),
  ]

  @Test(arguments: cases) func `fields are renamed or left out, in imports and in queries of a file`(
    _ c: (option: String, input: String, json: String)
  ) throws {
    let space = try Workspace()
    try space.write("[\(c.input)]", to: "f.json")
    let result = try space.run("import", "s", "f.json", "--reserved", c.option)
    #expect(result.errors.hasSuffix("1 imported\n"))
    let saved = try space.run("find", "s", "--no-rev").output
    #expect(saved.hasSuffix(c.json.dropFirst() + "\n") || c.json == "{}" && saved.hasPrefix("{\"_id\":\""))
    #expect(try space.run("find", "f.json", "--reserved", c.option).output == c.json + "\n")
  }

  @Test func `the members of CouchDB's documents keep their meaning`() throws {
    let space = try Workspace()
    let document = #"{"_id":"a","_rev":"1-x","_attachments":{"t":{"data":"bWVvdw=="}},"_links":1}"#
    #expect(try space.run("import", "s", "--reserved", "rename", input: document).errors == "1 imported\n")
    #expect(try space.run("find", "s", "--no-rev").output.hasPrefix(#"{"_id":"a","#))
    #expect(try space.run("attachment", "list", "s", "a").output.contains("\"t\""))
  }

  @Test func `a column of a table is renamed`() throws {
    let space = try Workspace()
    try space.write("_id,_links,n\na,x,1\n", to: "t.csv")
    #expect(try space.run("import", "s", "t.csv", "--reserved", "rename").errors == "1 imported\n")
    #expect(try space.run("find", "s", "--no-rev").output == "{\"_id\":\"a\",\"n\":1,\"x_links\":\"x\"}\n")
  }

  @Test func `a name is refused with the options, also one that the new name has`() throws {
    let space = try Workspace()
    let result = try space.run("import", "s", input: #"{"_links":1}"#)
    #expect(
      result.errors
        == "cdtquery: standard input:1: the key \"_links\" begins with an underscore, which is reserved; add --reserved rename to import it as \"x_links\", or --reserved drop to leave it out\n"
    )
    let taken = try space.run(
      "import", "s", "--reserved", "rename", input: #"{"_links":1,"x_links":2}"#)
    #expect(taken.errors.contains("the object has two members named \"x_links\""))
    #expect(!space.exists("s"))
  }
}
