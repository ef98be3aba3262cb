import CDTJSON
import Testing

@Suite struct FindTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let arguments: [String]
    let output: String
    var errors = ""
  }

  private static let ann = "{\"_id\":\"ann\",\"_rev\":\"…\",\"name\":\"Ann\",\"age\":7}\n"
  private static let mike = "{\"_id\":\"mike\",\"_rev\":\"…\",\"name\":\"Mike\",\"age\":36}\n"
  private static let zoe = "{\"_id\":\"zoe\",\"_rev\":\"…\",\"name\":\"Zoe\",\"age\":12}\n"

  static let cases = [
    Case(testDescription: "a selector", arguments: [#"{"age": {"$gte": 18}}"#], output: mike),
    Case(testDescription: "sort", arguments: ["{}", "--sort", "age"], output: ann + zoe + mike),
    Case(
      testDescription: "sort with directions", arguments: ["{}", "--sort", "age:desc,name:asc"],
      output: mike + zoe + ann),
    Case(
      testDescription: "skip and limit", arguments: ["{}", "--sort", "age", "--skip", "1", "--limit", "1"],
      output: zoe),
    Case(
      testDescription: "fields", arguments: [#"{"age": 7}"#, "--fields", "name,no"],
      output: "{\"_id\":\"ann\",\"_rev\":\"…\",\"name\":\"Ann\"}\n",
      errors: "cdtquery: no document has the field \"no\"\n"),
    Case(testDescription: "ids", arguments: ["{}", "--ids", "--sort", "name"], output: "ann\nmike\nzoe\n"),
    Case(testDescription: "a count", arguments: [#"{"age": {"$lt": 18}}"#, "--count"], output: "2\n"),
    Case(
      testDescription: "a count within a page", arguments: ["{}", "--count", "--skip", "1", "--limit", "5"],
      output: "2\n"),
    Case(
      testDescription: "fields and a sort with spaces around them",
      arguments: ["{}", "--sort", " age:desc , name ", "--fields", "name , age", "--limit", "1"], output: mike
    ),
    Case(testDescription: "no selector", arguments: ["--sort", "age"], output: ann + zoe + mike),
    Case(testDescription: "no match", arguments: [#"{"age": 99}"#], output: ""),
    Case(testDescription: "a file", arguments: ["@selector.json"], output: mike),
    Case(testDescription: "standard input", arguments: ["-"], output: zoe),
    Case(
      testDescription: "a request",
      arguments: [
        #"{"selector": {"age": {"$gt": 1}}, "sort": [{"age": "desc"}], "skip": 1, "limit": 1, "fields": ["age"]}"#
      ], output: "{\"_id\":\"zoe\",\"_rev\":\"…\",\"age\":12}\n"),
    Case(
      testDescription: "options override a request",
      arguments: [
        #"{"selector": {}, "sort": ["age"], "skip": 1, "limit": 1}"#, "--skip", "0", "--sort", "age:desc",
        "--fields", "age",
      ], output: "{\"_id\":\"mike\",\"_rev\":\"…\",\"age\":36}\n"),
    Case(
      testDescription: "an index", arguments: [#"{"age": 7}"#, "--use-index", "by_age"], output: ann),
    Case(
      testDescription: "JSON", arguments: ["{}", "--sort", "age", "--format", "json", "--fields", "age"],
      output: """
        [
         {"_id":"ann","_rev":"…","age":7},
         {"_id":"zoe","_rev":"…","age":12},
         {"_id":"mike","_rev":"…","age":36}
        ]

        """),
    Case(
      testDescription: "no match as JSON", arguments: [#"{"age": 99}"#, "--format", "json"], output: "[\n]\n"),
    Case(
      testDescription: "CSV", arguments: ["{}", "--sort", "age", "--limit", "2", "--format", "csv"],
      output: "_id,_rev,name,age\nann,…,Ann,7\nzoe,…,Zoe,12\n"),
    Case(
      testDescription: "CSV with the fields in their order",
      arguments: ["{}", "--sort", "age", "--limit", "1", "--format", "csv", "--fields", "age,pet.name,name"],
      output: "_id,_rev,age,pet.name,name\nann,…,7,,Ann\n",
      errors: "cdtquery: no document has the field \"pet.name\"\n"),
    Case(
      testDescription: "TSV", arguments: ["{}", "--sort", "age", "--limit", "1", "--format", "tsv"],
      output: "_id\t_rev\tname\tage\nann\t…\tAnn\t7\n"),
    Case(
      testDescription: "a table", arguments: ["{}", "--sort", "age", "--limit", "2", "--format", "table"],
      output: """
        _id  _rev                                name  age
        ───  ──────────────────────────────────  ────  ───
        ann  …  Ann   7
        zoe  …  Zoe   12

        """),
    Case(
      testDescription: "no match as a table", arguments: [#"{"age": 99}"#, "--format", "table"],
      output: "_id  _rev\n───  ────\n"),
    Case(
      testDescription: "auto in a pipe", arguments: [#"{"age": 7}"#, "--format", "auto"], output: ann),
    Case(
      testDescription: "the plan", arguments: [#"{"age": 7}"#, "--explain"],
      output: "index \"by_age\": age at one value\n…\n"),
  ]

  @Test(arguments: [
    (["find", "people/contacts", "--where", "x"], "Unknown option '--where'; the selector is an argument: "),
    (["find", "people/contacts", "--order=age"], "Unknown option '--order'; did you mean '--sort'?"),
    (
      ["update", "people/contacts", "{}", "--inc", "age"],
      "Unknown option '--inc'; did you mean '--increment'?"
    ),
    (["import", "people/contacts", "-", "--pk", "x"], "Unknown option '--pk'; did you mean '--id'?"),
    (["find", "people/contacts", "--head", "3"], "Unknown option '--head'; did you mean '--limit'?"),
    (["find", "people/contacts", "-n", "3"], "Unknown option '-n'; did you mean '--limit'?"),
    (
      ["find", "people/contacts", "--sort", "age", "--desc"],
      "Unknown option '--desc'; to sort in descending order, write --sort FIELD:desc"
    ),
    (
      ["find", "people/contacts", "--sort", "age", "DESC"],
      "DESC is not a selector; to sort in descending order, write --sort FIELD:desc"
    ),
    (
      ["distinct", "people/contacts", "age", "--count"],
      "Unknown option '--count'; 'cdtquery group --by FIELD --count NAME' counts the documents of each value"
    ),
    (["find", "people/contacts", "--sort", "-age"], "to sort in descending order, write --sort age:desc"),
    (["find", "people/contacts", "--sort", "--ids"], "--sort needs fields, as in --sort name,age:desc"),
    (["export", "people/contacts", "out.xlsx"], "an export is JSON Lines, CSV or TSV; "),
  ])
  func `options of other tools are refused with those of this one`(_ c: (arguments: [String], error: String))
    throws
  {
    let result = try Workspace(Workspace.people).run(Built.cdtquery, c.arguments)
    #expect(result.status == 64)
    #expect(result.errors.hasPrefix("cdtquery: \(c.error)"), "\(result.errors)")
  }

  @Test(arguments: cases) func answers(_ c: Case) throws {
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "age", "--name", "by_age")
    try space.write(#"{"age": {"$gte": 18}}"#, to: "selector.json")
    let result = try space.run(
      Built.cdtquery, ["find", "people/contacts"] + c.arguments, input: Array(#"{"age": 12}"#.utf8))
    #expect(Examples.matches(result.output, c.output), "\(result.output)")
    #expect(result.errors == c.errors)
    #expect(result.status == 0)
  }

  private static let orders = """
    {"_id":"ann","name":"Ann"}
    {"_id":"o1","n":1,"owner":"ann","items":[{"product":"p1"},{"product":"none"}]}
    {"_id":"o2","n":2,"owner":"bob"}
    {"_id":"p1","name":"Pen"}

    """

  private static let orderLines = """
    {"_id":"o1","_rev":"…","n":1}
    {"_id":"o2","_rev":"…","n":2}

    """

  static let includes = [
    Case(
      testDescription: "JSON lines", arguments: [],
      output: orderLines + """
        {"included":{"items":{"p1":{"_id":"p1","_rev":"…","name":"Pen"}},"owner":{"ann":{"_id":"ann","_rev":"…","name":"Ann"}}}}

        """),
    Case(
      testDescription: "JSON without revisions", arguments: ["--format", "json", "--no-rev"],
      output: """
        {"docs":
        [
         {"_id":"o1","n":1},
         {"_id":"o2","n":2}
        ]
        ,"included":{"items":{"p1":{"_id":"p1","name":"Pen"}},"owner":{"ann":{"_id":"ann","name":"Ann"}}}}

        """),
    Case(
      testDescription: "auto in a pipe", arguments: ["--format", "auto", "--skip", "1"],
      output: """
        {"_id":"o2","_rev":"…","n":2}
        {"included":{"items":{},"owner":{}}}

        """),
    Case(
      testDescription: "no result, over several lines",
      arguments: ["--limit", "1", "--skip", "2", "--pretty"],
      output: """
        {
          "included": {
            "items": {},
            "owner": {}
          }
        }

        """),
  ]

  @Test(arguments: includes) func `linked documents are printed after the results`(_ c: Case) throws {
    let space = try Workspace(Self.orders)
    let result = try space.run(
      Built.cdtquery,
      [
        "find", "people/contacts", #"{"n": {"$gt": 0}}"#, "--sort", "n", "--fields", "n", "--include",
        "owner=owner", "--include", "items=items[].product",
      ] + c.arguments)
    #expect(Examples.matches(result.output, c.output), "\(result.output)")
    #expect(result.errors == "" && result.status == 0)
  }

  @Test func `linked documents are in an answer of a batch and in a plan`() throws {
    let space = try Workspace(Self.orders)
    let request = #"{"selector": {"n": 1}, "fields": ["n"], "include": {"owner": "owner"}}"#
    let answer = try space.run("find", "people/contacts", "--batch", "-", input: request)
    let wanted =
      #"{"docs":[{"_id":"o1","_rev":"…","n":1}],"included":{"owner":{"ann":{"_id":"ann","_rev":"…","name":"Ann"}}}}"#
    #expect(Examples.matches(answer.output, wanted + "\n"), "\(answer.output)")
    let plan = try space.run("explain", "people/contacts", request)
    #expect(plan.output.contains("├ included, read by their ids after the results: owner by owner\n"))
    // These print no documents.
    #expect(try space.run("count", "people/contacts", request).output == "1\n")
    #expect(try space.run("find", "people/contacts", request, "--ids").output == "o1\n")
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    var testDescription: String { arguments.joined(separator: " ") }
    let arguments: [String]
    let status: Int32
    let error: String
  }

  static let refused = [
    Refusal(
      arguments: [#"{"age": {"$gtt": 18}}"#], status: 65,
      error: #"age.$gtt: unknown operator "$gtt" (did you mean "$gt"?)"#),
    Refusal(
      arguments: [#"{"age": "#], status: 65,
      error:
        "the query is not JSON: line 1, column 9: the text ends inside a value; check that it is complete"),
    Refusal(
      arguments: [#"{"fields": ["a"]}"#], status: 65,
      error: "selector: a request needs a selector; {} selects every document"
    ),
    Refusal(
      arguments: [#"{"selector": true}"#], status: 65,
      error: #"selector: a selector is an object such as {"age": {"$gt": 18}}, not a boolean"#
    ),
    Refusal(
      arguments: ["{}", "--sort", "a..b"], status: 65,
      error:
        #"sort[0]: the path "a..b" has an empty segment; name every segment; write "\." for a dot in a name"#
    ),
    Refusal(
      arguments: ["{}", "--use-index", "by_name"], status: 65,
      error: #"use_index: there is no index "by_name"; there are none"#),
    Refusal(
      arguments: ["@nowhere"], status: 74,
      error: "can't read nowhere: No such file or directory; check the path"),
    Refusal(
      arguments: ["{}", "--sort", "age,name:DESC"], status: 65,
      error:
        #"sort[1]: "name:DESC" is not a field and a direction; write name:desc; a field of that name is written "name:DESC:asc""#
    ),
    Refusal(
      arguments: ["{}", "--sort", #"{"age": -1}"#], status: 65,
      error:
        #"sort[0]: "{"age": -1}" is JSON, not the name of a field; write a field as age or age:desc; a field of that name is written "{"age": -1}:asc""#
    ),
    Refusal(arguments: ["{}", "--batch", "-"], status: 64, error: "give a selector, or --batch"),
    Refusal(
      arguments: ["--batch", "-", "--limit", "3"], status: 64,
      error: "--batch takes no other option; write them into the requests"),
    Refusal(
      arguments: ["{}", "--count", "--ids"], status: 64,
      error: "--count, --ids and --explain can't be combined; give one of them"),
    Refusal(
      arguments: ["{}", "--count", "--format", "csv"], status: 64,
      error:
        "--format and the other options of how documents are printed can't be combined with --count, --ids and --explain"
    ),
    Refusal(
      arguments: ["--include", "owner"], status: 64,
      error: "--include owner: write a name and a path, as in owner=ownerId, and each name once"),
    Refusal(
      arguments: ["--include", "a=b", "--include", "a=c"], status: 64,
      error: "--include a=c: write a name and a path, as in owner=ownerId, and each name once"),
    Refusal(
      arguments: ["--include", "a=b..c"], status: 65,
      error:
        #"include.a: the path "b..c" has an empty segment; name every segment; write "\." for a dot in a name"#
    ),
    Refusal(
      arguments: ["--include", "a=b", "--ids"], status: 64,
      error: "--include can't be combined with --count and --ids, which print no documents"),
    Refusal(
      arguments: ["--include", "a=b", "--format", "csv"], status: 64,
      error: "--format csv can't print included documents; use --format jsonl or json"),
    Refusal(
      arguments: [#"{"selector": {}, "include": {"a": "b"}}"#, "--format", "table"], status: 64,
      error: "--format table can't print included documents; use --format jsonl or json"),
    Refusal(arguments: ["{}", "--limit=-1"], status: 64, error: "--limit must be a whole number, 0 or more"),
    Refusal(arguments: ["{}", "--skip=-1"], status: 64, error: "--skip must be a whole number, 0 or more"),
    Refusal(
      arguments: ["{}", "--limit", "x"], status: 64, error: "The value 'x' is invalid for '--limit <limit>'"),
    Refusal(
      arguments: ["{}", "--format", "xml"], status: 64,
      error:
        "The value 'xml' is invalid for '--format <format>'. Please provide one of the following:"
    ),
  ]

  @Test(arguments: refused) func refuses(_ c: Refusal) throws {
    let space = try Workspace(Workspace.people)
    let result = try space.run(Built.cdtquery, ["find", "people/contacts"] + c.arguments)
    let first = result.errors.split(separator: "\n").first.map(String.init)
    #expect(first == "cdtquery: \(c.error)")
    #expect(result.status == c.status)
    #expect(result.output == "")
  }

  @Test(arguments: [
    "age:DESC", "age:descending", "age:-1", "age desc", "age: desc", "AGE:Asc", "a,b", "[\"age\"]",
    " age",
  ])
  func `arguments that look like a direction, fields or JSON are not fields`(_ word: String) throws {
    let space = try Workspace(Workspace.people)
    let made = try space.run("index", "create", "people/contacts", word)
    #expect(made.status == 65)
    #expect(made.errors.contains("; a field of that name is written \"\(word):asc\""), "\(made.errors)")
    #expect(try space.run("index", "create", "people/contacts", "\(word):asc").status == 0)
    if !word.contains(","), !word.hasPrefix(" ") {
      #expect(try space.run("find", "people/contacts", "{}", "--sort", word).status == 65)
    }
  }

  /// Queries that find nothing, and what is said about them.
  static let hints = [
    (query: #"{"agee": 7}"#, hint: #"no document has the field "agee"; did you mean "age"?"#),
    (query: #"{"age": 7, "zzz.b": 1}"#, hint: #"no document has the field "zzz.b""#),
    (
      query: #"{"age": {"gt": 5}}"#,
      hint: #"no document has the field "age.gt"; the operator is written "$gt""#
    ),
    (
      query: #"{"pet.name": "x"}"#,
      hint: #"no document has the field "pet.name", but there is one with a dot in its name; write pet\.name"#
    ),
    (query: #"{"tags": {"$elemMatch": {"n": 1}}}"#, hint: #"no document has the field "tags.n""#),
    (query: #"{"age": 99}"#, hint: ""), (query: #"{"zzz": {"$ne": 1}, "age": 99}"#, hint: ""),
    (query: #"{"_id": "nobody", "_rev": "x"}"#, hint: ""),
  ]

  @Test(arguments: hints) func `a query for a field that no document has gets a hint`(
    _ c: (query: String, hint: String)
  ) throws {
    let space = try Workspace(Workspace.people + "{\"pet.name\":\"Tom\",\"tags\":[{\"m\":1}]}\n")
    for form in [["find"], ["count"], ["find", "--ids"], ["find", "--count"]] {
      let result = try space.run(Built.cdtquery, [form[0], "people/contacts", c.query] + form.dropFirst())
      #expect(result.errors == (c.hint.isEmpty ? "" : "cdtquery: \(c.hint)\n"), "\(form)")
      #expect(result.status == 0)
    }
  }

  /// Queries for values that the documents have in another type, and what is said about them.
  static let typeHints = [
    (
      query: #"{"zip": ["04103", "2542"]}"#,
      hint:
        #"the query needs an array in "zip", which is a string, such as "04103"; did you mean {"$in":["04103","2542"]}?"#
    ),
    (
      query: #"{"zip": {"$eq": {"$oid": "04103"}}}"#,
      hint:
        #"the query needs an object in "zip", which is a string, such as "04103"; an id is a string; write it without "$oid""#
    ),
    (
      query: #"{"zip": {"$in": [{"$date": "x"}, {"$date": "y"}]}}"#,
      hint:
        #"the query needs an object in "zip", which is a string, such as "04103"; a date is a string, such as "2026-08-01T00:00:00Z"; write it without "$date""#
    ),
    (query: #"{"zip": {"a": 1}}"#, hint: #"no document has the field "zip.a""#),
    (
      query: #"{"zip": {"$gt": 9000}}"#,
      hint:
        #"the query needs a number in "zip", which is a string, such as "04103"; did you mean "9000"?"#
    ),
    (query: #"{"zip": {"$gt": "1"}}"#, hint: ""), (query: #"{"n": {"$gt": 1}}"#, hint: ""),
    (query: #"{"title": {"$gt": 2000}}"#, hint: ""),
    (
      query: #"{"title": "1984"}"#,
      hint: #"some documents have the number 1984 in "title"; did you mean 1984?"#
    ),
    (query: #"{"title": "1985"}"#, hint: ""), (query: #"{"title": "Emma", "n": 1}"#, hint: ""),
    (
      query: #"{"title": {"$regex": "/dune/i"}}"#,
      hint:
        #"the slashes of "/dune/i" are a part of the pattern; without them it is {"$regex":"dune","$options":"i"}"#
    ),
    (query: #"{"title": {"$regex": "/dune/x/y z"}}"#, hint: ""),
    (
      query: #"{"v": {"$near": {"$vector": [1, 2]}}}"#,
      hint: #"the "$vector" has 2 numbers, and "v" has 3; use a vector of the same model"#
    ),
    (query: #"{"v": {"$near": {"$vector": [1, 2, 3], "$maxDistance": -1}}}"#, hint: ""),
    (
      query: #"{"zip": {"$geoWithin": {"$box": [[0, 0], [1, 1]]}}}"#,
      hint: #"the query needs an array or an object in "zip", which is a string, such as "04103""#
    ),
  ]

  @Test(arguments: typeHints) func `a query for values of another type gets a hint`(
    _ c: (query: String, hint: String)
  ) throws {
    let space = try Workspace(
      """
      {"_id":"a","zip":"04103","title":"Dune","n":1}
      {"_id":"b","zip":"2542","title":1984,"n":2,"v":[0,1,2]}
      {"_id":"c","zip":"99999","title":"Emma","n":"3"}

      """)
    for form in [["find"], ["count"], ["find", "--ids"], ["find", "--sort", "n", "--skip", "1"]] {
      let result = try space.run(Built.cdtquery, [form[0], "people/contacts", c.query] + form.dropFirst())
      #expect(result.errors == (c.hint.isEmpty ? "" : "cdtquery: \(c.hint)\n"), "\(form)")
      #expect(result.status == 0)
    }
  }

  @Test func `fields that no document has get a hint in a sort and a list of fields, too`() throws {
    let space = try Workspace(Workspace.people)
    let hint = "cdtquery: no document has the field \"agee\"; did you mean \"age\"?\n"
    for options in [
      ["--sort", "agee"], ["--include", "x=agee[]"], ["--fields", "name,agee"],
      ["--sort", "agee", "--explain"],
    ] {
      let result = try space.run(Built.cdtquery, ["find", "people/contacts", "{}"] + options)
      #expect(result.errors == hint, "\(options)")
      #expect(result.status == 0)
    }
    let known = try space.run("find", "people/contacts", "{}", "--sort", "age", "--fields", "name,_rev")
    #expect(known.errors == "")
    let json = try space.run("find", "people/contacts", "--fields", #"["name"]"#)
    #expect(json.status == 64)
    #expect(json.errors.contains("write the names of fields, as in name,pet.species"))
  }

  @Test func `a message quotes a part of what is long`() throws {
    let space = try Workspace(Workspace.people)
    let long = String(repeating: "x", count: 2_000_000)
    for selector in [#"{"a": {"$\#(long)": 1}}"#, #"{"$\#(long)": 1}"#] {
      let result = try space.run("find", "people/contacts", "-", input: selector)
      #expect(result.status == 65)
      #expect(result.errors.utf8.count < 3_000)
    }
  }

  @Test func `an empty store and a query that finds something get no hint`() throws {
    let space = try Workspace("")
    #expect(try space.run("find", "people/contacts", #"{"a": 1}"#).errors == "")
    try space.run("import", "people/contacts", input: Workspace.people)
    #expect(try space.run("find", "people/contacts", #"{"$or": [{"agee": 1}, {"age": 7}]}"#).errors == "")
  }

  /// What is malformed, in whatever form it is asked.
  static let malformed: [(query: String, code: String, error: String)] = [
    (#"{"fields": ["a"]}"#, "invalidRequest", "selector: a request needs a selector; …"),
    (#"{"selector": true}"#, "invalidSelector", "selector: a selector is an object such as …, not a boolean"),
    (#"{"selector": {}, "limit": "3"}"#, "invalidRequest", "limit: …"),
    (#"{"x": {"$not": {}}}"#, "invalidSelector", "x.$not: {} has no condition; …"),
    (
      #"{"selector": {"age": 7}, "use_index": "no"}"#, "unknownIndex",
      #"use_index: there is no index "no"; there are "by_age""#
    ),
  ]

  @Test(arguments: malformed.indices) func `malformed options are refused in every form`(_ number: Int) throws
  {
    let (query, code, error) = Self.malformed[number]
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "age", "--name", "by_age")
    for form in [
      ["find", query], ["find", query, "--count"], ["find", query, "--ids"], ["find", query, "--explain"],
      ["count", query], ["explain", query],
    ] {
      let arguments = [form[0], "people/contacts"] + form.dropFirst()
      let result = try space.run(Built.cdtquery, arguments)
      #expect(Examples.matches(result.errors, "cdtquery: \(error)"), "\(form): \(result.errors)")
      #expect(result.status == 65, "\(form)")
      #expect(result.output == "", "\(form)")
    }
    let batch = try space.run(
      "find", "people/contacts", "--batch", "-", input: query + "\n{\"age\": 99}\n")
    #expect(
      Examples.matches(batch.output, "{\"error\":\"\(code)\",\"reason\":\"…\n{\"docs\":[]}"),
      "\(batch.output)")
    #expect(batch.status == 0)
  }

  @Test func `a table lines up in every script`() throws {
    let space = try Workspace(
      """
      {"_id":"1","s":"山田","t":"|"}
      {"_id":"2","s":"e\u{301}","t":"|"}
      {"_id":"3","s":"🇨🇭 👩‍👩‍👧","t":"|"}
      {"_id":"4","s":"\\u001b[2J\\n\\t","t":"|"}
      {"_id":"5","s":[1,{"a":null}],"t":"|"}
      {"_id":"6","t":"|"}

      """)
    let result = try space.run(
      "find", "people/contacts", "{}", "--sort", "_id", "--format", "table")
    let cells = result.lines.map {
      $0.split(separator: "  ", maxSplits: 2).last.map { $0.drop { $0 == " " } } ?? ""
    }
    #expect(
      cells == [
        "s               t", "──────────────  ─", "山田            |", "e\u{301}               |",
        "🇨🇭 👩‍👩‍👧           |", "[2J            |", "[1,{\"a\":null}]  |", "|",
      ])
  }

  @Test func `a long cell is cut in a table, and only there`() throws {
    let long = String(repeating: "山", count: 50)
    let space = try Workspace("{\"_id\":\"1\",\"s\":\"\(long)\"}\n")
    #expect(
      try space.run("find", "people/contacts", "{}", "--format", "table").lines.last?
        .hasSuffix("  " + String(repeating: "山", count: 19) + "…") == true)
    #expect(try space.run("find", "people/contacts", "{}", "--format", "csv").output.contains(long))
  }

  @Test func `count counts, of everything without a selector`() throws {
    let space = try Workspace(Workspace.people)
    #expect(try space.run("count", "people/contacts").output == "3\n")
    #expect(try space.run("count", "people/contacts", #"{"age": {"$gt": 7}}"#).output == "2\n")
    #expect(try space.run("count", "people/contacts", #"{"$x": 7}"#).status == 65)
  }

  @Test func `a search without a text index is told the command that makes one`() throws {
    let result = try Workspace("{}\n").run("find", "people/contacts", #"{"$text": {"$search": "cat"}}"#)
    #expect(result.status == 65)
    #expect(
      result.errors
        == #"cdtquery: $text: "$text" needs a text index, and the datastore has none; create an index of type text: "#
        + "cdtquery index create STORE FIELD… --type text\n")
  }

  @Test func `explain gives a tree, and data, and a command that makes a better index`() throws {
    let space = try Workspace("{\"it's:desc\":1}\n")
    let tree = try space.run("explain", "people/contacts", #"{"it's:desc": 1}"#)
    #expect(tree.lines.first == "every document")
    #expect(tree.lines.last?.contains("SELECT") == true || tree.output.contains("└ SQL: SELECT"))
    let data = try space.run("explain", "people/contacts", #"{"it's:desc": 1}"#, "--format", "json")
    let json = try JSONValue(parsing: data.output)
    #expect(json["source"] == "every document")
    let command = try #require(json["suggestedIndex"]?.stringValue)
    #expect(try space.shell(command).status == 0)
    let list = try JSONValue(parsing: try space.run("index", "list", "people/contacts").output)
    #expect(list["fields"] == ["it's:desc"])
  }

  @Test(arguments: [
    (#"{"v": {"$near": {"$vector": [1, 0]}}}"#, "--vector 2 people/contacts v", "vector"),
    (
      #"{"at": {"$near": {"$geometry": {"type": "Point", "coordinates": [8, 47]}}}}"#,
      "--place people/contacts at", "place"
    ),
    (
      #"{"at": {"$geoWithin": {"$box": [[7, 46], [9, 48]]}}, "city": "Chur", "age": {"$gt": 1}}"#,
      "--place people/contacts city at", "place"
    ),
    (#"{"v": {"$near": {"$vector": [1, 0]}}, "city": "Chur"}"#, "people/contacts city", "json"),
  ])
  func `explain proposes an index of distances`(_ selector: String, _ index: String, _ type: String) throws {
    let space = try Workspace("{\"v\":[1,2],\"at\":[8,47],\"city\":\"Chur\"}\n")
    func proposal() throws -> JSONValue? {
      let data = try space.run("explain", "people/contacts", selector, "--format", "json")
      return try JSONValue(parsing: data.output)["suggestedIndex"]
    }
    #expect(try proposal() == .string("cdtquery index create \(index)"))
    #expect(try space.shell("cdtquery index create \(index)").status == 0)
    #expect(try proposal() == .null)
    let list = try JSONValue(parsing: try space.run("index", "list", "people/contacts").output)
    #expect(list["type"] == .string(type))
  }

  @Test func `a vector that no index answers gets no proposal`() throws {
    let space = try Workspace("{\"v\":[1,2]}\n")
    let selector = #"{"v": {"$near": {"$vector": [0, 0], "$metric": "dot"}}}"#
    let data = try space.run("explain", "people/contacts", selector, "--format", "json").output
    #expect(try JSONValue(parsing: data)["suggestedIndex"] == .null)
  }
}
