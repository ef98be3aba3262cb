import CDTJSON
import CDTTestSupport

/// The ways in which a client can ask a database: for each route, how its requests are drawn at random.
///
/// ``ReadingDoorTests`` compares the table with the routes of the server, so that a new route gets a line here.
enum ReadingDoor: Sendable {
  /// A reading request, or `nil` if there is none of those drawn.
  case read(@Sendable (inout RequestDraw) -> DrawnRequest)
  /// Answers nothing of documents, or is for admins alone.
  case tellsNothing
  /// Changes documents. `ReadingAttackTests` has what a user may not change.
  case changes

  static let all: [String: ReadingDoor] = [
    "GET /": .tellsNothing, "GET /_up": .tellsNothing, "GET /_uuids": .tellsNothing,
    "GET /_utils": .tellsNothing,
    "GET /_utils/{file}": .tellsNothing, "GET /_session": .tellsNothing, "POST /_session": .tellsNothing,
    "DELETE /_session": .tellsNothing, "GET /_users": .tellsNothing, "PUT /_users": .tellsNothing,
    "POST /_users": .tellsNothing, "GET /_users/_all_docs": .tellsNothing,
    "POST /_users/_all_docs": .tellsNothing,
    "GET /_users/{user}": .tellsNothing, "PUT /_users/{user}": .tellsNothing,
    "DELETE /_users/{user}": .tellsNothing,
    "GET /_all_dbs": .tellsNothing, "GET /_dbs_info": .tellsNothing, "POST /_dbs_info": .tellsNothing,
    "POST /_import": .tellsNothing, "GET /_active_tasks": .tellsNothing, "GET /_metrics": .tellsNothing,
    "GET /_membership": .tellsNothing,
    "GET /_node/{node}": .tellsNothing, "GET /_node/{node}/_stats": .tellsNothing,
    "GET /_node/{node}/_system": .tellsNothing, "GET /_node/{node}/_prometheus": .tellsNothing,
    "GET /_node/{node}/_config": .tellsNothing, "GET /_node/{node}/_config/{section}": .tellsNothing,
    "GET /_node/{node}/_config/{section}/{key}": .tellsNothing,
    "PUT /_node/{node}/_config/{section}/{key}": .tellsNothing,
    "DELETE /_node/{node}/_config/{section}/{key}": .tellsNothing, "GET /_cluster_setup": .tellsNothing,
    "POST /_cluster_setup": .tellsNothing, "POST /_replicate": .tellsNothing,
    "GET /_scheduler/jobs": .tellsNothing,
    "GET /_scheduler/jobs/{job}": .tellsNothing, "GET /_scheduler/docs": .tellsNothing,
    "GET /_scheduler/docs/_replicator": .tellsNothing,
    "GET /_scheduler/docs/_replicator/{document}": .tellsNothing,

    // Its totals are those of the database.
    "GET /{db}": .tellsNothing,
    "PUT /{db}": .tellsNothing, "POST /{db}": .changes, "DELETE /{db}": .tellsNothing,
    "GET /{db}/_security": .tellsNothing, "PUT /{db}/_security": .tellsNothing,
    "GET /{db}/_revs_limit": .tellsNothing, "PUT /{db}/_revs_limit": .tellsNothing,
    "POST /{db}/_compact": .tellsNothing, "POST /{db}/_compact/{ddoc}": .tellsNothing,
    "POST /{db}/_ensure_full_commit": .tellsNothing, "POST /{db}/_view_cleanup": .tellsNothing,

    "GET /{db}/_all_docs": .read { .get("_all_docs" + $0.parameters(of: $0.list())) },
    "POST /{db}/_all_docs": .read { .post("_all_docs", .object($0.list())) },
    "POST /{db}/_all_docs/queries": .read { .post("_all_docs/queries", $0.queries()) },
    "GET /{db}/_design_docs": .read { .get("_design_docs" + $0.parameters(of: $0.list())) },
    "POST /{db}/_design_docs": .read { .post("_design_docs", .object($0.list())) },
    "POST /{db}/_design_docs/queries": .read { .post("_design_docs/queries", $0.queries()) },
    // Local documents are not withheld.
    "GET /{db}/_local_docs": .tellsNothing, "POST /{db}/_local_docs": .tellsNothing,
    "POST /{db}/_local_docs/queries": .tellsNothing, "GET /{db}/_local/{id}": .tellsNothing,
    "PUT /{db}/_local/{id}": .tellsNothing, "DELETE /{db}/_local/{id}": .tellsNothing,
    "COPY /{db}/_local/{id}": .tellsNothing,
    "POST /{db}/_bulk_docs": .changes,
    "POST /{db}/_bulk_get": .read {
      .post("_bulk_get" + $0.flags(["revs", "attachments", "latest"]), $0.bulk())
    },
    "GET /{db}/_changes": .read { $0.changes(isPost: false) },
    "POST /{db}/_changes": .read { $0.changes(isPost: true) },
    "POST /{db}/_revs_diff": .read { .post("_revs_diff", $0.revisions()) },
    "POST /{db}/_missing_revs": .read { .post("_missing_revs", $0.revisions()) },
    "POST /{db}/_find": .read { draw in
      .post(
        "_find\(draw.one(["", "", "?feed=continuous&timeout=20", "?feed=eventsource&timeout=20"]))",
        draw.find())
    },
    "POST /{db}/_explain": .read { .post("_explain" + $0.one(["", "?hints=true"]), $0.find()) },
    "GET /{db}/_results": .read {
      let body = PercentText.encode(
        $0.find(["selector", "sort", "fields", "limit", "skip", "include", "group"]).text)
      return .get("_results?format=\($0.one(["json", "jsonl", "csv"]))&request=\(body)")
    },
    "POST /{db}/_results": .read {
      .post(
        "_results?format=\($0.one(["json", "jsonl", "csv"]))",
        $0.find(["sort", "fields", "limit", "skip", "group"]))
    },
    "GET /{db}/_index": .read { .get("_index" + $0.one(["", "?statistics=true", "?limit=2"])) },
    "POST /{db}/_index": .tellsNothing, "POST /{db}/_index/_bulk_delete": .tellsNothing,
    "POST /{db}/_index/_delete": .tellsNothing, "POST /{db}/_index/_rebuild": .tellsNothing,
    "DELETE /{db}/_index/{ddoc}/{type}/{name}": .tellsNothing,
    "DELETE /{db}/_index/_design/{ddoc}/{type}/{name}": .tellsNothing,
    "GET /{db}/_conflicts": .read { .get("_conflicts" + $0.one(["", "?skip=1", "?limit=1"])) },
    "POST /{db}/_import": .changes,
    "GET /{db}/_backup": .read { _ in .get("_backup") },
    "GET /{db}/_fields": .read { .get("_fields" + $0.one(["", "?limit=5"])) },
    "GET /{db}/_rules": .tellsNothing,
    "GET /{db}/_design/{ddoc}/_view/{view}": .read {
      .get("_design/views/_view/sum" + $0.parameters(of: $0.view()))
    },
    "POST /{db}/_design/{ddoc}/_view/{view}": .read { .post("_design/views/_view/sum", .object($0.view())) },
    "POST /{db}/_design/{ddoc}/_view/{view}/queries": .read {
      .post("_design/views/_view/sum/queries", ["queries": [.object($0.view()), .object($0.view())]])
    },
    "GET /{db}/{id}": .read { $0.document() }, "PUT /{db}/{id}": .changes, "POST /{db}/{id}": .changes,
    "DELETE /{db}/{id}": .changes, "COPY /{db}/{id}": .changes,
    "GET /{db}/{id}/{attachment}": .read {
      .get("\($0.id())/file.txt" + $0.one(["", "?rev=\($0.revision())"]))
    },
    "PUT /{db}/{id}/{attachment}": .changes, "DELETE /{db}/{id}/{attachment}": .changes,
  ]
}

