import CDTJSON
import CDTTestSupport
import Testing

/// CouchDB's replicator reads from our server and writes to it, and both have the same afterwards.
@Suite(.enabled(if: CouchDBPeer.isConfigured, CouchDBPeer.reason), .serialized)
struct CouchDBReplicationTests {
  typealias Direction = ReplicationPair.Direction

  @Test(arguments: ReplicationScenario.all, Direction.allCases)
  func `everything is replicated, and nothing twice`(
    scenario: ReplicationScenario, direction: Direction
  ) async throws {
    try await CouchDBPeer.with { pair in
      try await scenario.fill(pair.source(direction))
      let result = try await pair.replicate(direction)
      #expect(result["ok"] == true)
      #expect(result["history"]?[0]?["doc_write_failures"] == 0)
      try await pair.expectSameContent()
      #expect(try await pair.replicate(direction)["no_changes"] == true)
      // Everything is there already on the way back.
      let back = try await pair.replicate(direction.opposite)
      #expect(back["history"]?[0]?["docs_written"] == 0)
      #expect(back["history"]?[0]?["missing_found"] == 0)
      try await pair.expectSameContent()
    }
  }

  @Test(arguments: ReplicationScenario.all, Direction.allCases)
  func `our server replicates with CouchDB, and answers as it does`(
    scenario: ReplicationScenario, direction: Direction
  ) async throws {
    try await CouchDBPeer.with { pair in
      try await scenario.fill(pair.source(direction))
      let result = try await pair.replicateByOurs(direction)
      try await pair.expectSameContent()
      let theirs = try await pair.replicate(direction)
      func members(_ json: JSONValue) -> Set<String> { Set((json.objectValue ?? [:]).map(\.key)) }
      #expect(members(result).isSubset(of: members(theirs)))
      let (run, theirRun) = (result["history"]?[0] ?? .null, theirs["history"]?[0] ?? .null)
      #expect(members(run).isSubset(of: members(theirRun)))
      #expect(try await pair.replicateByOurs(direction)["no_changes"] == true)
    }
  }

  /// From CouchDB its own replicator stops for five minutes at such an attachment, also on the way to a CouchDB.
  @Test func `attachments without content are replicated from our server`() async throws {
    try await CouchDBPeer.with { pair in
      let first = try await pair.ours.attach([], "nothing", type: "image/png", to: "doc")
      try await pair.ours.attach([1, 2, 3], "something", type: "image/png", to: "doc", first)
      try await pair.ours.attach([], "nothing", type: "image/png", to: "alone")
      try await pair.replicate(.fromOurs)
      try await pair.expectSameContent()
    }
  }

  @Test func `the command of the guide replicates from our server`() async throws {
    let command = try Repository.page("server.md").split(separator: "\n")
      .drop { !$0.hasPrefix("    curl") }.prefix { $0.hasPrefix("    ") }.joined(separator: "\n")
    try await CouchDBPeer.with { pair in
      try await pair.ours.save("milk", ["text": "Buy milk"])
      try await pair.couch.delete()
      let line =
        command
        .replacing("http://127.0.0.1:5984/tasks", with: pair.ours.url)
        .replacing("http://admin:secret@127.0.0.1:5985/tasks", with: pair.couch.url)
        .replacing("http://admin:secret@127.0.0.1:5985", with: pair.couch.server.url)
      let directory = try ServerDirectory()
      let run = try ToolRun.shell(line, in: directory)
      #expect(try JSONValue(parsing: run.output)["ok"] == true, "\(run.output)\(run.errors)")
      try await pair.expectSameContent()
    }
  }

