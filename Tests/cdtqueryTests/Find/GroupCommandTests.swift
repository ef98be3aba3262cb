import Testing

@Suite struct GroupCommandTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let arguments: [String]
    let output: String
    var errors = ""
    var status: Int32 = 0
  }

  private static let orders = """
    {"_id":"a","city":"Bern","amount":7,"tags":["new","big"]}
    {"_id":"b","city":"Bern","amount":5.5,"tags":["new"]}
    {"_id":"c","city":"Zug","amount":1}

    """

  static let cases = [
    Case(
      testDescription: "every function",
      arguments: [
        "--by", "city", "--count", "n", "--sum", "sum=amount", "--avg", "mean=amount", "--min",
        "least=amount",
        "--max", "most=amount",
      ],
      output: """
        {"city":"Bern","n":2,"sum":12.5,"mean":6.25,"least":5.5,"most":7}
        {"city":"Zug","n":1,"sum":1,"mean":1,"least":1,"most":1}

        """),
    Case(
      testDescription: "a selector, a condition on rows, a sort and a page",
      arguments: [
        #"{"amount": {"$lt": 7}}"#, "--by", "city", "--sum", "sum=amount", "--having",
        #"{"sum": {"$gt": 0}}"#,
        "--sort", "sum:desc", "--limit", "1",
      ], output: #"{"city":"Bern","sum":5.5}"# + "\n"),
    Case(
      testDescription: "elements", arguments: ["--by", "tags", "--unwind", "tags", "--count", "n"],
      output: #"{"tags":"big","n":1}"# + "\n" + #"{"tags":"new","n":2}"# + "\n"),
    Case(
      testDescription: "a table", arguments: ["--by", "city", "--count", "n", "--format", "table"],
      output: "city  n\n────  ─\nBern  2\nZug   1\n"),
    Case(
      testDescription: "no row as CSV",
      arguments: [#"{"amount": 99}"#, "--by", "city", "--count", "n", "--format", "csv"],
      output: "city,n\n"),
    Case(
      testDescription: "a field that no document has", arguments: ["--by", "cty", "--count", "n"],
      output: #"{"n":3}"# + "\n",
      errors: "cdtquery: no document has the field \"cty\"; did you mean \"city\"?\n"),
    Case(
      testDescription: "a function without a name", arguments: ["--by", "city", "--sum", "amount"],
      output: "",
      errors: "cdtquery: --sum amount: give a name and a field, as in total=amount\n", status: 64),
    Case(
      testDescription: "a sort by what is no member", arguments: ["--by", "city", "--sort", "amount"],
      output: "",
      errors: "cdtquery: sort[0]: the rows have no member \"amount\" (they have city)\n", status: 65),
  ]

  @Test(arguments: cases) func groups(_ c: Case) throws {
    let space = try Workspace()
    try space.write(Self.orders, to: "orders.jsonl")
    try space.run("import", "shop/orders", "orders.jsonl")
    for database in ["shop/orders", "orders.jsonl"] {
      let result = try space.run(Built.cdtquery, ["group", database] + c.arguments)
      #expect(result.output == c.output, "\(database)")
      #expect(result.errors == c.errors, "\(database)")
      #expect(result.status == c.status, "\(database)")
    }
  }

  @Test func `a sum of no numbers says so`() throws {
    let space = try Workspace(
      #"{"_id":"a","amount":"900","n":1}"# + "\n" + #"{"_id":"b","amount":"1200","n":0}"#)
    let group = ["group", "people/contacts", "--sum", "total=amount", "--avg", "mean=amount", "--sum", "n=n"]
    let result = try space.run(Built.cdtquery, group)
    #expect(result.output == #"{"total":0,"n":1,"mean":null}"# + "\n")
    #expect(
      result.errors
        == #"cdtquery: no value of "amount" is a number: it is a string, such as "900", which a sum or an average leaves out; tables are imported with --quoted-numbers or --decimal-comma"#
        + "\n")
    #expect(try space.run("group", "people/contacts", "--sum", "n=n").errors == "")
    try space.run("put", "people/arrays", "a", #"{"n":[1,2]}"#)
    #expect(
      try space.run("group", "people/arrays", "--sum", "n=n").errors.contains(
        "it is an array, such as [1,2], which a sum"))
  }

  @Test func `values are printed once`() throws {
    let space = try Workspace()
    try space.write(Self.orders, to: "orders.jsonl")
    try space.run("import", "shop/orders", "orders.jsonl")
    for database in ["shop/orders", "orders.jsonl"] {
      #expect(try space.run(Built.cdtquery, ["distinct", database, "city"]).output == "\"Bern\"\n\"Zug\"\n")
      let result = try space.run(Built.cdtquery, ["distinct", database, "tags", #"{"amount": 7}"#])
      #expect(result.output == "\"big\"\n\"new\"\n")
    }
  }

  @Test func `the plan says whether the index answers alone`() throws {
    let space = try Workspace()
    try space.write(Self.orders, to: "orders.jsonl")
    try space.run("import", "shop/orders", "orders.jsonl")
    try space.run("index", "create", "shop/orders", "city", "amount")
    let plan = try space.run(
      Built.cdtquery, ["group", "shop/orders", "--by", "city", "--sum", "sum=amount", "--explain"])
    #expect(plan.lines.contains("├ groups: from the index alone, in its order"))
    let file = try space.run(Built.cdtquery, ["group", "orders.jsonl", "--by", "city", "--explain"])
    #expect(file.status == 64)
  }
}
