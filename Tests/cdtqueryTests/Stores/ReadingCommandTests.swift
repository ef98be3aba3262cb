import CDTJSON
import CDTTestSupport
import Testing

/// The law of reading for commands with `--as` and for the tools of `mcp --as`: each prints what it prints of a store that has only the visible
/// documents.
@Suite struct ReadingCommandTests {
  /// The commands that have `--as`, each with arguments to draw from. Empty are those that write, and those whose output is that of the whole
  /// store.
  private static let commands: [String: [[String]]] = [
    "find": [
      ["s/docs", "SELECTOR"], ["s/docs", "SELECTOR", "--ids"], ["s/docs", "SELECTOR", "--count"],
      ["s/docs", "SELECTOR", "--sort", "n:desc", "--limit", "3"], ["s/docs", "SELECTOR", "--format", "csv"],
      ["s/docs", "SELECTOR", "--include", "next=next[]", "--include", "owner=owner"],
      ["s/docs", "SELECTOR", "--fields", "token,n", "--skip", "1"],
    ],
    "explain": [["s/docs", "SELECTOR"], ["s/docs", "SELECTOR", "--sort", "n"]],
    "count": [["s/docs", "SELECTOR"], ["s/docs"]],
    "group": [
      ["s/docs", "SELECTOR", "--by", "type", "--count", "--sum", "n"],
      ["s/docs", "--by", "team[]", "--max", "n"],
    ],
    "distinct": [["s/docs", "owner", "SELECTOR"], ["s/docs", "n"]],
    "describe": [["s/docs"], ["s/docs", "--format", "json"]],
    "sample": [["s/docs", "--seed", "7"], ["s/docs", "SELECTOR", "--seed", "8", "--limit", "2"]],
    "changes": [["s/docs"], ["s/docs", "--limit", "5"]],
    "conflicts": [["s/docs"]],
    "log": [["s/docs", "doc1"], ["s/docs", "doc2"], ["s/docs", "doc3"]],
    "get": [["s/docs", "doc1"], ["s/docs", "doc2"], ["s/docs", "doc3"], ["s/docs", "_design/rules"]],
    "export": [["s/docs"], ["s/docs", "-", "--format", "csv"]],
    "attachment": [["list", "s/docs", "doc1"], ["list", "s/docs", "doc2"]],
    "rules": [["show", "s/docs"]],
    "import": [], "put": [], "update": [], "delete": [], "resolve": [], "replicate": [], "info": [],
    "mcp": [],
  ]

  private static let tools: [String: [JSONObject]] = [
    "list_stores": [[:]], "describe": [["store": "s/docs"]],
    "find": [
      ["store": "s/docs", "selector": ["n": ["$gt": 1]]],
      ["store": "s/docs", "selector": [:], "sort": [["n": "desc"]], "limit": 3],
    ],
    "count": [["store": "s/docs", "selector": ["type": "order"]], ["store": "s/docs"]],
    "group": [["store": "s/docs", "by": ["type"], "aggregates": ["n": ["$count": [:]]]]],
    "get": [["store": "s/docs", "ids": ["doc1", "doc2", "doc3", "doc4"]]],
    "explain": [["store": "s/docs", "selector": ["owner": "bob", "n": ["$gt": 1]]]],
    "changes": [["store": "s/docs"]], "conflicts": [["store": "s/docs"]],
    "distinct": [["store": "s/docs", "field": "owner"]],
  ]

  private static let selectors = [
    "{}", #"{"type":"order"}"#, #"{"n":{"$gte":2}}"#, #"{"owner":"anna"}"#, #"{"owner":{"$ne":"bob"}}"#,
    #"{"team":"bob"}"#, #"{"$or":[{"owner":"bob"},{"n":1}]}"#, #"{"token":{"$regex":"^tk1"}}"#,
    #"{"_id":{"$gt":"doc3"}}"#,
  ]

