import CDTTestSupport
import Testing

@Suite struct CSVTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription, csv, json: String
  }

  static let cases = [
    Case(
      testDescription: "numbers, booleans, text and nothing",
      csv: "_id,n,b,s,e\na,-1.5,true,True,\n", json: #"{"_id":"a","_rev":"…","n":-1.5,"b":true,"s":"True"}"#),
    Case(
      testDescription: "quotes", csv: "_id,s,t\na,\"1, \"\"two\"\"\",\"\"\n",
      json: #"{"_id":"a","_rev":"…","s":"1, \"two\"","t":""}"#),
    Case(
      testDescription: "line feeds in quotes", csv: "_id,s,n\r\na,\"x\r\ny\n\",1\r\n",
      json: #"{"_id":"a","_rev":"…","s":"x\r\ny\n","n":1}"#),
    Case(
      testDescription: "what only looks like a number", csv: "_id,s\na,007\n",
      json: #"{"_id":"a","_rev":"…","s":"007"}"#),
    Case(
      testDescription: "a number as _id is text", csv: "_id,n\n007,1\n",
      json: #"{"_id":"007","_rev":"…","n":1}"#),
    Case(testDescription: "short records", csv: "_id,a,b\nx,1\n", json: #"{"_id":"x","_rev":"…","a":1}"#),
    Case(
      testDescription: "blank lines, and no last line feed", csv: "_id,a\n\n\nx,1",
      json: #"{"_id":"x","_rev":"…","a":1}"#),
    Case(
      testDescription: "lines that end with CR", csv: "_id,s,n\r\r7,\"x\ry,\"\"z\"\"\",1\r",
      json: #"{"_id":"7","_rev":"…","s":"x\ry,\"z\"","n":1}"#),
    Case(
      testDescription: "lines that end with CR, and no last CR", csv: "\"a\rb\",_id,n\r1,x,2",
      json: #"{"_id":"x","_rev":"…","a\rb":1,"n":2}"#),
    Case(
      testDescription: "lines that end with CR, and a quotation mark inside a cell",
      csv: "_id,height 5\"\rx,1\r",
      json: #"{"_id":"x","_rev":"…","height 5\"":1}"#),
    Case(
      testDescription: "a CR inside a line that ends with LF", csv: "_id,s\nx,a\rb\n",
      json: #"{"_id":"x","_rev":"…","s":"a\rb"}"#),
    Case(
      testDescription: "a byte order mark", csv: "\u{FEFF}_id,a\nx,1\n",
      json: #"{"_id":"x","_rev":"…","a":1}"#),
    Case(
      testDescription: "codes with an e are text, numbers keep their spelling",
      csv: "_id,a,b,c,d,e\nx,557e90,12E4,1e-05,1.50,1.5e3\n",
      json: #"{"_id":"x","_rev":"…","a":"557e90","b":"12E4","c":1e-05,"d":1.50,"e":1.5e3}"#),
    Case(
      testDescription: "dots in names make objects, where they look like paths",
      csv: "_id,n.a,No. of x,n.b,v1.0,p\\.q,o.z\nx,1,2,3,4,5,\n",
      json: #"{"_id":"x","_rev":"…","n":{"a":1,"b":3},"No. of x":2,"v1.0":4,"p.q":5}"#),
    Case(
      testDescription: "columns in any script", csv: "_id,naïve,名前\nx,1,山\n",
      json: #"{"_id":"x","_rev":"…","naïve":1,"名前":"山"}"#),
  ]

  @Test(arguments: cases) func reads(_ c: Case) throws {
    let space = try Workspace()
    let result = try space.run("import", "s", "--format", "csv", input: c.csv)
    #expect(result.errors.hasSuffix("1 imported\n"))
    #expect(Examples.matches(try space.run("export", "s").output, c.json + "\n"))
  }

  static let tables: [(file: String, csv: String, options: [String], notice: String, json: String)] = [
    ("t.csv", "_id,a\nx,1\n", [], "", #""a":1"#),
    ("t.txt", "_id,a,b\nx,\"1.50\",\"y\"\n", ["--quoted-numbers"], "", #""a":1.50,"b":"y""#),
    ("t.txt", "_id,a\nx,\"1,5\"\n", ["--quoted-numbers", "--decimal-comma"], "", #""a":1.5"#),
    (
      "t.txt", "_id;a;b;c\nx;1,5;2.5;-7\n", ["--decimal-comma", "--delimiter", ";"], "",
      #""a":1.5,"b":"2.5","c":-7"#
    ),
    (
      "t.txt", "_id,  a ,b\nx ,  \" 1\" , 2 \n", ["--trim", "--delimiter", ","], "", #"{"_id":"x","_rev":"1-"#
    ),
    ("t.txt", "_id,  a ,b\nx ,  \" 1\" , 2 \n", ["--trim", "--delimiter", ","], "", #""a":" 1","b":2}"#),
    (
      "t.txt", "_id,a,b,c\nx,null,\"null\",Null\n", ["--format", "csv"], "",
      #""a":null,"b":"null","c":"Null""#
    ),
    ("t.txt", "_id,a\nx,null\n", ["--text-columns", "a"], "", #""a":"null""#),
    ("t.txt", "_id,\"\"\nx,1\n", ["--format", "csv"], "", "\"\":1"),
    (
      "t.txt", "_id\ta\nx\t1\n", ["--format", "csv"],
      "t.txt: values are separated by tabs (--delimiter sets another)", #""a":1"#
    ),
    (
      "t.csv", "_id;a\nx;1,5\n", ["--format", "csv"],
      "t.csv: values are separated by semicolons (--delimiter sets another)", #""a":"1,5""#
    ),
    (
      "t.csv", "_id;a,b\nx;1\n", [],
      "t.csv: a table; values are separated by semicolons (--delimiter sets another)", #""a,b":1"#
    ),
    ("t.tsv", "_id\ta,b\nx\t1\n", [], "", #""a,b":1"#),
    ("t.txt", "_id a\nx 1\n", ["--delimiter", " "], "", #""a":1"#),
    ("t.txt", "_id,a,b\nx,1,2\n", ["--text-columns", "b, a"], "", #""a":"1","b":"2""#),
    ("t.txt", "_id,a,b\nx,1,\n", ["--text-columns", "*"], "", #""a":"1"}"#),
    ("t.txt", "_id,a.b\nx,1\n", ["--flat"], "", #""a.b":1"#),
    (
      "t.txt", "_id,a.b\nx,1\n", ["--format", "csv"],
      "t.txt: columns such as \"a.b\" become objects (--flat keeps the dots in the names)", #""a":{"b":1}"#
    ),
  ]

  @Test(arguments: tables.indices) func `a table is recognized by its name and its header`(_ number: Int)
    throws
  {
    let (file, csv, options, notice, json) = Self.tables[number]
    let space = try Workspace()
    try space.write(csv, to: file)
    let result = try space.run(Built.cdtquery, ["import", "s", file] + options)
    #expect(result.errors == (notice.isEmpty ? "" : "cdtquery: \(notice)\n") + "1 imported\n")
    #expect(try space.run("export", "s").output.contains(json))
  }

  static let unusual: [(csv: String, options: [String], notice: String, json: String)] = [
    ("sep=;\r\n_id;n\r\nx;1\r\n", [], "", #""n":1}"#),
    ("\u{FEFF}\"sep=|\"\n_id|n\nx|1\n", [], "", #""n":1}"#),
    ("sep=;\r_id;n\rx;1\r", [], "", #""n":1}"#),
    ("sep=;\n_id,n\nx,1\n", ["--delimiter", ","], "", #""n":1}"#),
    ("\n\r\n_id,n\nx,1\n", [], "", #""n":1}"#),
    ("# \"a\n,,\n_id,n\nx,1\n", ["--skip-lines", "2"], "", #""n":1}"#),
    ("# a\r\rn,_id\r1,x\r", ["--skip-lines", "1"], "", #""n":1}"#),
    ("Report\nsep=;\n_id;n\nx;1", ["--skip-lines", "1"], "", #""n":1}"#),
    ("_id,n,\nx,1,\ny,2\n", [], "", #""n":1}"#),
    (
      ",_id,,column1\n0,x,,a\n1,y,7,\n", [],
      "t.csv: column 1 has no name, so it is the field \"column1_\" (--skip-lines sets another line as the header)",
      #""column1_":0,"column1":"a"}"#
    ),
    (
      "_id,a,b.c,a,a,b.c\nx,1,,,two,\n", [],
      "t.csv: columns such as \"b.c\" become objects (--flat keeps the dots in the names)\ncdtquery: "
        + "t.csv: columns of the same name, such as \"a\", become an array", #""a":[1,"two"]}"#
    ),
    (
      "_id,title,n\nw,Dune,1\ny,Emma,n/a\nx,1984,2\n", [],
      "t.csv: columns of texts have numbers: \"title\" has 1 among 2 texts (--text-columns title reads them as text)",
      #""title":1984,"n":2}"#
    ),
    (
      "_id,my title,b\nw,Dune,c\ny,Emma,d\nx,1984,5\n", [],
      "t.csv: columns of texts have numbers: \"my title\" has 1 among 2 texts, \"b\" has 1 among 2 texts "
        + "(--text-columns 'my title,b' reads them as text)", #""my title":1984,"b":5}"#
    ),
    ("_id,title\nw,Dune\ny,Emma\nx,1984\n", ["--text-columns", "title"], "", #""title":"1984"}"#),
  ]

  @Test(arguments: unusual.indices) func `a table that a program wrote in its own way is read`(
    _ number: Int
  ) throws {
    let (csv, options, notice, json) = Self.unusual[number]
    let space = try Workspace()
    try space.write(csv, to: "t.csv")
    let result = try space.run(Built.cdtquery, ["import", "s", "t.csv"] + options)
    #expect(result.errors.hasPrefix(notice.isEmpty ? "" : "cdtquery: \(notice)\n"))
    #expect(result.errors.split(separator: "\n").last?.hasSuffix(" imported") == true)
    #expect(notice.isEmpty == (result.errors.split(separator: "\n").count == 1))
    #expect(try space.run("get", "s", "x").output.contains(json))
  }

  @Test func `a line that is wider than the header far below it is not proposed as the header`() throws {
    let space = try Workspace()
    let records = String(repeating: "1\n", count: 40)
    let result = try space.run("import", "s", "--format", "csv", input: "a\n\(records)1,2\n")
    #expect(
      result.errors
        == "cdtquery: standard input:42: the record has 2 cells but the header has 1; quote cells that contain commas\n"
    )
  }

  @Test func `null, and a member without a name, come back as they were`() throws {
    let json = #"{"_id":"x","a":null,"b":"null","c":true,"d":"true","":1}"#
    let space = try Workspace(json)
    try space.shell("cdtquery find people/contacts '{}' --no-rev --format csv > t.csv")
    #expect(try space.run("import", "people/again", "t.csv").errors == "1 imported\n")
    #expect(try space.run("get", "people/again", "x", "--no-rev").output == json + "\n")
  }

  @Test(.timeLimit(.usual))
  func `a hundred thousand columns take linear time`() throws {
    let space = try Workspace()
    let columns = (0..<100_000).map { "c\($0)" }.joined(separator: ",")
    let result = try space.run("import", "s", "--format", "csv", input: "\(columns)\n\(columns)\n")
    #expect(result.errors == "1 imported\n")
    #expect(
      try space.run("find", "s", "{}", "--fields", "c99999").output.hasSuffix("\"c99999\":\"c99999\"}\n"))
  }

  @Test func `ids come from a column`() throws {
    let space = try Workspace()
    try space.run("import", "s", "--format", "csv", "--id", "code", input: "code,x\n7,1\nseven,2\n")
    #expect(try space.run("find", "s", "{}", "--ids", "--sort", "_id").lines == ["7", "seven"])
  }

  static let refused = [
    (
      csv: "a,b\n1,2\n3,4,5\n",
      error:
        "3: the record has 3 cells but the header has 2; quote cells that contain commas, or give --skip-lines 2 if this line is the header"
    ),
    (
      csv: "a;b,c\n1;2,3\n",
      error: "1: the header has commas and semicolons; give the one between its cells, as in --delimiter ','"
    ),
    (
      csv: "a,b\n\"x\"y,1\n",
      error:
        "2: text stands before or behind a quoted cell of this record; double the quotation marks in it, or remove the text; if it is only spaces, give --trim"
    ),
    (
      csv: "a,b\n1, \"x\"\n",
      error:
        "2: text stands before or behind a quoted cell of this record; double the quotation marks in it, or remove the text; if it is only spaces, give --trim"
    ),
    (
      csv: "a,a.b\n1,2\n",
      error:
        "1: the column \"a.b\" and others can't both be fields, as one is a member of the other; rename one, or give --flat to keep the dots in the names"
    ),
    (csv: "_id,_id\n1,2\n", error: "1: two columns are named \"_id\"; rename one"),
    (
      csv: "a.b,a\n1,2\n",
      error:
        "1: the column \"a\" and others can't both be fields, as one is a member of the other; rename one, or give --flat to keep the dots in the names"
    ),
    (
      csv: "a,b\r1,2\r3,4,5\r",
      error:
        "3: the record has 3 cells but the header has 2; quote cells that contain commas, or give --skip-lines 2 if this line is the header"
    ),
    (
      csv: "a\n1\n\"open\n2\n",
      error: "3: a quotation mark in this record is not closed; close it, or double it if it is text"
    ),
  ]

  @Test(arguments: refused) func refuses(_ c: (csv: String, error: String)) throws {
    let space = try Workspace()
    let result = try space.run("import", "s", "--format", "csv", input: c.csv)
    #expect(result.errors == "cdtquery: standard input:\(c.error)\n")
    #expect(result.status == 65)
    #expect(!space.exists("s"))
  }

  @Test func `nothing, and a header alone, give no documents`() throws {
    let space = try Workspace()
    #expect(try space.run("import", "s", "--format", "csv", input: "").errors == "0 imported\n")
    #expect(try space.run("import", "s", "--format", "csv", input: "a,b\n").errors == "0 imported\n")
  }

  @Test func `CSV that find prints is read as the same values`() throws {
    let documents = """
      {"_id":"a","n":1.5,"s":"1.5","t":"true","b":true,"e":"","q":"say \\"x\\", or\\ny"}
      {"_id":"b","n":-7,"s":" 7 ","x.y":1,"c":"12e4"}

      """
    let space = try Workspace(documents)
    let csv = try space.run("find", "people/contacts", "{}", "--sort", "_id", "--format", "csv").output
    #expect(try space.run("import", "copy", "--format", "csv", input: csv).status == 0)
    #expect(try space.run("export", "copy").output == space.run("export", "people/contacts").output)
  }

  @Test func `a combining character after a quotation mark or a comma changes nothing`() throws {
    let space = try Workspace()
    let documents = "{\"_id\":\"a\",\"s\":\"x\\\"\u{301}y\",\"t\":\"x,\u{301}\\\"\u{301},z\"}\n"
    try space.run("import", "left/s", input: documents)
    let table = try space.run("find", "left/s", "{}", "--format", "csv", "--fields", "_id,s,t")
    try space.run("import", "right/s", "--format", "csv", input: table.output)
    let texts = ["left/s", "right/s"].map { try? space.run("find", $0, "{}", "--fields", "_id,s,t").output }
    #expect(texts[0] == texts[1])
    #expect(texts[0]?.isEmpty == false)
  }
}
