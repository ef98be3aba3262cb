import CDTJSON
import CDTTestSupport
import Glibc
import Testing

/// `cdtquery mcp`, with messages as an assistant sends them. `Tests/Clients/test_mcp.py` has the official client.
@Suite struct AssistantTests {
  private let space: Workspace

  init() throws { space = try Workspace(Workspace.people) }

  /// Sends messages to a run that ends after them, and returns its answers by their ids.
  private func answers(to messages: [JSONObject], _ options: String...) throws -> [JSONValue: JSONObject] {
    let input = messages.map { $0.text + "\n" }.joined()
    let result = try space.run(
      Built.cdtquery, ["mcp", "people"] + options, input: Array(input.utf8))
    #expect(result.status == 0 && result.errors == "")
    var answers: [JSONValue: JSONObject] = [:]
    for line in result.lines {
      let answer = try JSONObject(parsing: line)
      let id = try #require(answer["id"])
      #expect(answers.updateValue(answer, forKey: id) == nil, "answered twice: \(id)")
    }
    return answers
  }

  private func message(_ id: JSONValue, _ tool: String, _ arguments: JSONObject) -> JSONObject {
    [
      "jsonrpc": "2.0", "id": id, "method": "tools/call",
      "params": ["name": .string(tool), "arguments": .object(arguments)],
    ]
  }

  /// The text of a tool's answer, and whether it is an error.
  private func text(_ answer: JSONObject?) throws -> (text: String, isError: Bool) {
    let result = try #require(answer?["result"])
    let text = try #require(result["content"]?[0]?["text"]?.stringValue)
    return (text, result["isError"] == true)
  }

  /// Calls a tool, again and again until nothing is left out, and returns its answers.
  private func call(_ tool: String, _ arguments: JSONObject, _ options: [String] = []) throws -> [JSONObject]
  {
    var (arguments, results) = (arguments, [JSONObject]())
    try conversation(options) { input, output in
      repeat {
        try Descriptor.write(message(1, tool, arguments).text + "\n", to: input)
        let answer = try text(try JSONObject(parsing: Descriptor.line(from: output)))
        try #require(!answer.isError, "\(answer.text)")
        let object = try JSONObject(parsing: answer.text)
        results.append(object)
        guard let more = object["more"]?["add"]?.objectValue else { break }
        for (name, value) in more { arguments[name] = value }
      } while results.count < 50
    }
    return results
  }

  // MARK: Reading

  @Test func `answers are those of the commands`() throws {
    let store: JSONValue = "people/contacts"
    let found = try call("find", ["store": store, "selector": ["age": ["$gt": 8]], "sort": ["age"]])
    #expect(found.map(\.text) == [#"{"docs":\#(try documents("zoe", "mike"))}"#])
    #expect(try call("count", ["store": store]).map(\.text) == [#"{"count":3}"#])
    #expect(
      try call("get", ["store": store, "ids": ["ann", "nobody"]]).map(\.text)
        == [#"{"docs":\#(try documents("ann")),"missing":["nobody"]}"#])
    #expect(try call("distinct", ["store": store, "field": "age"]).map(\.text) == [#"{"values":[7,12,36]}"#])
    #expect(
      try call("group", ["store": store, "aggregates": ["total": ["$sum": "age"]]]).map(\.text)
        == [#"{"rows":[{"total":55}]}"#])
    #expect(
      try call("list_stores", [:]).map(\.text) == [
        #"{"stores":[{"store":"people/contacts","documents":3}]}"#
      ])
    #expect(try call("conflicts", ["store": store]).map(\.text) == [#"{"conflicts":[]}"#])
    #expect(try call("changes", ["store": store, "since": 2])[0]["last_sequence"] == 3)
    #expect(
      try call("describe", ["store": store])[0]["fields"]?.arrayValue?.compactMap { $0["path"]?.stringValue }
        .sorted() == [
          "age", "name",
        ])
  }

