import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import Testing

/// Documents that stop being visible to a user are listed once, without a body.
@Suite struct LeavingTests {
  private static let owned: JSONValue = [
    ["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]
  ]

  private static func ids(_ rows: [JSONValue], removed: Bool) -> [String] {
    rows.filter { ($0["removed"] == true) == removed }.compactMap { $0["id"]?.stringValue }
  }

  @Test func `a document that is edited away is listed once as removed`() async throws {
    try await RuleSite.run { site in
      try await site.setRules(Self.owned)
      let first = try await site.save("a", ["owner": "anna", "secret": "old"])
      try await site.save("b", ["owner": "bob"])
      let anna = site.user("anna")
      let start = try await anna.changes()
      #expect(Self.ids(start.rows, removed: false) == ["a"])
      let second = try await site.save("a", ["owner": "bob", "secret": "new"], after: first)
      let next = try await anna.changes(since: start.last, "&include_docs=true")
      let removed: JSONValue = ["_id": "a", "_rev": .string(second), "_removed": true]
      #expect(next.rows.count == 1)
      #expect(
        next.rows.first?.without(["seq", "revisions"])
          == ["id": "a", "changes": [["rev": .string(second)]], "removed": true, "doc": removed])
      // In no form is there a body: not of the revision with which it left, and not of the one before.
      #expect(try await anna.get("/db/a?rev=\(second)").json == removed)
      let open = try await anna.send(
        "GET", "/db/a?open_revs=%5B%22\(second)%22%5D", headers: [("Accept", "application/json")])
      #expect(open.json == [["ok": removed]])
      let bulk = try await anna.post("/db/_bulk_get", ["docs": [["id": "a", "rev": .string(second)]]])
      #expect(bulk.json == ["results": [["id": "a", "docs": [["ok": removed]]]]])
      for path in ["a", "a?rev=\(first)", "a?revs=true", "a?open_revs=all", "a?meta=true"] {
        #expect(try await anna.get("/db/\(path)").status == 404, "\(path)")
      }
      #expect(try await anna.changes(since: next.last).rows == [])
      // Who begins has nothing that could leave.
      #expect(try await anna.changes().rows == [])
      // It can come back.
      try await site.save("a", ["owner": "anna"], after: second)
      #expect(Self.ids(try await anna.changes(since: next.last).rows, removed: false) == ["a"])
    }
  }

  @Test func `a feed from the beginning lists a document that is edited away while it is open`() async throws
  {
    try await RuleSite.run { site in
      try await site.setRules(Self.owned)
      let first = try await site.save("a", ["owner": "anna"])
      var steps = 0
      let text = try await site.user("anna").stream("/db/_changes?feed=continuous&limit=3&timeout=5000") {
        read in
        if steps == 0, read.contains(#""a""#) {
          steps = 1
          try await site.save("a", ["owner": "bob"], after: first)
          // What the user has not seen does not leave.
          try await site.save("hidden", ["owner": "bob"])
          try await site.save("b", ["owner": "anna"])
        }
      }
      let rows = try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
      #expect(rows.map { $0["id"] } == ["a", "a", "b", nil])
      #expect(rows.map { $0["removed"] } == [nil, true, nil, nil])
    }
  }