  private static let rules = #"""
    {"_id":"_design/rules","language":"query","read":[{"roles":["*"],"selector":{"owner":{"$data":"userCtx.name"}}},{"roles":["*"],"selector":{"type":{"$in":{"$data":"userCtx.roles"}}}}]}
    """#

  private static func shows(_ document: JSONObject, _ name: String, _ roles: [String]) -> Bool {
    document["owner"] == .string(name) || roles.contains { document["type"] == .string($0) }
  }

  private static func documents(_ random: inout SeededGenerator) -> [JSONObject] {
    let names: [JSONValue] = ["anna", "bob", "carol"]
    func one(_ values: [JSONValue]) -> JSONValue { values[Int.random(in: values.indices, using: &random)] }
    return (0..<30).map { number in
      [
        "_id": .string("doc\(number)"), "owner": one(names), "type": one(["order", "note", "sales"]),
        "team": [one(names), one(names)], "n": one([0, 1, 2, 3, 4]), "token": .string("tk\(number)z"),
        "next": [.string("doc\(Int.random(in: 0..<30, using: &random))")],
      ]
    }
  }

  private static func space(_ documents: [JSONObject]) throws -> Workspace {
    let space = try Workspace()
    let lines = ([rules] + documents.map(\.text)).joined(separator: "\n")
    #expect(try space.run("import", "s/docs", "-", input: lines).status == 0)
    for field in ["owner", "type", "n"] {
      #expect(try space.run("index", "create", "s/docs", field).status == 0)
    }
    return space
  }

  /// Leaves out what depends on sequences and times.
  private static func plain(_ text: String) -> String {
    text.replacing(#/\\?"(sequence|last_sequence)\\?":\d+,?|"time":"[^"]*",?/#, with: "")
  }

  @Test func `commands as a user print what they print of the visible documents`() throws {
    let seed = testSeed(1)
    var random = SeededGenerator(seed: seed)
    let all = Self.documents(&random)
    let whole = try Self.space(all)
    for (name, roles) in [("anna", []), ("bob", ["order"])] {
      let seen = all.filter { Self.shows($0, name, roles) }
      let only = try Self.space(seen)
      let user = ["--as", name] + (roles.isEmpty ? [] : ["--roles", roles.joined(separator: ",")])
      let hidden = all.filter { !Self.shows($0, name, roles) }.compactMap { $0["token"]?.stringValue }
      func compare(_ arguments: [String], input: String? = nil) throws {
        let run = { (space: Workspace) in
          try space.run(Built.cdtquery, arguments + user, input: input.map { Array($0.utf8) })
        }
        let (found, expected) = (try run(whole), try run(only))
        let place =
          "seed \(seed): \(arguments.joined(separator: " ")) \(user.joined(separator: " ")) \(input ?? "")"
        #expect(found.status == expected.status, "\(place)")
        #expect(Self.plain(found.output) == Self.plain(expected.output), "\(place)")
        #expect(Self.plain(found.errors) == Self.plain(expected.errors), "\(place)")
        #expect(hidden.filter { found.output.contains($0) }.isEmpty, "\(place) prints what is hidden")
      }
      for (command, variants) in Self.commands.sorted(by: { $0.key < $1.key }) {
        for variant in variants {
          let selector = Self.selectors[Int.random(in: Self.selectors.indices, using: &random)]
          try compare([command] + variant.map { $0 == "SELECTOR" ? selector : $0 })
        }
      }
      for (tool, variants) in Self.tools.sorted(by: { $0.key < $1.key }) {
        for arguments in variants {
          let message: JSONObject = [
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": ["name": .string(tool), "arguments": .object(arguments)],
          ]
          try compare(["mcp", "s"], input: message.text + "\n")
        }
      }
    }
  }

  @Test func `every command with the option --as is listed`() throws {
    let space = try Workspace()
    func names(_ help: String) -> [String] {
      help.split(separator: "\n").compactMap {
        $0.firstMatch(of: #/^  ([a-z-]+)( |$)/#).map { String($0.output.1) }
      }
    }
    var found: Set<String> = []
    for command in names(try space.run("--help").output) {
      let help = try space.run(command, "--help").output
      let parts = help.contains("SUBCOMMANDS:") ? names(help) : []
      let texts = try [help] + parts.map { try space.run(command, $0, "--help").output }
      if texts.contains(where: { $0.contains("--as ") }) { found.insert(command) }
    }
    #expect(found == Set(Self.commands.keys))
  }

  @Test func `every reading tool is listed`() throws {
    let space = try Self.space([])
    let list = #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#
    let answer = try JSONObject(parsing: try space.run("mcp", "s", "--as", "anna", input: list + "\n").output)
    let names = answer["result"]?["tools"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
    #expect(Set(names) == Set(Self.tools.keys))
  }
}