  @Test func `a directory may end with a slash, and several are served together`() throws {
    try space.run("import", "other/tasks", "-", input: #"{"_id":"a"}"#)
    let result = try space.run(
      Built.cdtquery, ["mcp", "people/", "other"],
      input: Array((message(1, "list_stores", [:]).text + "\n").utf8))
    #expect(
      try text(JSONObject(parsing: result.output)).text
        == #"{"stores":[{"store":"people/contacts","documents":3},{"store":"other/tasks","documents":1}]}"#)
    #expect(try space.run("mcp", "people/contacts").status == 64)
    #expect(try space.run("mcp", "nothing").status == 66)
  }

  private func documents(_ ids: String...) throws -> String {
    let lines = try ids.map { try space.run("get", "people/contacts", $0).lines.joined() }
    return "[\(lines.joined(separator: ","))]"
  }

  @Test func `an object or a number may be written as a string of JSON`() throws {
    let answer = try call("count", ["store": "people/contacts", "selector": #"{"age": 7}"#])
    #expect(answer.map(\.text) == [#"{"count":1}"#])
    let two = try call("find", ["store": "people/contacts", "limit": "2"])
    #expect(two[0]["docs"]?.arrayValue?.count == 2 && two.count == 1)
  }

  @Test func `find includes linked documents and snippets`() throws {
    let lines = (0..<6).map { #"{"_id":"d\#($0)","text":"a cat","to":["p\#($0)","p9"]}"# }
    let linked = (0..<10).map { #"{"_id":"p\#($0)","long":"\#(String(repeating: "x", count: 50))"}"# }
    try space.run("import", "people/links", "-", input: (lines + linked).joined(separator: "\n"))
    try space.run("index", "create", "people/links", "text", "--type", "text")
    let query: JSONObject = [
      "store": "people/links", "selector": ["$text": ["$search": "cat"]], "include": ["to": "to[]"],
      "snippets": true, "fields": ["n"], "sort": ["_id"],
    ]
    let parts = try call("find", query, ["--rows", "4"])
    #expect(parts.count == 2)
    #expect(parts[0]["docs"]?[0]?["_snippets"]?[0]?["text"] == "a cat")
    #expect(
      parts.map { $0["included"]?["to"]?.objectValue?.map(\.key) } == [
        ["p0", "p9", "p1", "p2", "p3"], ["p4", "p9", "p5"],
      ])
    let short = try call("find", query, ["--bytes", "900"])
    let answer = try #require(short.first)
    #expect(answer["notes"]?[0]?.stringValue?.hasSuffix("get returns documents by their ids") == true)
    #expect(answer.text.utf8.count < 1_500)
  }

  @Test func `find returns distances`() throws {
    try space.run(
      "import", "people/ways", "-", input: "{\"_id\":\"e\",\"v\":[1,0]}\n{\"_id\":\"n\",\"v\":[0,2]}\n")
    let query: JSONObject = [
      "store": "people/ways", "selector": ["v": ["$near": ["$vector": [0, 1]]]], "distance": true,
    ]
    let parts = try call("find", query, ["--rows", "1"])
    #expect(parts.map { $0["docs"]?[0]?["_id"] } == ["n", "e"])
    #expect(parts.map { $0["docs"]?[0]?["_distance"] } == [0, 1])
  }

  @Test func `a text search without an index names the tool that creates one`() throws {
    let search: JSONObject = ["store": "people/contacts", "selector": ["$text": ["$search": "x"]]]
    let writing = try text(try answers(to: [message(1, "find", search)], "--write")[1])
    #expect(
      writing.isError
        && writing.text
          == #"$text: "$text" needs a text index, and the datastore has none; create an index of type text: call create_index with {"store":"people/contacts","fields":["FIELD"],"type":"text"}"#
    )
    let reading = try text(try answers(to: [message(1, "find", search)])[1])
    #expect(reading.isError && reading.text.contains("cdtquery index create STORE FIELD… --type text"))
  }

  @Test func `a misspelled field is noted`() throws {
    let answer = try call("find", ["store": "people/contacts", "selector": ["aeg": 7]])
    #expect(answer[0]["notes"] == [#"no document has the field "aeg"; did you mean "age"?"#])
  }

  @Test func `a proposed index is the command of the user, or with --write a call of a tool`() throws {
    let query: JSONObject = ["store": "people/contacts", "selector": ["age": 7]]
    #expect(
      try call("explain", query)[0]["suggestedIndex"] == [
        "command": "cdtquery index create people/contacts age"
      ])
    let proposed = try call("explain", query, ["--write"])[0]["suggestedIndex"]
    #expect(proposed?["tool"] == "create_index")
    let made = try call("create_index", try #require(proposed?["arguments"]?.objectValue), ["--write"])
    #expect(made.map(\.text) == [#"{"name":"age"}"#])
    #expect(try call("explain", query, ["--write"])[0]["source"] == #"index "age": age at one value"#)
    let near: JSONObject = ["store": "people/contacts", "selector": ["v": ["$near": ["$vector": [1, 2]]]]]
    #expect(
      try call("explain", near, ["--write"])[0]["suggestedIndex"]?["arguments"]
        == ["store": "people/contacts", "fields": [["v": "asc"]], "type": "vector", "vector": 2])
  }

  struct Pages: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let arguments: JSONObject
    let rows: String
    let count: Int
    /// Room for less than all of them.
    var bytes = "250"
  }

  @Test(arguments: [
    Pages(
      testDescription: "find", arguments: ["selector": ["n": ["$gte": 0]], "sort": ["n"], "skip": 3],
      rows: "docs",
      count: 37),
    Pages(testDescription: "find", arguments: ["limit": 17], rows: "docs", count: 17),
    Pages(
      testDescription: "group", arguments: ["by": ["n"], "aggregates": ["c": ["$count": [:]]], "limit": 30],
      rows: "rows", count: 30),
    Pages(testDescription: "distinct", arguments: ["field": "n"], rows: "values", count: 40, bytes: "50"),
    Pages(testDescription: "changes", arguments: [:], rows: "changes", count: 40),
    Pages(testDescription: "changes", arguments: ["limit": 20], rows: "changes", count: 20),
    Pages(testDescription: "describe", arguments: [:], rows: "fields", count: 10),
  ])
  func `an answer is bounded, and says how to ask for the rest`(_ pages: Pages) throws {
    let others = (0..<8).map { #","f\#($0)":0"# }.joined()
    let lines = (0..<40).map {
      #"{"_id":"d\#($0)","n":\#($0),"long":"\#(String(repeating: "x", count: $0))"\#(others)}"#
    }
    try space.run("import", "people/numbers", "-", input: lines.joined(separator: "\n"))
    var arguments = pages.arguments
    arguments["store"] = "people/numbers"
    let whole = try call(pages.testDescription, arguments)
    #expect(whole.count == 1 && whole[0]["more"] == nil)
    for options in [["--rows", "7"], ["--bytes", pages.bytes], ["--rows", "1"]] {
      let parts = try call(pages.testDescription, arguments, options)
      #expect(parts.count > 1)
      let rows = parts.flatMap { $0[pages.rows]?.arrayValue ?? [] }
      #expect(rows.count == pages.count)
      #expect(.array(rows) == whole[0][pages.rows])
    }
  }

  @Test func `the documents of many ids come in parts`() throws {
    let lines = (0..<40).map { #"{"_id":"d\#($0)","n":\#($0)}"# }
    try space.run("import", "people/numbers", "-", input: lines.joined(separator: "\n"))
    let ids = (0..<40).map { JSONValue.string("d\($0)") }
    let arguments: JSONObject = ["store": "people/numbers", "ids": .array(ids + ["none"])]
    let parts = try call("get", arguments, ["--bytes", "200"])
    #expect(parts.count > 5)
    #expect(parts.flatMap { $0["docs"]?.arrayValue ?? [] }.map { $0["_id"] } == ids)
    #expect(parts.last?["missing"] == ["none"])
    for wanted in [ids, ids.map { .string("no \($0.text)") }] {
      let few = try call("get", ["store": "people/numbers", "ids": .array(wanted)], ["--rows", "15"])
      let counts = few.map { ($0["docs"]?.arrayValue ?? []).count + ($0["missing"]?.arrayValue ?? []).count }
      #expect(counts == [15, 15, 10])
      #expect(few[0]["more"]?["left_out"] == "25 of 40")
    }
  }

  @Test func `stores come in parts, and one that can't be read does not hide the others`() throws {
    for name in ["a", "b", "c", "d"] {
      try space.run("import", "people/\(name)", "-", input: #"{"_id":"x"}"#)
    }
    try space.run("import", "gone/x", "-", input: #"{"_id":"x"}"#)
    try space.run("import", "outside/secret", "-", input: #"{"_id":"x"}"#)
    try space.shell("ln -s ../outside/secret people/link")
    let parts = try call("list_stores", [:], ["--rows", "2"])
    #expect(
      parts.flatMap { $0["stores"]?.arrayValue ?? [] }.compactMap { $0["store"]?.stringValue } == [
        "people/a", "people/b", "people/c", "people/contacts", "people/d",
      ])
    let link = message(1, "count", ["store": "people/link"])
    #expect(try text(try answers(to: [link])[1]).text.contains("list_stores lists the stores"))
    try conversation(["gone"]) { input, output in
      try Descriptor.write(message(1, "count", ["store": "gone/x"]).text + "\n", to: input)
      #expect(try text(JSONObject(parsing: Descriptor.line(from: output))).text == #"{"count":1}"#)
      try space.shell("rm -r gone")
      try Descriptor.write(message(2, "count", ["store": "people/a"]).text + "\n", to: input)
      #expect(try text(JSONObject(parsing: Descriptor.line(from: output))).text == #"{"count":1}"#)
      try Descriptor.write(message(3, "list_stores", [:]).text + "\n", to: input)
      let stores = try text(JSONObject(parsing: Descriptor.line(from: output))).text
      #expect(stores.contains(#"{"store":"gone","error":"there is no directory gone any more"}"#))
    }
    #expect(try space.run("mcp", "people", "--rows", "9223372036854775807").status == 64)
  }

  @Test func `a document that is too long is without its long members`() throws {
    let long = String(repeating: "x", count: 5_000)
    try space.run("import", "people/long", "-", input: #"{"_id":"a","long":"\#(long)","n":1}"#)
    let answer = try call("find", ["store": "people/long"], ["--bytes", "1000"])
    #expect(answer[0]["docs"]?[0]?["n"] == 1)
    #expect(answer[0]["docs"]?[0]?["long"]?.stringValue == String(repeating: "x", count: 125) + "…")
    #expect(answer[0]["notes"]?[0]?.stringValue?.contains("find returns single fields") == true)
    let distinct = try call("distinct", ["store": "people/long", "field": "long"], ["--bytes", "1000"])
    #expect(distinct[0]["values"]?[0]?.stringValue?.hasSuffix("x…") == true)
  }

  // MARK: Errors

  static let refusals: [(String, JSONObject, String)] = [
    ("find", [:], #"find needs the argument "store""#),
    (
      "find", ["store": "people/contacts", "selektor": [:]],
      #"find has no argument "selektor" (did you mean "selector"?)"#
    ),
    (
      "find", ["store": "people/contacts", "filter": [:]],
      #"find has no argument "filter" (did you mean "selector"?)"#
    ),
    (
      "delete", ["store": "people/contacts", "selector": [:]],
      #"delete has no argument "selector" (did you mean "matching"?)"#
    ),
    ("find", ["store": "people/contacts", "limit": "x7"], #"limit must be a whole number, not "x7""#),
    ("find", ["store": "people/contacts", "limit": -1], #""limit" must be a whole number"#),
    ("find", ["store": "people/contacts", "selector": ["age": ["$gtt": 1]]], #"(did you mean "$gt"?)"#),
    ("find", ["store": "people/contacts", "selector": "age"], #"selector must be an object, not "age""#),
    (
      "find", ["store": "people/contacts", "fields": [1]], "fields must be an array of strings, not [1]"
    ),
    ("find", ["store": "people/contacts", "use_index": "x"], #"there is no index "x""#),
    ("find", ["store": "people/contacts", "bookmark": "x"], "bookmark"),
    ("count", ["store": "people/../people/contacts"], "list_stores lists the stores"),
    ("count", ["store": "other/secrets"], #"there is no store "other/secrets""#),
    ("count", ["store": ""], "list_stores lists the stores"),
    ("count", ["store": "contacts"], #"there is no store "contacts" (did you mean "people/contacts"?)"#),
    ("count", ["store": "people/contcats"], #"(did you mean "people/contacts"?)"#),
    (
      "update", ["store": "people/contacts", "selector": [:], "rename": ["age": 1]],
      #"the new name of "age" must be a string, as in {"stat": "state"}"#
    ),
    ("distinct", ["store": "people/contacts", "field": "a..b"], "a..b"),
    ("group", ["store": "people/contacts", "aggregates": ["n": ["$summ": "age"]]], "$summ"),
    ("get", ["store": "people/contacts", "ids": ["mike"], "rev": "x"], #""x" is not a revision id"#),
    ("changes", ["store": "people/contacts", "since": 9_999], "start again from 0"),
    ("put", ["store": "people/contacts", "document": ["_id": "mike"]], "add its current _rev"),
    ("put", ["store": "people/contacts", "document": ["_rev": "1-a"]], "add _id"),
    ("put", ["store": "people/new", "document": [:]], "there is no store"),
    ("update", ["store": "people/contacts", "selector": [:]], "nothing is to be changed"),
    (
      "update", ["store": "people/contacts", "selector": [:], "increment": ["name": 1]],
      "the field is a string"
    ),
    ("delete", ["store": "people/contacts"], "give ids, or matching"),
    ("delete", ["store": "people/contacts", "ids": ["mike", "nobody"]], "nobody"),
    ("create_index", ["store": "people/contacts", "fields": []], "field"),
  ]

  @Test func `wrong arguments are refused with the remedy`() throws {
    try space.run("import", "other/secrets", "-", input: #"{"_id":"a"}"#)
    let messages = Self.refusals.enumerated().map { message(.int(Int64($0)), $1.0, $1.1) }
    let answers = try answers(to: messages, "--write")
    #expect(answers.count == messages.count)
    for (number, refusal) in Self.refusals.enumerated() {
      let answer = try text(answers[.int(Int64(number))])
      #expect(answer.isError && answer.text.contains(refusal.2), "\(refusal): \(answer.text)")
    }
    #expect(try call("count", ["store": "people/contacts"]).map(\.text) == [#"{"count":3}"#])
  }

  @Test func `tools write only with --write`() throws {
    let put = message(1, "put", ["store": "people/contacts", "document": ["_id": "eve"]])
    let answer = try answers(to: [put])[1]
    #expect(answer?["error"]?["code"] == -32_602)
    #expect(answer?["error"]?["message"]?.stringValue?.contains("cdtquery mcp --write") == true)
    let saved = try call(
      "put", ["store": "people/contacts", "document": ["_id": "eve", "age": 1]], ["--write"])
    #expect(try space.run("get", "people/contacts", "eve").output.contains(saved[0]["_rev"]?.text ?? "-"))
    let change: JSONObject = [
      "store": "people/contacts", "selector": ["age": ["$lt": 10]], "set": ["pet.name": "Flo"],
    ]
    var counted = change
    counted["dry_run"] = true
    #expect(try call("update", counted, ["--write"]).map(\.text) == [#"{"would_be_updated":2}"#])
    #expect(try call("update", change, ["--write"]).map(\.text) == [#"{"updated":2}"#])
    #expect(try space.run("count", "people/contacts", #"{"pet.name":"Flo"}"#).output == "2\n")
    let renaming: JSONObject = [
      "store": "people/contacts", "selector": [:], "rename": ["pet.name": "pet.called", "none": "x"],
    ]
    #expect(try call("update", renaming, ["--write"]).map(\.text) == [#"{"updated":2}"#])
    #expect(try space.run("count", "people/contacts", #"{"pet.called":"Flo"}"#).output == "2\n")
    #expect(
      try call("delete", ["store": "people/contacts", "matching": ["pet.called": "Flo"]], ["--write"]).map(
        \.text)
        == [#"{"deleted":2}"#])
    #expect(
      try call("delete", ["store": "people/contacts", "ids": ["mike"]], ["--write"]).map(\.text) == [
        #"{"deleted":1}"#
      ])
    #expect(try space.run("count", "people/contacts").output == "1\n")
  }

  @Test func `a user sees and changes what the rules allow`() throws {
    try space.write(
      #"{"_id":"_design/rules","language":"query","validate_doc_update":{"newDoc.age":{"$lt":50}},"read":[{"roles":["*"],"selector":{"age":{"$lt":20}}}]}"#,
      to: "rules.json")
    let put = try space.run("put", "people/contacts", "@rules.json")
    #expect(put.status == 0, "\(put.errors)")
    let options = ["--write", "--as", "zoe"]
    #expect(
      try call("count", ["store": "people/contacts", "selector": ["age": ["$gt": 0]]], options).map(\.text)
        == [#"{"count":2}"#])
    let everything: JSONValue = [
      "_id": "_design/all", "language": "query", "read": [["roles": ["*"], "selector": [:]]],
    ]
    let refused: [JSONObject] = [
      message(1, "put", ["store": "people/contacts", "document": ["_id": "old", "age": 99]]),
      message(2, "put", ["store": "people/contacts", "document": everything]),
      message(3, "delete", ["store": "people/contacts", "ids": ["_design/rules"]]),
    ]
    for answer in try answers(to: refused, "--write", "--as", "zoe").values {
      #expect(try text(answer).isError)
    }
    let index = message(1, "create_index", ["store": "people/contacts", "fields": ["age"]])
    #expect(
      try answers(to: [index], "--write", "--as", "zoe")[1]?["error"]?["message"]?.stringValue?.contains(
        "does not see") == true)
    #expect(try call("count", ["store": "people/contacts"], options).map(\.text) == [#"{"count":2}"#])
  }

  // MARK: Messages

  @Test func `each request is answered before the command ends`() throws {
    let wrong = message(1, "find", ["store": "people/contacts", "selector": ["age": ["$gtt": 1]]])
    for _ in 0..<20 { #expect(try answers(to: [wrong]).count == 1) }
  }

  @Test(arguments: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
  func `a version of the protocol is answered with itself`(_ version: String) throws {
    let hello: JSONObject = [
      "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ["protocolVersion": .string(version)],
    ]
    #expect(try answers(to: [hello])[1]?["result"]?["protocolVersion"] == .string(version))
  }

  @Test func `the protocol's own messages are answered`() throws {
    let hello: JSONObject = [
      "jsonrpc": "2.0", "id": "hello", "method": "initialize",
      "params": [
        "protocolVersion": "2025-06-18", "capabilities": [:], "clientInfo": ["name": "t", "version": "1"],
      ],
    ]
    let later: JSONObject = [
      "jsonrpc": "2.0", "id": 2, "method": "initialize", "params": ["protocolVersion": "1999"],
    ]
    let stateless: JSONObject = [
      "jsonrpc": "2.0", "id": 3, "method": "server/discover",
      "params": ["_meta": ["io.modelcontextprotocol/protocolVersion": "2026-07-28"]],
    ]
    let unknown: JSONObject = [
      "jsonrpc": "2.0", "id": 4, "method": "tools/list",
      "params": ["_meta": ["io.modelcontextprotocol/protocolVersion": "2099-01-01"]],
    ]
    let answers = try answers(to: [
      hello, ["jsonrpc": "2.0", "method": "notifications/initialized"], later, stateless, unknown,
      ["jsonrpc": "2.0", "id": 5, "method": "tools/list"],
      ["jsonrpc": "2.0", "id": 6, "method": "resources/list"],
    ])
    #expect(answers.count == 6)
    #expect(answers["hello"]?["result"]?["protocolVersion"] == "2025-06-18")
    #expect(answers[2]?["result"]?["protocolVersion"] == "2025-11-25")
    #expect(answers[3]?["result"]?["supportedVersions"] == ["2026-07-28"])
    #expect(answers[3]?["result"]?["resultType"] == "complete")
    #expect(answers[4]?["error"]?["data"]?["supported"] == ["2026-07-28"])
    #expect(answers[6]?["error"]?["code"] == -32_601)
    let tools = answers[5]?["result"]?["tools"]?.arrayValue ?? []
    #expect(tools.count == 10)
    for tool in tools { #expect(tool["annotations"]?["readOnlyHint"] == true) }
  }

  /// The arguments are those of the commands, with their help.
  @Test func `arguments have the help of the commands' options`() throws {
    let list = try answers(to: [["jsonrpc": "2.0", "id": 1, "method": "tools/list"]], "--write")[1]
    let commands = [
      ["find"], ["count"], ["group"], ["distinct"], ["get"], ["changes"], ["conflicts"], ["update"],
      ["delete"],
      ["index", "create"],
    ]
    let help = try commands.map { try space.run(Built.cdtquery, $0 + ["--help"]).output }.joined()
      .split { $0.isWhitespace }.joined(separator: " ")
    let own = [
      "store", "by", "aggregates", "having", "rev", "document", "rename", "set", "unset", "increment",
      "append", "remove", "sum",
    ]
    var compared = Set<String>()
    for tool in list?["result"]?["tools"]?.arrayValue ?? [] {
      for (name, schema) in tool["inputSchema"]?["properties"]?.objectValue ?? [:] where !own.contains(name) {
        // An example follows, which is JSON here.
        let sentence = try #require(schema["description"]?.stringValue).prefix { ![",", "."].contains($0) }
        #expect(help.contains(sentence) || tool["name"] == "create_index" && name == "fields", "\(name)")
        compared.insert(name)
      }
    }
    #expect(compared.count > 15)
  }

  @Test func `each of 1,000 random messages is answered once, or is a notification`() throws {
    var random = SeededGenerator(seed: 47)
    let tools = [
      "find", "count", "group", "distinct", "get", "explain", "conflicts", "changes", "describe",
      "list_stores", "put", "x",
    ]
    let names = [
      "store", "selector", "sort", "fields", "limit", "skip", "ids", "id", "field", "aggregates", "by",
      "since", "x",
    ]
    func value(_ depth: Int) -> JSONValue {
      switch Int.random(in: 0..<(depth > 3 ? 7 : 9), using: &random) {
      case 0: .null
      case 1: .bool(.random(using: &random))
      case 2: .int(.random(in: -3...200, using: &random))
      case 3: .double(0.5)
      case 4: "people/contacts"
      case 5: .string(names.randomElement(using: &random) ?? "")
      case 6: ["$gt", "$regex", "(", "\u{0}", "1-a", ""].randomElement(using: &random) ?? .null
      case 7: .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth + 1) })
      default: .object(members(depth))
      }
    }
    func members(_ depth: Int) -> JSONObject {
      var object = JSONObject()
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let keys = names + ["$gt", "$or", "$in", "age", "_meta", "progressToken"]
        object[keys.randomElement(using: &random) ?? ""] = value(depth + 1)
      }
      return object
    }
    var (lines, expected) = ([String](), Set<JSONValue>())
    for number in 0..<1_000 {
      let id = JSONValue.int(Int64(number))
      var text: String
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        text = value(0).text
        // A message of its own might have an id.
        if text.hasPrefix("{") { text = "{" }
      case 1: text = JSONObject([("jsonrpc", "2.0"), ("method", value(2)), ("params", value(0))]).text
      case 2:
        text =
          JSONObject([("jsonrpc", "2.0"), ("id", id), ("method", "tools/call"), ("params", value(0))]).text
        expected.insert(id)
      default:
        var arguments = value(0)
        if case .object(var object) = arguments {
          object["store"] = "people/contacts"
          arguments = .object(object)
        }
        let tool = tools.randomElement(using: &random) ?? ""
        let parameters: JSONObject = ["name": .string(tool), "arguments": arguments]
        text =
          JSONObject([
            ("jsonrpc", "2.0"), ("id", id), ("method", "tools/call"), ("params", .object(parameters)),
          ]).text
        expected.insert(id)
      }
      if Int.random(in: 0..<20, using: &random) == 0 {
        text.removeLast(Int.random(in: 1...max(1, text.count / 2), using: &random))
        expected.remove(id)
      }
      lines.append(text.filter { $0 != "\n" })
    }
    let result = try space.run(
      Built.cdtquery, ["mcp", "people", "--query-time", "5"],
      input: Array((lines.joined(separator: "\n")).utf8))
    #expect(result.status == 0 && result.errors == "")
    var answered: [JSONValue: Int] = [:]
    for line in result.lines {
      let answer = try JSONObject(parsing: line)
      #expect((answer["result"] == nil) != (answer["error"] == nil))
      #expect(answer["error"]?["code"] != -32_603, "\(line)")
      if let id = answer["id"], id != .null { answered[id, default: 0] += 1 }
    }
    for id in expected { #expect(answered[id] == 1, "\(lines[id.intValue ?? 0])") }
    #expect(answered.values.allSatisfy { $0 == 1 })
  }

  @Test func `a message that is too long is refused, and the next one is answered`() throws {
    let long = #"{"jsonrpc":"2.0","id":1,"method":"\#(String(repeating: "x", count: 17 << 20))"}"#
    let result = try space.run(
      Built.cdtquery, ["mcp", "people"],
      input: Array("\(long)\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}".utf8))
    #expect(result.lines.count == 2 && result.lines.last == #"{"jsonrpc":"2.0","id":2,"result":{}}"#)
    #expect(result.lines.first?.contains("-32600") == true)
  }

  // MARK: Long calls

  /// A run that goes on, with its input and output.
  private func conversation(
    _ options: [String] = [], talk: (_ input: Int32, _ output: Int32) throws -> Void
  ) throws {
    let (input, output) = (try Pipe(), try Pipe())
    // The program must not have the other ends, too.
    for end in [input.writing, output.reading] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let program = try Program.start(
      Built.cdtquery, ["mcp", "people"] + options, directory: space.directory,
      input: .descriptor(input.reading),
      output: .descriptor(output.writing), errors: .file("/dev/null"))
    close(input.reading)
    close(output.writing)
    defer { close(output.reading) }
    do {
      try talk(input.writing, output.reading)
    } catch {
      close(input.writing)
      throw error
    }
    close(input.writing)
    #expect(try Descriptor.read(from: output.reading) == "")
    #expect(program.wait() == 0)
  }

  /// A call that takes minutes.
  private func slow(_ id: JSONValue, token: JSONValue? = nil) -> JSONObject {
    let patterns = (0..<3_000).map { JSONValue.object(["text": ["$regex": .string("x.*\($0)$")]]) }
    var call = message(id, "count", ["store": "people/slow", "selector": ["$or": .array(patterns)]])
    if let token { call["params"]?["_meta"] = ["progressToken": token] }
    return call
  }

  private func makeSlowStore() throws {
    let lines = (0..<5_000).map { _ in
      #"{"text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#
    }
    try space.run("import", "people/slow", "-", input: lines.joined(separator: "\n"))
  }

  @Test func `a long call reports progress, and ends without an answer when it is cancelled`() throws {
    try makeSlowStore()
    try conversation { input, output in
      try Descriptor.write(slow("slow", token: 7).text + "\n", to: input)
      let progress = try JSONObject(parsing: Descriptor.line(from: output))
      #expect(progress["method"] == "notifications/progress" && progress["params"]?["progressToken"] == 7)
      try Descriptor.write(
        #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}"# + "\n"
          + #"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n", to: input)
      let answer = try Descriptor.read(from: output) { $0.contains(#""id":1,"#) }
      #expect(!answer.contains(#""id":"slow""#))
    }
  }

  @Test func `a call that takes too long ends with the remedy`() throws {
    try makeSlowStore()
    try conversation(["--query-time", "0.2"]) { input, output in
      try Descriptor.write(slow(1).text + "\n", to: input)
      let answer = try text(JSONObject(parsing: Descriptor.line(from: output)))
      #expect(answer.isError && answer.text.contains("took longer than 0.2 s; explain shows"))
    }
  }
}
