import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// A reader as rules know one.
struct Reader: Sendable {
  let name: String
  let roles: [String]
}

/// A rule of reading, and its meaning written a second time.
struct ReadingRule: Sendable {
  let read: JSONValue
  var more: JSONObject = [:]
  let shows: @Sendable (_ document: JSONValue, Reader) -> Bool

  /// Every reader sees the design documents, so that views can be compared.
  private static let design: JSONValue = ["roles": ["*"], "selector": ["_id": ["$beginsWith": "_design/"]]]

  static let all = [
    ReadingRule(read: [["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]], design]) {
      $0["owner"] == .string($1.name)
    },
    ReadingRule(read: [
      ["roles": ["sales"], "selector": ["type": "order"]],
      ["roles": ["*"], "selector": ["team": ["$elemMatch": ["$eq": ["$data": "userCtx.name"]]]]], design,
    ]) {
      $1.roles.contains("sales") && $0["type"] == "order"
        || $0["team"]?.arrayValue?.contains(.string($1.name)) == true
    },
    ReadingRule(read: [["roles": ["*"], "selector": ["type": ["$in": ["$data": "userCtx.roles"]]]], design]) {
      document, reader in reader.roles.contains { document["type"] == .string($0) }
    },
    ReadingRule(
      read: [["roles": ["*"], "selector": ["$ref": "defs.visible"]], design],
      more: [
        "defs": [
          "visible": [
            "$if": ["type": "order"], "$then": ["n": ["$gte": 3]],
            "$else": ["owner": ["$in": [["$data": "userCtx.name"], "all"]]],
          ]
        ]
      ]
    ) {
      $0["type"] == "order"
        ? ($0["n"]?.intValue ?? 0) >= 3 : $0["owner"] == .string($1.name) || $0["owner"] == "all"
    },
    ReadingRule(read: [
      ["roles": ["x"], "selector": ["n": ["$gt": 2]]],
      ["roles": ["*"], "selector": ["_id": ["$regex": "[05]$"]]],
      ["roles": ["*"], "selector": ["tag": ["$cat": ["for:", ["$data": "userCtx.name"]]]]], design,
    ]) {
      let id = $0["_id"]?.stringValue ?? ""
      return $1.roles.contains("x") && ($0["n"]?.intValue ?? 0) > 2 || id.hasSuffix("0") || id.hasSuffix("5")
        || $0["tag"] == .string("for:\($1.name)")
    },
  ]
}

/// A database whose documents, rules, roles and members change at random.
struct RuleHistory {
  let site: RuleSite
  var random: SeededGenerator
  private(set) var rule = ReadingRule.all[0]
  private var roles: [String: [String]] = [:]
  private var members: JSONValue = ["names": [], "roles": []]
  private var revisions: [String: String] = [:]
  private var words = 0

  static let ids = (0..<18).map { "doc\($0)" }

  init(site: RuleSite, random: SeededGenerator) {
    (self.site, self.random) = (site, random)
  }

  func reader(_ name: String) -> Reader { Reader(name: name, roles: roles[name] ?? []) }

  func isMember(_ reader: Reader) -> Bool {
    let (names, roles) = (members["names"]?.arrayValue ?? [], members["roles"]?.arrayValue ?? [])
    return names.isEmpty && roles.isEmpty || names.contains(.string(reader.name))
      || reader.roles.contains { roles.contains(.string($0)) }
  }

  mutating func begin() async throws {
    let views: JSONValue = [
      "language": "query",
      "views": ["sum": ["map": ["fields": ["type": "asc"], "value": "n"], "reduce": "_stats"]],
    ]
    _ = try await site.admin.put("/db/_design/views", views)
    for (name, fields, type) in [
      ("owner", ["owner"], "json"), ("type", ["type", "n"], "json"), ("team", ["team"], "json"),
      ("words", ["text"], "text"),
    ] as [(JSONValue, JSONValue, JSONValue)] {
      _ = try await site.admin.post(
        "/db/_index", ["index": ["fields": fields], "name": name, "ddoc": name, "type": type])
    }
    try await write(count: 40)
  }

  private mutating func one<T>(_ values: [T]) -> T { values[Int.random(in: values.indices, using: &random)] }

  mutating func body() -> JSONObject {
    let names: [JSONValue] = ["anna", "bob", "carol", "all", .null]
    words += 1
    let word = "tk\(words)z"
    var body: JSONObject = [
      "owner": one(names), "type": one(["order", "note", "sales"]), "team": .array([one(names), one(names)]),
      "n": .int(Int64.random(in: 0...6, using: &random)),
      "next": .array((0..<3).map { _ in .string(one(Self.ids)) }), "tag": one(["for:anna", "for:bob"]),
      "text": .string("\(one(["red apples", "green apples and pears", "pears"])) \(word)"),
      "token": .string(word),
    ]
    if Int.random(in: 0..<3, using: &random) == 0 {
      body["_attachments"] = [
        "file.txt": [
          "content_type": "text/plain", "data": .string(Data("\(word) content".utf8).base64EncodedString()),
        ]
      ]
    }
    return body
  }

  /// Creates, changes and deletes documents, and inserts leaves of conflicts, also deleted ones.
  mutating func write(count: Int) async throws {
    for _ in 0..<count {
      let id = one(Self.ids)
      switch Int.random(in: 0..<8, using: &random) {
      case 0 where revisions[id] != nil:
        let rev = revisions.removeValue(forKey: id) ?? ""
        var body = body()
        (body["_deleted"], body["_rev"]) = (true, .string(rev))
        _ = try await site.admin.put("/db/\(id)", .object(body))
      case 1 where revisions[id] != nil:
        var body = body()
        let suffix = String(UInt64.random(in: .min ... .max, using: &random), radix: 16)
        (body["_id"], body["_rev"]) = (.string(id), .string("1-\(suffix)"))
        if Int.random(in: 0..<3, using: &random) == 0 { body["_deleted"] = true }
        _ = try await site.admin.post("/db/_bulk_docs", ["new_edits": false, "docs": [.object(body)]])
      default: revisions[id] = try await site.save(id, body(), after: revisions[id])
      }
    }
  }

  /// Changes documents, and at random rules, roles and members.
  mutating func change(isFirst: Bool) async throws {
    if !isFirst { try await write(count: 12) }
    if isFirst || Int.random(in: 0..<2, using: &random) == 0 {
      rule = one(ReadingRule.all)
      try await site.setRules(rule.read, rule.more)
    }
    for name in ["anna", "bob", "carol"] where isFirst || Int.random(in: 0..<2, using: &random) == 0 {
      let new = ["sales", "x", "order", "note"].filter { _ in Int.random(in: 0..<2, using: &random) == 0 }
      roles[name] = new
      try await site.setRoles(new, of: name)
    }
    members =
      isFirst || Int.random(in: 0..<3, using: &random) > 0
      ? ["names": [], "roles": []] : ["names": ["anna"], "roles": [one(["sales", "x"])]]
    let security: JSONValue = ["admins": ["names": ["owner"], "roles": []], "members": members]
    _ = try await site.admin.put("/db/_security", security)
  }

  /// The revisions in the rows of `_bulk_get`; `nil` for those that are not stored.
  private func revisions(_ rows: [JSONValue], _ parameters: String = "") async throws -> [[JSONValue?]] {
    let reply = try await site.admin.post("/db/_bulk_get\(parameters)", ["docs": .array(rows)]).json
    return (reply["results"]?.arrayValue ?? []).map { ($0["docs"]?.arrayValue ?? []).map { $0["ok"] } }
  }

  /// The documents as they are.
  func state() async throws -> RuleState {
    var state = RuleState(rule: rule)
    let rows = try await site.admin.changes(since: "0", "&include_docs=true").rows
    let ids = rows.map { JSONValue.object(["id": $0["id"] ?? .null]) }
    for (row, leaves) in zip(rows, try await revisions(ids, "?revs=true&attachments=true")) {
      guard let id = row["id"]?.stringValue, let winner = row["doc"] else { continue }
      state.documents.append(RuleState.Document(id: id, winner: winner, leaves: leaves.compactMap(\.self)))
    }
    var histories: [JSONValue] = []
    for document in state.documents where !document.isDesign {
      for leaf in document.leaves {
        let start = leaf["_revisions"]?["start"]?.intValue ?? 0
        for (number, suffix) in (leaf["_revisions"]?["ids"]?.arrayValue ?? []).enumerated() {
          let revision = "\(start - number)-\(suffix.stringValue ?? "")"
          histories.append(["id": .string(document.id), "rev": .string(revision)])
        }
      }
    }
    for (row, found) in zip(histories, try await revisions(histories)) {
      let position = state.documents.firstIndex { $0.id == row["id"]?.stringValue } ?? 0
      state.documents[position].history += found.compactMap(\.self)
      if found.contains(nil) { state.documents[position].hasUnknownHistory = true }
    }
    return state
  }

  /// Opens feeds as a reader, writes meanwhile, and compares the words of what was sent with what the reader sees at any time.
  mutating func follow(as reader: Reader, _ place: String) async throws {
    var states = [try await state()]
    let requests: [(String, JSONValue?)] = [
      ("/db/_changes?feed=continuous&include_docs=true&attachments=true&timeout=400", nil),
      ("/db/_changes?feed=eventsource&include_docs=true&conflicts=true&style=all_docs&timeout=400", nil),
      (
        "/db/_find?feed=continuous&timeout=400",
        ["selector": ["n": ["$gte": 1]], "limit": 100, "include": ["next": "next[]"]]
      ),
      (
        "/db/_find?feed=eventsource&timeout=400",
        ["selector": ["$text": ["$search": "apples"]], "limit": 100]
      ),
    ]
    let (path, json) = one(requests)
    let client = site.user(reader.name)
    var history = self
    var written = 0
    let text = try await client.stream(path, json: json) { read in
      // After the first line that is sent, and after some of what follows.
      guard read.hasSuffix("\n"), written < 3 else { return }
      written += 1
      for _ in 0..<3 {
        try await history.write(count: 1)
        states.append(try await history.state())
      }
    }
    self = history
    let allowed = states.reduce(into: Set<String>()) { $0.formUnion($1.words(seenBy: reader)) }
    let hidden = states.reduce(into: Set<String>()) { $0.formUnion($1.words) }.subtracting(allowed)
    #expect(
      hidden.filter { text.contains($0) }.isEmpty,
      "\(place): \(path) \(json?.text ?? "") sends what is hidden")
  }
}

/// The documents of a database at a moment.
struct RuleState {
  struct Document {
    let id: String
    let winner: JSONValue
    /// With attachments.
    let leaves: [JSONValue]
    /// The revisions that are stored.
    var history: [JSONValue] = []
    var hasUnknownHistory = false

