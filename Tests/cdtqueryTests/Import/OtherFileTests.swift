import Testing

/// Files that are not what an import reads: the message says what they are.
@Suite struct OtherFileTests {
  static let texts = [
    (
      "<!DOCTYPE html>\n<title>Log in</title>",
      "1:1: the text is a page in HTML, perhaps one that asks for a login"
    ),
    ("\n<?xml version=\"1.0\"?><a/>", "2:1: the text is XML; convert it to JSON or CSV"),
    ("---\na: 1\n", "1:1: the text looks like YAML; convert it to JSON, as with yq -o json"),
    ("name: Ann\nage: 7\n", "1:1: the text looks like YAML; "),
    ("people:\n  - name: Ann\n", "1:1: the text looks like YAML; "),
    ("- name: Ann\n", "1:1: the text looks like YAML; "),
    ("callback({\"a\":1})", "1:1: the text is JSONP, which calls a function; "),
    ("/**/ typeof cb === 'function' && cb({\"a\":1});", "1:1: the text is JSONP, which calls a function; "),
    (
      "window.YTD.tweets.part0 = [ {\"a\":1} ]",
      "1:1: the text is JavaScript, as in an archive of Twitter; remove what stands before the first { or ["
    ),
    ("var a = {\"b\":1}", "1:1: the text is JavaScript, "),
    (
      "// settings\n{\"a\":1}",
      "1:1: the text begins with a comment, which JSON does not have; remove the comments"
    ),
    ("/* settings */ {\"a\":1}", "1:1: the text begins with a comment, "),
    ("{\"a\":1, // one\n\"b\":2}", "1:9: JSON has no comments; remove them"),
    (
      "\u{1E}{\"a\":1}\n\u{1E}{\"a\":2}\n",
      "1:1: the text is a sequence of JSON texts with a record separator before each (RFC 7464); remove these, as with tr -d '\\036'"
    ),
    ("PAR1\u{15}\u{4}", "1: the file is Parquet; convert it to CSV or JSON Lines, as with DuckDB"),
    (
      "{'a':1}",
      "1:2: expected a member name in double quotes; put double quotes around each name, as in {\"name\": 1}"
    ),
    (
      #"{"name":{"0":"Ann","1":"Zoe"},"age":{"0":7,"1":12}}"#,
      "1:1: the text is one object whose 2 members are the columns of a table, as pandas writes it; write it with to_json(orient=\"records\"), or give --format json to import the object as one document"
    ),
    ("hello there\n", "1:1: expected an object, in braces; for comma-separated values give --format csv"),
  ]

  @Test(arguments: texts) func `a text of another kind is named`(_ c: (text: String, error: String)) throws {
    let space = try Workspace()
    try space.write(c.text, to: "f")
    let result = try space.run("import", "s", "f")
    #expect(result.errors.hasPrefix("cdtquery: f:\(c.error)"), "\(result.errors)")
    #expect(result.status == 65)
    #expect(!space.exists("s"))
  }

  @Test(arguments: [
    Array("PK\u{3}\u{4}".utf8) + [UInt8](repeating: 0, count: 26) + Array("[Content_Types].xml".utf8),
    Array("PK\u{3}\u{4}".utf8) + [UInt8](repeating: 0, count: 26)
      + Array("mimetypeapplication/vnd.oasis.opendocument.spreadsheet".utf8),
    [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1, 0],
  ])
  func `a workbook is named`(_ bytes: [UInt8]) throws {
    let space = try Workspace()
    try space.write(bytes, to: "f.csv")
    #expect(
      try space.run("import", "s", "f.csv").errors
        == "cdtquery: f.csv:1: the file is a workbook, as Excel writes it; save its table as CSV in UTF-8\n")
  }

  @Test func `with --keep-going a line that is not JSON is passed over`() throws {
    let space = try Workspace()
    let result = try space.run("import", "s", "--keep-going", input: "// a\n{\"_id\":\"a\"}\n")
    #expect(result.errors.hasSuffix("1 imported, 1 failed\n"))
  }

  @Test func `an address is refused with the way to read it`() throws {
    let space = try Workspace()
    let result = try space.run("import", "s", "https://example.com/a.json?b&c")
    #expect(
      result.errors
        == "cdtquery: https://example.com/a.json?b&c is an address, and import reads files; pipe it in: curl -fL 'https://example.com/a.json?b&c' | cdtquery import STORE -\n"
    )
    #expect(result.status == 64)
    #expect(!space.exists("s"))
  }
}
