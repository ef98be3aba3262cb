import Testing

/// What other programs write: dumps of CouchDB and its tools, of MongoDB, and objects with documents in them.
@Suite struct DumpTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let input: String
    var options: [String] = []
    /// What is said about `f`, a line each.
    let notices: [String]
    /// The documents without their revisions.
    let documents: [String]
  }

  private static let docs =
    #"f: CouchDB's {"docs": […]}; the documents in it are imported (--format json imports the text as it is)"#
  private static let rows =
    "f: rows of CouchDB; their documents are imported (--format json imports the rows as they are)"
  private static let allDocs =
    "f: a reply of CouchDB's _all_docs; the documents in it are imported (--format json imports the text as it is)"
  private static let mongo =
    "f: MongoDB's Extended JSON; $oid, $date and numbers become plain JSON (--format json imports them as they are)"

  static let cases = [
    Case(
      testDescription: "docs", input: #"{"docs":[{"_id":"a"},{"_id":"b"}]}"#, notices: [docs],
      documents: ["a", "b"]),
    Case(
      testDescription: "docs on several lines, after new_edits",
      input:
        "{\n \"new_edits\" : false,\n \"docs\" : [\n {\"_id\":\"a\"}\n ]\n}\n{\"docs\":[{\"_id\":\"b\"}]}",
      notices: [docs], documents: ["a", "b"]),
    Case(
      testDescription: "docs beside others, forced", input: #"{"docs":[{"_id":"a"}],"x":{"y":["]}"]},"z":1}"#,
      options: ["--format", "couchdb"], notices: [], documents: ["a"]),
    Case(
      testDescription: "docs as a document", input: #"{"_id":"x","docs":[{"_id":"a"}]}"#,
      options: ["--format", "json"], notices: [], documents: [#"x,"docs":[{"_id":"a"}]"#]),
    Case(
      testDescription: "the reply of _find",
      input: #"{"docs":[{"_id":"a","_rev":"1-x"}],"bookmark":"nil","warning":"no"}"#,
      notices: [docs], documents: ["a"]),
    Case(
      testDescription: "pouchdb-dump",
      input: """
        {"version":"1.2.6","db_type":"http","start_time":"2015","db_info":{"doc_count":2}}
        {"docs":[{"_id":"a","_rev":"1-5","v":1}]}
        {"docs":[{"_id":"b","_rev":"2-6","_deleted":true,"_revisions":{"start":2,"ids":["6","5"]}}]}
        {"seq":2}

        """,
      notices: [
        "f: a dump of pouchdb-dump; its documents are imported (--format json imports the text as it is)",
        "1 deleted document is left out",
      ], documents: [#"a,"v":1"#]),
    Case(
      testDescription: "couchbackup",
      input: """
        {"name":"@cloudant/couchbackup","version":"2.11.0","mode":"full"}
        [{"_id":"a","_rev":"2-bb","_revisions":{"start":2,"ids":["bb","aa"]},"v":1},{"_id":"b","_rev":"2-cc","_deleted":true}]
        [{"_id":"_design/d","_rev":"1-dd","views":{}}]

        """,
      notices: [
        "f: a file of couchbackup; its documents are imported (--format json imports the text as it is)",
        "1 deleted document is left out",
        "1 design document imported; indexes in them are made, functions are stored and never run",
      ], documents: [#"_design/d,"views":{}"#, #"a,"v":1"#]),
    Case(
      testDescription: "_all_docs",
      input: """
        {"total_rows":3,"offset":0,"rows":[
        {"id":"a","key":"a","value":{"rev":"1-x"},"doc":{"_id":"a","_rev":"1-x","_attachments":{"p":{"stub":true}}}},
        {"id":"b","key":"b","value":{"rev":"2-y","deleted":true},"doc":null},
        {"key":"c","error":"not_found"}
        ]}
        """,
      notices: [
        allDocs, "2 deleted documents are left out",
        "1 attachment without content left out; read the database with attachments=true",
      ], documents: ["a"]),
    Case(
      testDescription: "rows alone", input: #"{"id":"a","key":"a","value":{"rev":"1-x"},"doc":{"_id":"a"}}"#,
      notices: [rows], documents: ["a"]),
    Case(
      testDescription: "rows at a path",
      input: #"{"rows":[{"id":"a","key":"a","value":{"rev":"1-x"},"doc":{"_id":"a"}}]}"#,
      options: ["--at", "rows"], notices: [rows], documents: ["a"]),
    Case(
      testDescription: "_changes",
      input:
        #"{"results":[{"seq":1,"id":"a","changes":[{"rev":"1-x"}],"doc":{"_id":"a","_rev":"1-x"}}],"last_seq":1,"pending":0}"#,
      notices: [
        "f: a reply of CouchDB's _changes; the documents in it are imported (--format json imports the text as it is)"
      ], documents: ["a"]),
    Case(
      testDescription: "_changes with feed=continuous",
      input: """
        {"seq":"1-g","id":"a","changes":[{"rev":"1-x"}],"doc":{"_id":"a","_rev":"1-x"}}

        {"seq":"2-g","id":"b","changes":[{"rev":"2-x"}],"deleted":true,"doc":{"_id":"b","_rev":"2-x","_deleted":true}}
        {"last_seq":"2-g","pending":0}
        """,
      notices: [rows, "1 deleted document is left out"], documents: ["a"]),
    Case(
      testDescription: "mongoexport",
      input:
        #"{"_id":{"$oid":"5f1b2c3d4e5f6a7b8c9d0e1f"},"n":{"$numberInt":"5"},"d":[{"$date":{"$numberLong":"1500000000123"}}],"e":{"$numberDecimal":"1.10"},"f":{"$numberDouble":"NaN"},"g":{"$binary":{"base64":"","subType":"00"}},"__v":{"$numberLong":"3"}}"#,
      notices: [mongo, #"f: names that begin with _ are reserved; "__v" is imported as "v""#],
      documents: [
        #"5f1b2c3d4e5f6a7b8c9d0e1f,"n":5,"d":["2017-07-14T02:40:00.123Z"],"e":1.10,"f":"NaN","g":{"$binary":{"base64":"","subType":"00"}},"v":3"#
      ]),
    Case(
      testDescription: "mongoexport of version 1, integer ids",
      input:
        #"{"_id":7,"a":{"$date":-1},"b":{"$date":"2014-01-01T05:00:00Z"},"c":{"$ref":"x","$id":{"$oid":"5f1b2c3d4e5f6a7b8c9d0e1f"}}}"#,
      notices: [mongo],
      documents: [
        #"7,"a":"1969-12-31T23:59:59.999Z","b":"2014-01-01T05:00:00Z","c":{"$ref":"x","$id":"5f1b2c3d4e5f6a7b8c9d0e1f"}"#
      ]),
    Case(
      testDescription: "an id of MongoDB by its path", input: #"{"_id":{"$oid":"5f1b2c3d4e5f6a7b8c9d0e1f"}}"#,
      options: ["--id", "_id.$oid"], notices: [mongo], documents: ["5f1b2c3d4e5f6a7b8c9d0e1f"]),
    Case(
      testDescription: "what only looks like MongoDB",
      input: #"{"_id":"a","_rev":"1-x","d":{"$date":1}}"# + "\n" + #"{"_id":"b","p":"$5","q":{"$gt":1}}"#,
      notices: [],
      documents: [#"a,"d":{"$date":1}"#, #"b,"p":"$5","q":{"$gt":1}"#]),
    Case(
      testDescription: "an object of documents at a path",
      input: #"{"data":{"CH":{"name":"Switzerland"},"DE":{"_id":"de"}},"x":1}"#, options: ["--at", "data"],
      notices: [#"f: the members of "data" are imported, with their names as ids"#],
      documents: [#"CH,"name":"Switzerland""#, "de"]),
    Case(
      testDescription: "an object of documents", input: #"{"a\u0062":{"x":1},"c":{"x":2}}"#,
      options: ["--at", "."],
      notices: ["f: the members of the object are imported, with their names as ids"],
      documents: [#"ab,"x":1"#, #"c,"x":2"#]),
    Case(
      testDescription: "--id where documents have an _id", input: #"{"_id":"x","code":"a"}"#,
      options: ["--id", "code"],
      notices: ["--id has no effect on 1 document with an _id"], documents: [#"x,"code":"a""#]),
  ]

  @Test(arguments: cases) func imports(_ c: Case) throws {
    let space = try Workspace()
    try space.write(c.input, to: "f")
    let result = try space.run(Built.cdtquery, ["import", "s", "f"] + c.options)
    let notices = c.notices.map { "cdtquery: \($0)\n" }.joined()
    #expect(result.errors == notices + "\(c.documents.count) imported\n")
    let found = try space.run("export", "s").lines.map { line in
      let rest = line.dropFirst(#"{"_id":""#.count).dropLast()
      let id = rest.prefix { $0 != "\"" }
      return id + rest.dropFirst(id.count + #"","_rev":"1-967a00dff5e02add41819138abb3284d""#.count)
    }
    #expect(found.map(String.init) == c.documents)
  }

  @Test func `rows without documents are refused with the way to read them`() throws {
    let space = try Workspace()
    let result = try space.run(
      "import", "s", input: #"{"total_rows":1,"rows":[{"id":"a","key":"a","value":{"rev":"1-x"}}]}"#)
    #expect(result.status == 65)
    #expect(result.errors.contains("include_docs=true"))
    #expect(!space.exists("s"))
  }

  @Test func `documents after megabytes of deleted documents are imported`() throws {
    let space = try Workspace()
    let filler = String(repeating: "x", count: 1_000)
    let tombstones = (0..<5_000).map { "{\"_id\":\"t\($0)\",\"_deleted\":true,\"x\":\"\(filler)\"}\n" }
      .joined()
    try space.write(tombstones + "{\"_id\":\"a\"}\n", to: "dump.jsonl")
    let result = try space.run("import", "s", "dump.jsonl")
    #expect(result.errors == "cdtquery: 5000 deleted documents are left out\n1 imported\n")
  }

  static let embedded = [
    (
      #"{"log":{"version":"1.2","entries":[{"time":5},{"time":6}]}}"#, "--at log.entries",
      "2 objects in its array"
    ),
    (
      #"{"data":{"user":{"my repos":{"nodes":[{"a":1},{"a":2}]}}}}"#, "--at 'data.user.my repos.nodes'",
      "2 objects in its array"
    ),
    (#"{"a.b":{"c":[{},{}]}}"#, #"--at 'a\.b.c'"#, "2 objects in its array"),
    (
      #"{"took":1,"_shards":{"total":1},"hits":{"total":2,"hits":[{"_id":"1","_source":{}},{"_id":"2","_source":{}}]}}"#,
      "--at hits.hits._source", "2 objects in its array"
    ),
    (
      #"{"recipes":{"soup":{"minutes":20},"cake":{"minutes":60},"bread":{"minutes":90}}}"#, "--at recipes",
      "3 members of its object"
    ),
    (
      #"{"name":"x","packages":{"":{"name":"x"},"node_modules/a":{"version":"1"},"node_modules/b":{"version":"2"},"node_modules/c":{"link":true}}}"#,
      "--at packages", "4 members of its object"
    ),
  ]

  @Test(arguments: embedded)
  func `documents further down in one object have a hint`(_ c: (json: String, option: String, what: String))
    throws
  {
    let space = try Workspace()
    let result = try space.run("import", "s", "--keep-going", input: c.json)
    #expect(result.errors.contains("\(c.option) imports the \(c.what) "), "\(result.errors)")
  }

  @Test func `the three largest groups of objects have a hint, in their order`() throws {
    let space = try Workspace()
    let groups = [2, 4, 3, 5].map {
      "\"g\($0)\":[\(Array(repeating: "{}", count: $0).joined(separator: ","))]"
    }
    let result = try space.run("import", "s", input: "{\(groups.joined(separator: ","))}")
    let options = result.errors.split(separator: " ").filter { $0.hasPrefix("g") && !$0.contains("\"") }
    #expect(options == ["g4", "g3", "g5"])
  }

  @Test func `a member without a name is imported with an id that is made`() throws {
    let space = try Workspace()
    let result = try space.run(
      "import", "s", "--at", "packages", input: #"{"packages":{"":{"name":"x"},"a":{"name":"y"}}}"#)
    #expect(
      result.errors.hasSuffix(
        "cdtquery: standard input: a member without a name is imported with an id that is made\n2 imported\n")
    )
    #expect(try space.run("find", "s", #"{"name":"x"}"#, "--ids").output.count > 10)
  }

  static let paths: [(json: String, path: String, ids: [String])] = [
    (
      #"{"Reservations":[{"Instances":[{"_id":"i-1"},{"_id":"i-2"}]},{"Instances":[]},{"_id":"r","Instances":[{"_id":"i-3"}]}]}"#,
      "Reservations.Instances", ["i-1", "i-2", "i-3"]
    ),
    (#"{"runs":[{"tool":{},"results":[[{"_id":"a"}],{"_id":"b"}]}]}"#, "runs.results", ["a", "b"]),
    (#"[{"_id":"1","_source":{"a":1}},{"_id":"2","_source":{"_id":"own"}}]"#, "_source", ["1", "own"]),
    (
      #"{"hits":{"hits":[{"_id":"1","_source":{"a":1}},{"_id":"2","_source":{"a":2}}]}}"#,
      "hits.hits._source",
      ["1", "2"]
    ),
    (
      #"{"hit":{"_id":"1","_source":{}}}"# + "\n" + #"{"hit":{"_id":"2","_source":{}}}"#, "hit._source",
      ["1", "2"]
    ),
    (
      #"{"x":[{"_id":"1","docs":[{"_id":"a"}]}]}"# + " ", "x.docs", ["a"]
    ),
  ]

  @Test(arguments: paths) func `a path leads through arrays, and takes the id around a document along`(
    _ c: (json: String, path: String, ids: [String])
  ) throws {
    let space = try Workspace()
    let result = try space.run("import", "s", "--at", c.path, input: c.json)
    #expect(result.errors == "\(c.ids.count) imported\n")
    #expect(try space.run("find", "s", "--ids", "--sort", "_id").lines == c.ids)
    try space.write(c.json, to: "f.json")
    #expect(try space.run("find", "f.json", "--ids", "--at", c.path).lines == c.ids)
  }

  @Test func `documents in an array within an array have the lines that they begin on`() throws {
    let space = try Workspace()
    let text =
      "{\"a\":[\n{\"b\":[{\"_id\":\"1\"},\n\n{\"_id\":2},{\"_id\":\"3\"}]},\n{\"c\":1},{\"b\":[{\"_id\":\"4\"},5]}]}"
    let result = try space.run(
      "import", "s", "--at", "a.b", "--keep-going", "--format", "json", input: text)
    #expect(
      result.errors.split(separator: "\n").map { $0.prefix { $0 != ";" } } == [
        "cdtquery: standard input:4: _id must be a string",
        "cdtquery: standard input:5:1: the element has no object at \"b\"",
        "cdtquery: standard input:5:9: the element has no object at \"b\"", "2 imported, 3 failed",
      ])
  }

  @Test func `one object with an array of objects is a document, with a hint`() throws {
    let space = try Workspace()
    let result = try space.run("import", "s", input: #"{"type":"x","features":[{"a":1},{"a":2}]}"#)
    #expect(result.errors.contains(#"--at features imports the 2 objects in its array "features" instead"#))
    #expect(result.errors.hasSuffix("\n1 imported\n"))
    let two = try space.run(
      "import", "s", input: #"{"nodes":[{"a":1},{"a":2}],"x":[1],"links":[{},{},{}]}"#)
    #expect(
      two.errors.contains(
        #"--at nodes imports the 2 objects in its array "nodes" instead, --at links imports the 3 objects in its array "links" instead"#
      ))
  }

  static let cutDumps = [
    (
      name: "couchbackup", header: #"{"name":"@cloudant/couchbackup","version":"2.11.9","mode":"full"}"#,
      begin: "[", end: "]"
    ),
    (
      name: "pouchdb-dump",
      header: #"{"version":"6.4.3","db_type":"leveldb","start_time":"x","db_info":{}}"#,
      begin: #"{"docs":["#, end: "]}"
    ),
  ]

  /// The third line is cut at many places.
  @Test(arguments: cutDumps)
  func `a line that is cut off takes no others with it`(
    _ dump: (name: String, header: String, begin: String, end: String)
  ) throws {
    let space = try Workspace()
    func line(_ documents: String) -> String { dump.begin + documents + dump.end }
    let whole = line(#"{"_id":"b"},{"_id":"c"}"#)
    let first = whole.utf8.count - dump.begin.utf8.count
    for length in stride(from: 1, to: whole.utf8.count, by: 3) {
      let cut = String(whole.prefix(length))
      let lines = [dump.header, line(#"{"_id":"a"}"#), cut, line(#"{"_id":"d"},{"_id":"e"}"#), ""]
      try space.write(lines.joined(separator: "\n"), to: "f")
      let result = try space.run("import", "s\(length)", "f", "--keep-going")
      let found = try space.run("find", "s\(length)", "--ids", "--sort", "_id").lines
      #expect(found.first == "a" && found.suffix(2) == ["d", "e"], "\(cut): \(result.errors)")
      #expect(result.status == (cut.hasSuffix("]") ? 0 : 65), "\(cut): \(result.errors)")
      #expect(found.contains("b") == (length >= whole.utf8.count - first + 11), "\(cut): \(result.errors)")
    }
  }

  @Test func `documents of Elasticsearch's bulk lines get the ids of their actions`() throws {
    let space = try Workspace()
    let lines = [
      #"{"index":{"_index":"bank","_id":"1"}}"#, #"{"balance":39225}"#, #"{"create":{"_id":6}}"#,
      #"{"balance":5686}"#, #"{"delete":{"_id":"1"}}"#, #"{"index":{}}"#, #"{"_id":"own"}"#, "",
    ].joined(separator: "\n")
    let result = try space.run("import", "s", input: lines)
    #expect(result.errors.hasPrefix("cdtquery: standard input: lines of Elasticsearch's _bulk; "))
    #expect(
      try space.run("find", "s", "{}", "--no-rev", "--sort", "_id").lines == [
        #"{"_id":"1","balance":39225}"#, #"{"_id":"6","balance":5686}"#, #"{"_id":"own"}"#,
      ])
    // Documents that only begin like an action, or are alone.
    let others = #"{"index":{"x":1}}"# + "\n{}"
    #expect(try space.run("import", "t", "--format", "json", input: lines).errors == "7 imported\n")
    #expect(try space.run("import", "u", input: others).errors == "2 imported\n")
    #expect(try space.run("import", "v", input: #"{"index":{}}"#).errors == "1 imported\n")
    let update = [
      #"{"index":{"_id":"1"}}"#, "{}", #"{"update":{"_id":"1"}}"#, #"{"doc":{"a":1}}"#,
      #"{"index":{"_id":"2"}}"#, "{}",
    ].joined(separator: "\n")
    let partial = try space.run("import", "w", "--keep-going", input: update)
    #expect(partial.errors.contains("an update has only a part of a document"))
    #expect(try space.run("find", "w", "--ids", "--sort", "_id").lines == ["1", "2"])
  }

  @Test func `of several objects, --at names the document in each`() throws {
    let space = try Workspace()
    let lines = [
      #"{"_index":"bank","_id":"1","_source":{"n":1}}"#, #"{"_id":"6","_source":{"_id":"own","n":2}}"#, "",
    ].joined(separator: "\n")
    #expect(try space.run("import", "s", "--at", "_source", input: lines).errors == "2 imported\n")
    #expect(
      try space.run("find", "s", "{}", "--no-rev", "--sort", "_id").lines == [
        #"{"_id":"1","n":1}"#, #"{"_id":"own","n":2}"#,
      ])
    let missing = try space.run(
      "import", "t", "--at", "_source", "--keep-going", input: #"{"a":1}"# + "\n" + lines)
    #expect(missing.errors.contains(#":1:1: the element has no object at "_source""#))
    #expect(missing.errors.hasSuffix("2 imported, 1 failed\n"))
  }

  @Test func `members behind a long array of documents are checked, too`() throws {
    let space = try Workspace()
    let documents = (0..<30_000).map { #"{"_id":"\#($0)","text":"some text to fill the buffer"}"# }.joined(
      separator: ",")
    for (end, status) in [(#"],"bookmark":"x"}"#, 0), (#"],"title":"x"}"#, 65)] {
      try space.write(#"{"docs":["# + documents + end, to: "f")
      #expect(try space.run("import", "s\(status)", "f").status == Int32(status))
    }
    #expect(try space.run("count", "s0").output == "30000\n")
  }

  @Test(arguments: [
    ("f.jsonl.gz", "{\"_id\":\"x\",\"a\":1}\n"), ("f.csv.gz", "_id,a\nx,1\n"),
    ("f", "[{\"_id\":\"x\",\"a\":1}]"),
  ])
  func `a file compressed by gzip is read`(_ c: (file: String, text: String)) throws {
    let space = try Workspace()
    try space.write(c.text, to: "text")
    try space.shell("gzip -c text > \(c.file); cat \(c.file) \(c.file) > twice; head -c -3 \(c.file) > cut")
    #expect(try space.run("import", "s", c.file).errors.hasSuffix("1 imported\n"))
    #expect(try space.run("export", "s").output.contains("\"a\":1"))
    let cut = try space.run("import", "t", "cut", "--format", c.file.contains("csv") ? "csv" : "auto")
    #expect(cut.errors == "cdtquery: cut is an incomplete gzip file; download it again\n")
    #expect(cut.status == 65)
    #expect(!space.exists("t"))
  }

  @Test func `a name that is taken by a renamed one is refused`() throws {
    let space = try Workspace()
    let result = try space.run("import", "s", input: #"{"_id":1,"__v":2,"v":3}"#)
    #expect(result.errors.contains("the object has two members named \"v\""))
    #expect(result.status == 65)
  }
}
