import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import Testing

/// What a user gets from a database is what an admin gets from one that has only the documents that the user sees.
@Suite struct ReadingLawTests {
  private struct Rule: Sendable {
    let read: JSONValue
    let shows: @Sendable (_ document: JSONValue, _ name: String, _ roles: [String]) -> Bool
  }

  /// Every user sees the design documents, so that views can be compared.
  private static let design: JSONValue = ["roles": ["*"], "selector": ["_id": ["$beginsWith": "_design/"]]]

  private static let rules = [
    Rule(read: [["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]], design]) {
      document, name, _ in
      document["owner"] == .string(name)
    },
    Rule(read: [
      ["roles": ["sales"], "selector": ["type": "order"]],
      ["roles": ["*"], "selector": ["team": ["$elemMatch": ["$eq": ["$data": "userCtx.name"]]]]], design,
    ]) { document, name, roles in
      roles.contains("sales") && document["type"] == "order"
        || document["team"]?.arrayValue?.contains(.string(name)) == true
    },
    Rule(read: [
      ["roles": ["x"], "selector": ["n": ["$gt": 2]]],
      ["roles": ["*"], "selector": ["_id": ["$regex": "[05]$"]]], design,
    ]) {
      document, _, roles in
      let id = document["_id"]?.stringValue ?? ""
      return roles.contains("x") && (document["n"]?.intValue ?? 0) > 2 || id.hasSuffix("0")
        || id.hasSuffix("5")
    },
  ]

  private static let ids = (0..<24).map { "doc\($0)" }

  private static func body(_ random: inout SeededGenerator) -> JSONObject {
    let names: [JSONValue] = ["anna", "bob", "carol", "x", .null]
    var body: JSONObject = [:]
    body["owner"] = names.randomElement(using: &random)
    body["type"] = (["order", "note"] as [JSONValue]).randomElement(using: &random)
    body["team"] = .array((0..<2).compactMap { _ in names.randomElement(using: &random) })
    body["n"] = .int(Int64.random(in: 0...6, using: &random))
    body["next"] = .array((0..<3).compactMap { _ in ids.randomElement(using: &random).map { .string($0) } })
    body["text"] = (["red apples", "green apples and pears", "pears"] as [JSONValue]).randomElement(
      using: &random)
    if Int.random(in: 0..<4, using: &random) == 0 {
      body["_attachments"] = [
        "file.txt": [
          "content_type": "text/plain",
          "data": .string(["YQ==", "Yg=="][Int.random(in: 0...1, using: &random)]),
        ]
      ]
    }
    return body
  }

  /// Writes documents with histories, conflicts and deletions.
  private static func fill(_ site: RuleSite, _ random: inout SeededGenerator) async throws {
    let views: JSONValue = [
      "language": "query",
      "views": ["sum": ["map": ["fields": ["type": "asc"], "value": "n"], "reduce": "_stats"]],
    ]
    _ = try await site.admin.put("/db/_design/views", views)
    for (name, index) in [("owner", ["owner"]), ("type", ["type", "n"])] as [(JSONValue, JSONValue)] {
      _ = try await site.admin.post("/db/_index", ["index": ["fields": index], "name": name, "ddoc": name])
    }
    _ = try await site.admin.post(
      "/db/_index", ["index": ["fields": ["text"]], "name": "words", "ddoc": "words", "type": "text"])
    var revisions: [String: String] = [:]
    for _ in 0..<70 {
      let id = ids.randomElement(using: &random) ?? "doc0"
      switch Int.random(in: 0..<8, using: &random) {
      case 0 where revisions[id] != nil:
        _ = try await site.admin.delete("/db/\(id)?rev=\(revisions.removeValue(forKey: id) ?? "")")
      case 1 where revisions[id] != nil:
        var body = body(&random)
        body["_id"] = .string(id)
        body["_rev"] = .string("1-\(String(UInt64.random(in: .min ... .max, using: &random), radix: 16))")
        _ = try await site.admin.post("/db/_bulk_docs", ["new_edits": false, "docs": [.object(body)]])
      default: revisions[id] = try await site.save(id, body(&random), after: revisions[id])
      }
    }
  }

  /// Copies what a user sees to a new database: every leaf that the rule shows, of each document whose winner it shows.
  private static func copy(
    _ site: RuleSite, to target: String, _ shows: (JSONValue) -> Bool
  ) async throws -> [String] {
    try await site.open(target)
    var seen: [String] = []
    for row in try await site.admin.changes(since: "0", "&include_docs=true").rows {
      guard let id = row["id"]?.stringValue, row["deleted"] != true, let winner = row["doc"] else { continue }
      let isDesign = id.hasPrefix("_design/")
      guard isDesign || shows(winner) else { continue }
      let leaves =
        try await site.admin.send(
          "GET", "/db/\(id)?open_revs=all&revs=true&attachments=true",
          headers: [("Accept", "application/json")]
        ).json.arrayValue?.compactMap { $0["ok"] } ?? []
      let shown = leaves.filter {
        isDesign || $0["_rev"] == winner["_rev"] || $0["_deleted"] == true || shows($0)
      }
      let saved = try await site.admin.post(
        "/\(target)/_bulk_docs", ["new_edits": false, "docs": .array(shown)])
      #expect(saved.json == [])
      if !isDesign { seen.append(id) }
    }
    return seen
  }

  private static let gets: [String] = [
    "_all_docs", "_all_docs?include_docs=true&conflicts=true",
    "_all_docs?startkey=%22doc15%22&descending=true",
    "_all_docs?skip=3&limit=4", "_all_docs?startkey=%22doc12%22&endkey=%22doc3%22", "_design_docs",
    "_conflicts", "_fields",
    "_changes", "_changes?style=all_docs&include_docs=true", "_changes?descending=true", "_changes?limit=3",
    "_changes?filter=_design", "_changes?feed=longpoll&timeout=100", "_changes?feed=continuous&timeout=1",
    "_design/views/_view/sum", "_design/views/_view/sum?group=true",
    "_design/views/_view/sum?reduce=false&include_docs=true",
    "_design/views/_view/sum?reduce=false&skip=2&limit=3",
    "_design/views/_view/sum?group=true&key=%22order%22",
    "_results?format=json&request=%7B%22selector%22%3A%7B%7D%2C%22sort%22%3A%5B%22_id%22%5D%7D",
  ]

  private static let finds: [JSONValue] = [
    ["selector": [:], "limit": 100], ["selector": ["type": "order"], "sort": ["type", "n"]],
    ["selector": ["n": ["$gte": 2]], "fields": ["_id", "n"], "conflicts": true],
    ["selector": ["owner": "anna"]],
    ["selector": ["$or": [["owner": "bob"], ["n": 1]]], "skip": 1, "limit": 3, "sort": ["_id"]],
    ["selector": ["owner": ["$exists": true]], "sort": ["owner"], "limit": 4],
    ["selector": [:], "group": ["by": ["type"], "count": true, "sum": ["n"]]],
    ["selector": ["type": "note"], "group": ["by": ["owner"], "max": ["n"]]],
    ["selector": ["$text": ["$search": "apples"]], "snippets": true],
    ["selector": ["_attachments": ["$exists": true]]],
    ["selector": [:], "sort": ["_id"], "limit": 100, "include": ["next": "next[]", "owner": "owner"]],
    ["selector": ["type": "order"], "sort": ["_id"], "limit": 2, "include": ["next": "next.0"]],
  ]

  private static func request(
    _ client: RunningServer, _ path: String, _ json: JSONValue? = nil
  ) async throws -> (status: Int, JSONValue) {
    let reply = if let json { try await client.post(path, json) } else { try await client.get(path) }
    var value = path.contains("feed=continuous") ? JSONValue.array(reply.lines) : reply.json
    if path.contains("_changes"), let all = value["results"]?.arrayValue {
      var object = value.objectValue ?? [:]
      // Tombstones are not documents.
      object["results"] = JSONValue.array(all.filter { $0["deleted"] != true })
      object["pending"] = nil
      value = .object(object)
    } else if case .array(let lines) = value {
      value = JSONValue.array(lines.filter { $0["deleted"] != true && $0["last_seq"] == nil })
    }
    if path.hasSuffix("_find"), json?["sort"] == nil, let documents = value["docs"]?.arrayValue {
      // Their order is that of the plan.
      value = ["docs": .array(documents.sorted { $0.text < $1.text })]
    }
    return (reply.status, value.without(["seq", "last_seq", "update_seq", "bookmark", "warning"]))
  }

  @Test(arguments: 0..<3) func `every endpoint answers as one of the visible documents`(seed: Int)
    async throws
  {
    var random = SeededGenerator(seed: testSeed(UInt64(seed)))
    try await RuleSite.run { site in
      try await site.setRules(Self.rules[seed].read)
      try await Self.fill(site, &random)
      try await Self.compareAll(site, Self.rules[seed], RuleSite.users, "first", seed)
      // Another rule, and other roles.
      let next = Self.rules[(seed + 1) % Self.rules.count]
      try await site.setRules(next.read)
      try await site.setRoles(["x"], of: "anna")
      try await site.setRoles(["sales"], of: "bob")
      let users = RuleSite.users.map { user in
        (user.name, user.name == "anna" ? ["x"] : user.name == "bob" ? ["sales"] : user.roles)
      }
      try await Self.compareAll(site, next, users, "second", seed)
      // Admins of the database see all.
      let all = try await site.admin.get("/db/_all_docs").json
      #expect(try await site.user("owner").get("/db/_all_docs").json == all)
    }
  }

  private static func compareAll(
    _ site: RuleSite, _ rule: Rule, _ users: [(name: String, roles: [String])], _ phase: String, _ seed: Int
  ) async throws {
    for (name, roles) in users.dropFirst(2) {
      let only = "only_\(phase)_\(name)"
      let seen = try await Self.copy(site, to: only) { rule.shows($0, name, roles) }
      let (user, admin) = (site.user(name), site.admin)
      func compare(_ path: String, _ json: JSONValue? = nil) async throws {
        let found = try await Self.request(user, "/db/\(path)", json)
        let expected = try await Self.request(admin, "/\(only)/\(path)", json)
        #expect(found == expected, "seed \(seed), \(name): \(path) \(json?.text ?? "")")
      }
      for path in Self.gets { try await compare(path) }
      for find in Self.finds { try await compare("_find", find) }
      for id in Self.ids {
        for query in ["", "?conflicts=true&revs=true", "?attachments=true", "?deleted_conflicts=true"] {
          if !seen.contains(id) {
            // Others are deleted here, and not known there.
            #expect(try await user.get("/db/\(id)\(query)").status == 404)
          } else {
            try await compare(id + query)
          }
        }
        if seen.contains(id) { try await compare("\(id)/file.txt") }
        #expect(
          try await (user.get("/db/\(id)/file.txt").status == 200)
            == (admin.get("/\(only)/\(id)/file.txt").status == 200))
      }
      let keys: JSONValue = .array(seen.map { .string($0) } + ["unknown"])
      try await compare("_all_docs?include_docs=true", ["keys": keys])
      try await compare("_changes?filter=_doc_ids", ["doc_ids": keys])
      try await compare("_changes?filter=_selector", ["selector": ["type": "order"]])
      try await compare("_bulk_get?revs=true", ["docs": .array((keys.arrayValue ?? []).map { ["id": $0] })])
      let leaves = try await admin.get("/db/_changes?style=all_docs").json["results"]?.arrayValue ?? []
      let known = JSONObject(
        leaves.filter { $0["deleted"] != true && $0["id"] != "_design/access" }.map { row in
          (row["id"]?.stringValue ?? "", .array(row["changes"]?.arrayValue?.compactMap { $0["rev"] } ?? []))
        })
      try await compare("_revs_diff", .object(known))
      try await compare("_missing_revs", .object(known))
    }
  }
}