  @Test func `a deleted document is listed as one, and its tombstone has no body`() async throws {
    try await RuleSite.run { site in
      try await site.setRules(Self.owned)
      let first = try await site.save("a", ["owner": "anna"])
      let anna = site.user("anna")
      let start = try await anna.changes()
      let tombstone = try await site.save("a", ["_deleted": true, "reason": "secret"], after: first)
      let next = try await anna.changes(since: start.last)
      #expect(next.rows.map { $0["deleted"] } == [true])
      #expect(
        try await anna.get("/db/a?rev=\(tombstone)").json
          == ["_id": "a", "_rev": .string(tombstone), "_deleted": true])
      #expect(try await site.user("bob").changes(since: "0").rows == [])
    }
  }

  @Test func `documents that were never visible are never listed`() async throws {
    try await RuleSite.run { site in
      try await site.setRules(Self.owned)
      let anna = site.user("anna")
      let start = try await anna.changes()
      var revision = try await site.save("a", ["owner": "bob"])
      for number in 0..<Int64(3) {
        revision = try await site.save("a", ["owner": "bob", "n": .int(number)], after: revision)
      }
      #expect(try await anna.changes(since: start.last).rows == [])
      _ = try await site.admin.post("/db/_compact", [:])
      try await eventually("the compaction has ended") {
        try await site.admin.get("/db").json["compact_running"] == false
      }
      #expect(try await anna.changes(since: start.last).rows == [])
      #expect(try await anna.get("/db/a?rev=\(revision)").json == site.admin.get("/db/unknown?rev=1-a").json)
    }
  }

  @Test func `a changed rule begins the changes again`() async throws {
    try await RuleSite.run { site in
      try await site.setRules(Self.owned)
      for (id, owner, type) in [("a", "anna", "x"), ("b", "bob", "x"), ("c", "anna", "y"), ("d", "bob", "y")]
      {
        try await site.save(id, ["owner": .string(owner), "type": .string(type)])
      }
      let anna = site.user("anna")
      let start = try await anna.changes()
      #expect(Self.ids(start.rows, removed: false) == ["a", "c"])
      try await site.setRules([["roles": ["*"], "selector": ["type": "x"]]])
      // In pages of one row, whose sequences go on where the one before has ended.
      var (rows, last): ([JSONValue], String) = ([], start.last)
      while true {
        let page = try await anna.changes(since: last, "&limit=1")
        if page.rows.isEmpty { break }
        rows += page.rows
        last = page.last
      }
      #expect(Self.ids(rows, removed: false) == ["a", "b"])
      #expect(Self.ids(rows, removed: true) == ["c"])
      #expect(try await anna.changes(since: last).rows == [])
      // Two changes that the user has not read to the end.
      try await site.setRules([["roles": ["*"], "selector": ["type": "y"]]])
      let page = try await anna.changes(since: last, "&limit=1")
      try await site.setRules([["roles": ["*"], "selector": ["type": "z"]]])
      let all = try await anna.changes(since: page.last)
      #expect(Set(Self.ids(all.rows, removed: true)) == ["a", "b", "c", "d"])
      #expect(try await anna.changes(since: all.last).rows == [])
      // Without rules everybody sees everything.
      try await site.setRules(nil)
      let open = try await anna.changes(since: all.last)
      #expect(Self.ids(open.rows, removed: false) == ["a", "b", "c", "d", "_design/access"])
      try await site.setRules(Self.owned)
      let closed = try await anna.changes(since: open.last)
      #expect(Set(Self.ids(closed.rows, removed: true)) == ["b", "d", "_design/access"])
      #expect(Set(Self.ids(closed.rows, removed: false)) == ["a", "c"])
    }
  }

  @Test func `a changed role begins the changes again`() async throws {
    try await RuleSite.run { site in
      try await site.setRules([
        ["roles": ["sales"], "selector": ["type": "order"]], ["roles": ["*"], "selector": ["type": "note"]],
      ])
      try await site.save("order", ["type": "order"])
      try await site.save("note", ["type": "note"])
      let anna = site.user("anna")
      let start = try await anna.changes()
      #expect(Self.ids(start.rows, removed: false) == ["order", "note"])
      let path = "/_users/org.couchdb.user:anna"
      var user = try await site.admin.get(path).json.objectValue ?? [:]
      // A selector can depend on any role.
      for (roles, shown, removed) in [
        (["sales", "other"], ["order", "note"], []), (["other"], ["note"], ["order"]),
        (["sales"], ["order", "note"], []),
      ] as [([JSONValue], [String], [String])] {
        user["roles"] = .array(roles)
        user["_rev"] = try await site.admin.get(path).json["_rev"]
        #expect(try await site.admin.put(path, .object(user)).status == 201)
        let next = try await anna.changes(since: start.last)
        if roles != [.string("sales")] {
          #expect(Self.ids(next.rows, removed: false) == shown)
          #expect(Self.ids(next.rows, removed: true) == removed)
        }
      }
    }
  }

  @Test func `a sequence of another user or a forged one tells nothing`() async throws {
    try await RuleSite.run { site in
      try await site.setRules(nil)
      try await site.save("a", ["owner": "anna"])
      try await site.save("b", ["owner": "bob"])
      let (anna, bob) = (site.user("anna"), site.user("bob"))
      let (ofAnna, ofAdmin) = (try await anna.changes().last, try await site.admin.changes().last)
      try await site.setRules(Self.owned)
      for since in [ofAnna, ofAdmin, ofAnna + "x", ofAdmin + ".W1swXV0.AAAAAAAAAAAAAAAAAAAAAA", "0", "1-0"] {
        let rows = try await bob.changes(since: since).rows
        #expect(rows.map { $0["id"] } == ["b"], "\(since)")
        #expect(Self.ids(rows, removed: true) == [])
      }
      let rows = try await anna.changes(since: ofAnna).rows
      #expect(Self.ids(rows, removed: true) == ["b", "_design/access"])
      #expect(try await bob.get("/db/_changes?since=x").status == 400)
    }
  }

  @Test func `live feeds end when the rules change`() async throws {
    try await RuleSite.run { site in
      try await site.setRules(Self.owned)
      try await site.save("a", ["owner": "anna"])
      let anna = site.user("anna")
      let requests: [(String, JSONValue?)] = [
        ("/db/_changes?feed=continuous&heartbeat=1000", nil), ("/db/_changes?feed=eventsource", nil),
        ("/db/_find?feed=continuous&heartbeat=1000", ["selector": [:]]),
      ]
      for (number, (path, json)) in requests.enumerated() {
        var hasChanged = false
        let text = try await anna.stream(path, json: json) { read in
          guard !hasChanged, read.contains(#""a""#) else { return }
          hasChanged = true
          try await site.setRules([["roles": ["*"], "selector": ["owner": "nobody\(number)"]]])
          try await site.save("hidden\(number)", ["owner": "anna"])
        }
        #expect(hasChanged && !text.contains("hidden\(number)"), "\(path)")
        try await site.setRules(Self.owned)
      }
      let selected = try await anna.stream(
        "/db/_find?feed=continuous&heartbeat=1000", json: ["selector": ["owner": ["$exists": true]]]
      ) { read in
        if read.hasSuffix("\n"), !read.contains("later"), read.contains("hidden0") {
          try await site.save("others", ["owner": "bob"])
          try await site.save("later", ["owner": "anna"])
        }
        if read.contains("later") { try await site.setRules([]) }
      }
      #expect(!selected.contains("others"))
    }
  }

  @Test func `a feed ends with the right to it, and says why`() async throws {
    let feeds: [(path: String, json: JSONValue?)] = [
      ("/db/_changes?feed=continuous&heartbeat=60000", nil),
      ("/db/_changes?feed=eventsource&heartbeat=60000", nil),
      ("/db/_changes?feed=longpoll&since=now&heartbeat=60000", nil),
      ("/db/_find?feed=continuous&heartbeat=60000", ["selector": [:]]),
      ("/db/_find?feed=eventsource&heartbeat=60000", ["selector": [:]]),
    ]
    let members = { @Sendable (names: [JSONValue]) -> JSONValue in
      ["admins": ["names": [], "roles": []], "members": ["names": .array(names), "roles": []]]
    }
    let changes: [(error: String, change: @Sendable (RuleSite) async throws -> Void)] = [
      ("access_changed", { try await $0.setRoles(["other"], of: "anna") }),
      ("forbidden", { _ = try await $0.admin.put("/db/_security", members(["bob"])) }),
      ("access_changed", { _ = try await $0.admin.put("/db/_security", members(["anna", "bob"])) }),
      (
        "access_changed",
        { site in
          let path = "/_users/org.couchdb.user:anna"
          var user = try await site.admin.get(path).json.objectValue ?? [:]
          user["password"] = "another"
          _ = try await site.admin.put(path, .object(user))
        }
      ),
      (
        "unauthorized",
        { site in
          let path = "/_users/org.couchdb.user:anna"
          let revision = try await site.admin.get(path).json["_rev"]?.stringValue ?? ""
          _ = try await site.admin.delete("\(path)?rev=\(revision)")
        }
      ),
    ]
    for (error, change) in changes {
      try await RuleSite.run { site in
        try await site.save("a", ["owner": "anna"])
        let anna = site.user("anna")
        // All feeds are open before the change.
        let open = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup { group in
          for feed in feeds {
            group.addTask {
              let isSilent = feed.path.contains("longpoll")
              var isOpen = false
              let text = try await anna.stream(feed.path, json: feed.json) { read in
                guard !isOpen, isSilent || read.contains(#""a""#) else { return }
                isOpen = true
                open.continuation.yield()
              }
              #expect(text.contains(#""error":"\#(error)","reason":""#), "\(error), \(feed.path): \(text)")
              #expect(!text.contains("later"), "\(feed.path)")
            }
          }
          var opened = open.stream.makeAsyncIterator()
          for _ in feeds { await opened.next() }
          try await change(site)
          try await group.waitForAll()
        }
      }
    }
  }

  @Test func `an idle feed writes nothing at writes that are not seen`() async throws {
    try await RuleSite.run { site in
      try await site.setRules(Self.owned)
      var written = false
      let text = try await site.user("anna").stream("/db/_changes?feed=continuous&since=now&timeout=1000") {
        read in
        guard !written else { return }
        written = true
        for number in 0..<3 { try await site.save("hidden\(number)", ["owner": "bob"]) }
      }
      #expect(written && text.hasPrefix("\n{\"last_seq\""), "\(text)")
    }
  }

  @Test func `rules that can't be read show nothing, and end nothing`() async throws {
    try await RuleSite.run { site in
      try await site.setRules(Self.owned)
      try await site.save("a", ["owner": "anna"])
      let anna = site.user("anna")
      let start = try await anna.changes()
      let broken: JSONValue = [
        "_id": "_design/broken", "_rev": "1-a", "language": "query",
        "read": [["roles": ["*"], "selector": ["$get": 1]]],
      ]
      _ = try await site.admin.post("/db/_bulk_docs", ["new_edits": false, "docs": [broken]])
      #expect(try await anna.get("/db/a").status == 404)
      #expect(try await anna.get("/db/_all_docs").json["rows"] == [])
      // A replicator must not take this for a removal of everything.
      #expect(try await anna.get("/db/_changes?since=\(start.last)").status == 403)
      #expect(try await site.admin.get("/db/a").status == 200)
      _ = try await site.admin.delete("/db/_design/broken?rev=1-a")
      #expect(try await anna.changes(since: start.last).rows == [])
    }
  }
}