/// A request below a database.
struct DrawnRequest: Sendable, CustomStringConvertible {
  var path: String
  var json: JSONValue?
  var headers: [(String, String)] = []

  static func get(_ path: String, _ headers: [(String, String)] = []) -> DrawnRequest {
    DrawnRequest(path: path, headers: headers)
  }
  static func post(_ path: String, _ json: JSONValue) -> DrawnRequest { DrawnRequest(path: path, json: json) }

  var description: String { "\(path) \(json?.text ?? "")" }
}

enum PercentText {
  static func encode(_ text: String) -> String {
    text.utf8.map { byte in
      let digits = String(byte, radix: 16, uppercase: true)
      return digits.count < 2 ? "%0\(digits)" : "%\(digits)"
    }.joined()
  }
}

/// Draws requests about some documents.
struct RequestDraw: Sendable {
  var random: SeededGenerator
  /// Documents that exist, and whether or not the reader sees them, with the revisions of their leaves.
  var leaves: [(id: String, revisions: [String])]

  mutating func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &random) == 0 }
  mutating func one<T>(_ values: [T]) -> T { values[Int.random(in: values.indices, using: &random)] }
  mutating func number(_ end: Int) -> JSONValue { .int(Int64(Int.random(in: 0..<end, using: &random))) }

  mutating func id() -> String { chance(8) || leaves.isEmpty ? "unknown" : one(leaves).id }
  mutating func revision() -> String {
    leaves.isEmpty ? "1-a" : one(one(leaves).revisions)
  }

  /// Some of the members of a request, each with a probability of one in `part`.
  mutating func some(_ part: Int, _ members: [(String, (inout RequestDraw) -> JSONValue)]) -> JSONObject {
    var object: JSONObject = [:]
    for (name, value) in members where chance(part) { object[name] = value(&self) }
    return object
  }

  /// The parameters of a URL.
  func parameters(of object: JSONObject) -> String {
    let texts = object.map { "\($0.key)=\(PercentText.encode($0.value.text))" }
    return texts.isEmpty ? "" : "?" + texts.joined(separator: "&")
  }

  mutating func flags(_ names: [String]) -> String {
    parameters(of: some(2, names.map { ($0, { _ in true }) }))
  }

  mutating func list() -> JSONObject {
    var object = some(
      4,
      [
        ("include_docs", { _ in true }), ("conflicts", { _ in true }), ("attachments", { _ in true }),
        ("descending", { _ in true }), ("skip", { $0.number(4) }), ("limit", { $0.number(9) }),
        ("inclusive_end", { _ in false }), ("update_seq", { _ in true }),
      ])
    switch Int.random(in: 0..<5, using: &random) {
    case 0: object["startkey"] = .string(id())
    case 1: object["endkey"] = .string(id())
    case 2: object["key"] = .string(id())
    case 3: object["keys"] = .array((0..<4).map { _ in .string(id()) })
    default: break
    }
    return object
  }

  mutating func queries() -> JSONValue { ["queries": [.object(list()), .object(list())]] }

  mutating func bulk() -> JSONValue {
    let rows = (0..<5).map { _ -> JSONValue in
      let leaf = leaves.isEmpty ? (id: "unknown", revisions: ["1-a"]) : one(leaves)
      return chance(2)
        ? ["id": .string(leaf.id)] : ["id": .string(leaf.id), "rev": .string(one(leaf.revisions))]
    }
    return ["docs": .array(rows)]
  }

  func revisions() -> JSONValue {
    .object(JSONObject(leaves.map { ($0.id, .array($0.revisions.map { .string($0) })) }))
  }

  mutating func changes(isPost: Bool) -> DrawnRequest {
    var object = some(
      3,
      [
        ("include_docs", { _ in true }), ("conflicts", { _ in true }), ("attachments", { _ in true }),
        ("limit", { $0.number(9) }), ("descending", { _ in true }), ("seq_interval", { _ in 3 }),
      ])
    var text = chance(3) ? "&style=all_docs" : ""
    text += one(["", "", "&feed=longpoll", "&feed=continuous", "&feed=eventsource"]) + "&timeout=20&since=0"
    var json: JSONValue?
    switch Int.random(in: 0..<4, using: &random) {
    case 0: text += "&filter=_design"
    case 1 where isPost:
      text += "&filter=_doc_ids"
      json = ["doc_ids": .array((0..<5).map { _ in .string(id()) })]
    case 2 where isPost:
      text += "&filter=_selector"
      json = ["selector": selector(), "fields": one([["_id"], ["n", "token"], []])]
    default: break
    }
    if object.isEmpty { object["seq_interval"] = 1 }
    return DrawnRequest(path: "_changes" + parameters(of: object) + text, json: isPost ? json ?? [:] : nil)
  }

  mutating func selector() -> JSONValue {
    let simple: [JSONValue] = [
      [:], ["type": "order"], ["n": ["$gte": 2]], ["n": 1], ["owner": "anna"], ["owner": ["$exists": true]],
      ["team": ["$elemMatch": ["$eq": "bob"]]], ["text": ["$regex": "apples"]],
      ["$text": ["$search": "apples"]],
      ["_attachments": ["$exists": true]], ["_id": ["$gt": "doc3"]], ["owner": ["$ne": "bob"]],
      ["n": ["$in": [0, 3, 5]]], ["token": ["$beginsWith": "tk"]], ["_id": .string(id())],
    ]
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return ["$or": [["type": "order"], one(Array(simple[2...6]))]]
    case 1: return ["$and": [["n": ["$lt": 6]], one(Array(simple[1...7]))]]
    default: return one(simple)
    }
  }

  /// The members of `_find`, each with a value that fits many requests.
  static let findMembers: [(String, @Sendable (inout RequestDraw) -> JSONValue)] = [
    ("selector", { $0.selector() }), ("limit", { .int(Int64($0.one([1, 2, 5, 25, 100]))) }),
    ("skip", { $0.number(3) }),
    (
      "sort",
      { $0.one([["_id"], ["n"], [["n": "desc"]], ["type", "n"], [["owner": "desc"], ["n": "desc"]]]) }
    ),
    ("fields", { $0.one([["_id", "n"], ["team", "token"], ["_id", "_attachments"], []]) }),
    ("use_index", { $0.one(["owner", "type", "words", "team", "nowhere"]) }),
    ("bookmark", { $0.one(["nil", ""]) }), ("execution_stats", { _ in true }), ("conflicts", { _ in true }),
    (
      "group", { $0.one([["by": ["type"], "count": true, "sum": ["n"]], ["by": ["owner"], "max": ["n"]]]) }
    ),
    ("collation", { _ in "unicode" }), ("snippets", { _ in true }), ("distance", { _ in true }),
    (
      "include",
      { $0.one([["next": "next[]", "owner": "owner"], ["next": "next.0"], ["other": "missing"]]) }
    ),
    ("backward", { $0.one([true, false]) }), ("allow_fallback", { $0.one([true, false]) }),
    ("r", { _ in 1 }), ("stable", { _ in false }), ("update", { _ in true }), ("stale", { _ in false }),
    ("partition", { _ in "" }),
  ]

  mutating func find(_ names: Set<String>? = nil) -> JSONValue {
    var object: JSONObject = ["selector": selector()]
    let members = Self.findMembers.filter { names?.contains($0.0) ?? true && $0.0 != "selector" }
    for (name, value) in members where chance(name == "limit" ? 2 : name == "group" ? 10 : 5) {
      object[name] = value(&self)
    }
    return .object(object)
  }

  mutating func view() -> JSONObject {
    some(
      3,
      [
        ("reduce", { _ in false }), ("group", { _ in true }), ("include_docs", { _ in true }),
        ("conflicts", { _ in true }), ("attachments", { _ in true }), ("descending", { _ in true }),
        ("skip", { $0.number(3) }), ("limit", { $0.number(9) }), ("key", { $0.one(["order", "note"]) }),
        ("update_seq", { _ in true }),
      ])
  }

  mutating func document() -> DrawnRequest {
    let leaf = leaves.isEmpty ? (id: "unknown", revisions: ["1-a"]) : one(leaves)
    let flags = flags(["conflicts", "deleted_conflicts", "attachments", "revs", "meta", "latest"])
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .get(leaf.id + "?rev=\(one(leaf.revisions))" + flags.replacing("?", with: "&"))
    case 1:
      return .get(
        leaf.id + "?open_revs=all" + flags.replacing("?", with: "&"), [("Accept", "application/json")])
    default: return .get(leaf.id + flags)
    }
  }
}