    var isDeleted: Bool { winner["_deleted"] == true }
    var isDesign: Bool { id.hasPrefix("_design/") }
  }

  let rule: ReadingRule
  var documents: [Document] = []

  private func isSeen(_ document: Document, by reader: Reader) -> Bool {
    document.isDesign
      ? true
      : document.isDeleted
        ? document.hasUnknownHistory
          || document.history.contains { $0["_deleted"] != true && rule.shows($0, reader) }
        : rule.shows(document.winner, reader)
  }

  private func leaves(of document: Document, seenBy reader: Reader) -> [JSONValue] {
    document.leaves.filter {
      $0["_deleted"] == true || $0["_rev"] == document.winner["_rev"] || rule.shows($0, reader)
    }
  }

  func winners(seenBy reader: Reader) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: documents.filter { !$0.isDesign && !$0.isDeleted && isSeen($0, by: reader) }.map {
        ($0.id, $0.winner["_rev"]?.stringValue ?? "")
      })
  }

  /// The documents that can be asked for: all but those that were deleted, of which a copy can't have the history.
  func leaves(seenBy reader: Reader) -> [(id: String, revisions: [String])] {
    documents.filter { !$0.isDesign && !$0.isDeleted }.map { document in
      let revisions = isSeen(document, by: reader) ? leaves(of: document, seenBy: reader) : []
      return (document.id, revisions.compactMap { $0["_rev"]?.stringValue } + ["1-abc"])
    }
  }

  /// The words of all revisions.
  var words: Set<String> {
    Set(documents.flatMap { $0.leaves + $0.history }.compactMap { $0["token"]?.stringValue })
  }

  /// The words of the revisions that a reader sees. Stored earlier revisions of a visible document can be read if they match.
  func words(seenBy reader: Reader) -> Set<String> {
    Set(
      documents.filter { !$0.isDeleted && isSeen($0, by: reader) }.flatMap { document in
        (document.leaves + document.history).filter { $0["_deleted"] != true && rule.shows($0, reader) }
      }.compactMap { $0["token"]?.stringValue })
  }

  func hiddenWords(from reader: Reader) -> Set<String> { words.subtracting(words(seenBy: reader)) }

  /// Makes a database with the documents that a reader sees, and with the design documents.
  func copy(to database: String, of history: RuleHistory, seenBy reader: Reader) async throws {
    let admin = history.site.admin
    try await history.site.open(database)
    for document in documents where isSeen(document, by: reader) {
      let leaves = leaves(of: document, seenBy: reader)
      let saved = try await admin.post(
        "/\(database)/_bulk_docs", ["new_edits": false, "docs": .array(leaves)])
      #expect(saved.json == [])
    }
  }
}