  @Test func `edits on both sides become conflicts on both`() async throws {
    try await CouchDBPeer.with { pair in
      try await ReplicationScenario.conflicts.fill(pair.ours)
      try await ReplicationScenario.attachments.fill(pair.ours)
      try await pair.replicate(.fromOurs)
      for database in [pair.ours, pair.couch] {
        let name = JSONValue.string(database.name)
        try await database.save("two", ["_rev": "3-c", "edited": name])
        try await database.save("new", ["made": name])
        try await database.json("DELETE", "/deleted%20leaf?rev=2-b")
        let revision = try await database.json("GET", "/several")["_rev"]?.stringValue
        try await database.attach(
          Array(database.name.utf8), "empty", type: "text/plain", to: "several", revision)
      }
      try await pair.replicate(.fromOurs)
      try await pair.replicate(.toOurs)
      try await pair.expectSameContent()
      #expect(try await pair.ours.json("GET", "/two?conflicts=true")["_conflicts"]?.arrayValue?.count == 2)
      #expect(
        try await pair.ours.json("GET", "/several?conflicts=true")["_conflicts"]?.arrayValue?.count == 1)
    }
  }

  @Test(arguments: Direction.allCases)
  func `a run continues from the checkpoint of the last one`(direction: Direction) async throws {
    try await CouchDBPeer.with { pair in
      let source = pair.source(direction)
      for number in 1...20 { try await source.save("first-\(number)", ["n": 1]) }
      let first = try await pair.replicate(direction)
      #expect(first["history"]?[0]?["docs_written"] == 20)
      for number in 1...7 { try await source.save("second-\(number)", ["n": 2]) }
      let second = try await pair.replicate(direction)
      // The counters of a history go on.
      #expect(second["history"]?[0]?["docs_written"] == 27)
      #expect(second["history"]?[0]?["missing_checked"] == 27)
      #expect(second["history"]?[0]?["start_last_seq"] == first["source_last_seq"])
      #expect(second["history"]?.arrayValue?.count == 2)
      #expect(try await pair.replicate(direction)["no_changes"] == true)
      try await pair.expectSameContent()
    }
  }

  @Test(arguments: Direction.allCases)
  func `10,000 documents are replicated`(direction: Direction) async throws {
    try await CouchDBPeer.with { pair in
      for start in stride(from: 0, to: 10_000, by: 1_000) {
        try await pair.source(direction).insert(
          (start..<start + 1_000).map { number in
            [
              "_id": .string("doc-\(number)"), "_rev": "1-a", "_revisions": ["start": 1, "ids": ["a"]],
              "number": .int(Int64(number)), "text": .string(String(repeating: "x", count: number % 500)),
            ]
          })
      }
      let result = try await pair.replicate(direction)
      #expect(result["history"]?[0]?["docs_written"] == 10_000)
      try await pair.expectSameContent()
    }
  }

  @Test(arguments: Direction.allCases)
  func `histories that CouchDB has cut are replicated`(direction: Direction) async throws {
    try await CouchDBPeer.with { pair in
      try await pair.couch.json("PUT", "/_revs_limit", 3)
      let source = pair.source(direction)
      func edit(_ id: String, times: Int, after revision: String? = nil) async throws -> String {
        var revision = revision
        for number in 1...times {
          var document: JSONObject = ["n": .int(Int64(number))]
          if let revision { document["_rev"] = .string(revision) }
          revision = try await source.save(id, .object(document))
        }
        return revision ?? ""
      }
      _ = try await edit("long", times: 10)
      let known = try await edit("known", times: 2)
      let gap = try await edit("gap", times: 2)
      try await pair.replicate(direction)
      _ = try await edit("known", times: 2, after: known)
      _ = try await edit("gap", times: 8, after: gap)
      try await pair.replicate(direction)
      // A side may have a revision that the other forgot. Then it comes back as a conflict.
      try await pair.replicate(direction.opposite)
      try await pair.replicate(direction)
      let (couch, ours) = (
        try await DatabaseContent(of: pair.couch), try await DatabaseContent(of: pair.ours)
      )
      for (id, document) in couch.documents {
        let other = try #require(ours.documents[id])
        #expect(other.winner == document.winner)
        #expect(Set(other.leaves.keys) == Set(document.leaves.keys))
        for (revision, leaf) in document.leaves {
          #expect(leaf.history.count <= 3)
          #expect(other.leaves[revision]?.body == leaf.body)
          #expect(other.leaves[revision]?.history.starts(with: leaf.history) == true)
        }
      }
      #expect(ours.documents.count == 3)
      #expect(ours.documents["/long"]?.leaves.values.first?.body["n"] == 10)
    }
  }

  @Test(arguments: Direction.allCases)
  func `a continuous replication follows the source`(direction: Direction) async throws {
    try await CouchDBPeer.with { pair in
      let source = pair.source(direction)
      try await ReplicationScenario.conflicts.fill(source)
      // CouchDB ends a feed that is quiet for a third of this time, but not before a second.
      var options: JSONObject = ["continuous": true, "connection_timeout": 3_000]
      try await pair.replicate(direction, options)
      func waitUntilSame() async throws {
        for _ in 0..<600 {
          let couch = try await DatabaseContent(of: pair.couch)
          if couch.differences(from: try await DatabaseContent(of: pair.ours)) == [] { break }
          try await Task.sleep(for: .milliseconds(200))
        }
        try await pair.expectSameContent()
      }
      try await waitUntilSame()
      try await ReplicationScenario.attachments.fill(source)
      try await ReplicationScenario.tombstones.fill(source)
      try await waitUntilSame()
      // The feed ends by itself meanwhile, and is opened again.
      try await Task.sleep(for: .milliseconds(1_500))
      try await source.save("late", ["n": 1])
      try await waitUntilSame()
      options["cancel"] = true
      try await pair.replicate(direction, options)
    }
  }

  @Test(arguments: Direction.allCases)
  func `a selector or a list of ids chooses documents`(direction: Direction) async throws {
    try await CouchDBPeer.with { pair in
      let source = pair.source(direction)
      for number in 0..<30 {
        try await source.save(
          "doc/\(number)", ["type": number % 3 == 0 ? "task" : "note", "n": .int(Int64(number))])
      }
      let selected = try await pair.replicate(direction, ["selector": ["type": "task", "n": ["$gte": 6]]])
      #expect(selected["history"]?[0]?["docs_written"] == 8)
      let named = try await pair.replicate(
        direction, ["doc_ids": ["doc/1", "doc/2", "doc/6", "unknown"]])
      #expect(named["docs_written"] == 2)
      let content = try await DatabaseContent(of: pair.target(direction))
      #expect(
        Set(content.documents.keys)
          == Set(([1, 2] + stride(from: 6, to: 30, by: 3)).map { "/doc%2F\($0)" }))
      let again = try await pair.replicate(direction, ["selector": ["type": "task", "n": ["$gte": 6]]])
      #expect(again["no_changes"] == true)
    }
  }

  @Test(arguments: Direction.allCases)
  func `the target is created`(direction: Direction) async throws {
    try await CouchDBPeer.with { pair in
      try await ReplicationScenario.documents.fill(pair.source(direction))
      try await pair.target(direction).delete()
      try await pair.replicate(direction, ["create_target": true])
      try await pair.expectSameContent()
      // It exists now.
      let again = try await pair.replicate(direction, ["create_target": true])
      #expect(again["no_changes"] == true)
    }
  }

  @Test(arguments: Direction.allCases)
  func `a database that was created again is replicated from the start`(direction: Direction) async throws {
    try await CouchDBPeer.with { pair in
      try await ReplicationScenario.documents.fill(pair.source(direction))
      try await pair.replicate(direction)
      let target = pair.target(direction)
      try await target.delete()
      try await target.json("PUT", "")
      let result = try await pair.replicate(direction)
      #expect(result["no_changes"] == nil)
      try await pair.expectSameContent()
    }
  }
}
