import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import Synchronization
import Testing

/// `_changes`, in every kind of feed.
@Suite struct ServerChangesTests {
  private static func fill(_ server: RunningServer) async throws {
    for id in ["a", "b", "_design/d", "c"] {
      _ = try await server.put("/db/\(id)", ["name": .string(id), "n": 1])
    }
    _ = try await server.post(
      "/db/_bulk_docs", ["new_edits": false, "docs": [["_id": "b", "_rev": "1-0", "n": 2]]])
    let revision = try await server.get("/db/c").json["_rev"]?.stringValue ?? ""
    _ = try await server.delete("/db/c?rev=\(revision)")
  }

  private static func ids(_ reply: RunningServer.Reply) -> [String] {
    reply.json["results"]?.arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
  }

  @Test func `a selector sees attachments`() async throws {
    try await withServer { server in
      #expect(try await server.put("/db/a", [:]).status == 201)
      #expect(try await server.send("PUT", "/db/f/x", body: Array("hi".utf8)).status == 201)
      for (selector, ids) in [
        (["_attachments": ["$exists": true]], ["f"]), (["_attachments.x.length": ["$lt": 2]], []),
        (["_attachments.x.stub": true], ["f"]), (["_attachments": ["$exists": false]], ["a"]),
      ] as [(JSONValue, [String])] {
        let reply = try await server.post("/db/_changes?filter=_selector", ["selector": selector])
        #expect(Self.ids(reply) == ids)
      }
    }
  }

  @Test func `a selector is answered from an index, and goes on with what changes`() async throws {
    try await withServer { server in
      let documents = (0..<300).map { number -> JSONValue in
        ["_id": .string("d\(1_000 + number)"), "color": number % 30 == 0 ? "red" : "gray"]
      }
      _ = try await server.post("/db/_bulk_docs", ["docs": .array(documents)])
      let body: JSONValue = ["selector": ["color": "red"]]
      let path = "/db/_changes?filter=_selector"
      let all = try await server.post(path, body)
      #expect(Self.ids(all).count == 10)
      _ = try await server.post("/db/_index", ["index": ["fields": ["color"]]])
      let indexed = try await server.post(path, body)
      #expect(indexed.json["results"] == all.json["results"] && indexed.json["pending"] == 0)
      let four = try await server.post("\(path)&limit=4", body)
      #expect(four.json["results"]?.arrayValue == all.json["results"]?.arrayValue.map { Array($0.prefix(4)) })
      let since = four.json["last_seq"]?.stringValue ?? ""
      #expect(
        Self.ids(try await server.post("\(path)&since=\(since)", body)) == Array(Self.ids(all).dropFirst(4)))
      // A feed from the beginning tells the changes that come later, too.
      async let feed = server.post("\(path)&feed=continuous&limit=11&include_docs=true", body)
      _ = try await server.put("/db/last", ["color": "red"])
      let rows = try await feed.text.split(separator: "\n").filter { $0.contains(#""id""#) }
      #expect(rows.count == 11 && rows.last?.contains(#""id":"last""#) == true)
    }
  }

  @Test func `documents that leave a selector are listed on request`() async throws {
    try await withServer { server in
      for id in ["stays", "goes", "dies", "other"] {
        _ = try await server.put("/db/\(id)", ["color": id == "other" ? "gray" : "red"])
      }
      let body: JSONValue = ["selector": ["color": "red"]]
      let path = "/db/_changes?filter=_selector&left_filter=0"
      let first = try await server.post(path, body)
      #expect(Self.ids(first) == ["stays", "goes", "dies"])
      let since = first.json["last_seq"]?.stringValue ?? ""
      for id in ["goes", "other"] {
        let revision = try await server.get("/db/\(id)").json["_rev"] ?? .null
        _ = try await server.put("/db/\(id)", ["_rev": revision, "color": "black"])
      }
      _ = try await server.put("/db/new", ["color": "black"])
      let revision = try await server.get("/db/dies").json["_rev"]?.stringValue ?? ""
      _ = try await server.delete("/db/dies?rev=\(revision)")
      let later = try await server.post("\(path)&since=\(since)", body)
      #expect(Self.ids(later) == ["goes", "dies"])
      let rows = first.json["results"]
      #expect(later.json["results"]?[0]?["left_filter"] == [rows?[1]?["changes"]?[0]?["rev"] ?? .null])
      #expect(later.json["results"]?[1]?["left_filter"] == [rows?[2]?["changes"]?[0]?["rev"] ?? .null])
      #expect(later.json["results"]?[1]?["deleted"] == true)
      #expect(Self.ids(try await server.post("/db/_changes?filter=_selector&since=\(since)", body)) == [])
      #expect(Self.ids(try await server.post(path, body)) == ["stays", "goes", "dies"])
      // A client that has nothing yet asks for those after the changes that there are.
      let end = later.json["last_seq"]?.stringValue ?? ""
      let filling = try await server.post("/db/_changes?filter=_selector&left_filter=\(end)", body)
      #expect(Self.ids(filling) == ["stays"])
      #expect(try await server.post("/db/_changes?filter=_selector&left_filter=true", body).status == 400)
    }
  }

  @Test func `each document is listed once, with its last change`() async throws {
    try await withServer { server in
      try await Self.fill(server)
      let reply = try await server.get("/db/_changes")
      #expect(Self.ids(reply) == ["a", "_design/d", "b", "c"])
      #expect(reply.json["pending"] == 0)
      #expect(reply.json["last_seq"] == reply.json["results"]?[3]?["seq"])
      #expect(reply.json["results"]?[3]?["deleted"] == true)
      let leaves = try await server.get("/db/_changes?style=all_docs").json["results"]?[2]?["changes"]
      #expect(leaves?.arrayValue?.count == 2)
      #expect(
        try await server.get("/db/_changes?style=main_only").json["results"]?[2]?["changes"]?.arrayValue?
          .count == 1)
      // From the middle, with a limit, and back to front.
      let second = try #require(reply.json["results"]?[1]?["seq"]?.stringValue)
      #expect(Self.ids(try await server.get("/db/_changes?since=\(second)")) == ["b", "c"])
      #expect(Self.ids(try await server.get("/db/_changes?since=%22\(second)%22")) == ["b", "c"])
      #expect(Self.ids(try await server.get("/db/_changes?last-event-id=\(second)")) == ["b", "c"])
      let one = try await server.get("/db/_changes?since=\(second)&limit=1")
      #expect(Self.ids(one) == ["b"])
      #expect(one.json["pending"] == 1)
      #expect(try await server.get("/db/_changes?since=\(second)&limit=0").json["pending"] == 2)
      #expect(Self.ids(try await server.get("/db/_changes?descending=true&limit=2")) == ["c", "b"])
      #expect(Self.ids(try await server.get("/db/_changes?since=now")) == [])
      #expect(try await server.get("/db/_changes?since=5").status == 400)
      // A browser connects again to the URL of the beginning, with the header.
      let again = try await server.get(
        "/db/_changes?feed=eventsource&since=0&timeout=1", headers: [("Last-Event-ID", second)])
      #expect(again.text.split(separator: "\n").count { $0.hasPrefix("data: ") } == 2)
      #expect(Self.ids(try await server.get("/db/_changes?descending=maybe&conflicts=1")).first == "a")
    }
  }

  @Test func `documents come along`() async throws {
    try await withServer { server in
      try await Self.fill(server)
      let results = try await server.get("/db/_changes?include_docs=true&conflicts=true").json["results"]
      #expect(results?[0]?["doc"]?["name"] == "a")
      #expect(results?[2]?["doc"]?["_conflicts"]?.arrayValue?.count == 1)
      #expect(results?[3]?["doc"]?["_deleted"] == true)
    }
  }

  @Test func `filters`() async throws {
    try await withServer { server in
      try await Self.fill(server)
      let changes = "/db/_changes?filter="
      #expect(Self.ids(try await server.get("\(changes)_design")) == ["_design/d"])
      #expect(
        Self.ids(try await server.post("\(changes)_doc_ids", ["doc_ids": ["c", "a", "x"]])) == ["a", "c"])
      #expect(Self.ids(try await server.get(#"/db/_changes?filter=_doc_ids&doc_ids=["a"]"#.encoded)) == ["a"])
      #expect(
        Self.ids(try await server.post("\(changes)_selector", ["selector": ["name": ["$gt": "a"]]])) == ["b"])
      #expect(
        Self.ids(try await server.post("\(changes)_selector", ["selector": ["_deleted": true]])) == ["c"])
      let projected = try await server.post(
        "\(changes)_selector&include_docs=true&conflicts=true",
        ["selector": ["name": "b"], "fields": ["n", "_id", "_conflicts"]])
      #expect(
        projected.json["results"]?[0]?["doc"] == ["_id": "b", "n": 1, "_conflicts": ["1-0"]])
      for fields in ["n", [1]] as [JSONValue] {
        #expect(
          try await server.post("\(changes)_selector", ["selector": [:], "fields": fields]).status == 400)
      }
      #expect(try await server.get("\(changes)_selector").status == 400)
      #expect(try await server.post("\(changes)_selector", ["selector": ["$x": 1]]).status == 400)
      #expect(try await server.get("\(changes)_nonsense").status == 400)
      // What is filtered out is behind the last sequence.
      let last = try await server.get("\(changes)_design").json["last_seq"]
      let all = try await server.get("/db/_changes").json["last_seq"]
      #expect(last == all)
    }
  }

  @Test func `a longpoll answers when something changes`() async throws {
    try await withServer { server in
      try await Self.fill(server)
      #expect(Self.ids(try await server.get("/db/_changes?feed=longpoll")).count == 4)
      let empty = try await server.get("/db/_changes?feed=longpoll&since=now&timeout=50")
      #expect(Self.ids(empty) == [])
      #expect(empty.json["last_seq"]?.stringValue != nil)
      async let waiting = server.get("/db/_changes?feed=longpoll&since=now&timeout=60000")
      // The request may begin before the write or after it; writes go on until it has seen one.
      let writing = Task {
        var number = 0
        while !Task.isCancelled {
          _ = try await server.put("/db/new\(number)", [:])
          number += 1
          try await Task.sleep(for: .milliseconds(20))
        }
      }
      let reply = try await waiting
      writing.cancel()
      #expect(Self.ids(reply).first?.hasPrefix("new") == true)
    }
  }

  @Test func `a continuous feed has a line a change, and ends after its timeout`() async throws {
    try await withServer { server in
      try await Self.fill(server)
      let lines = try await server.get("/db/_changes?feed=continuous&timeout=50").lines
      #expect(lines.count == 5)
      #expect(lines.first?["id"] == "a")
      #expect(lines.last?["last_seq"] != nil)
      #expect(lines.last?["pending"] == 0)
      #expect(try await server.get("/db/_changes?feed=live&timeout=50").lines.count == 5)
      let limited = try await server.get("/db/_changes?feed=continuous&limit=2").lines
      #expect(limited.count == 3)
      let events = try await server.get("/db/_changes?feed=eventsource&timeout=50")
      #expect(events.headers["content-type"]?.hasPrefix("text/event-stream") == true)
      #expect(events.text.hasPrefix("data: {\"seq\":"))
      #expect(events.text.contains("\nid: \""))
      for query in ["feed=bad", "heartbeat=abc", "timeout=x", "style=bad", "limit=x"] {
        #expect(try await server.get("/db/_changes?\(query)").status == 400)
      }
    }
  }

  @Test func `heartbeats are sent while nothing happens`() async throws {
    try await withServer { server in
      let text = try await server.stream("/db/_changes?feed=longpoll&heartbeat=10") { text in
        // After the first heartbeats something changes, once.
        if text == "{\"results\":[\n\n" { _ = try await server.put("/db/a", [:]) }
      }
      #expect(text.hasPrefix("{\"results\":[\n\n"))
      #expect(text.contains("\"id\":\"a\""))
    }
  }

  @Test(arguments: ["longpoll", "continuous"])
  func `a feed ends when its database is deleted`(feed: String) async throws {
    try await withServer { server in
      _ = try await server.put("/db")
      let text = try await server.stream("/db/_changes?feed=\(feed)&heartbeat=10") { text in
        if text.hasSuffix("\n\n") { _ = try await server.delete("/db") }
      }
      #expect(text.hasSuffix(#","pending":0}"# + "\n"))
    }
  }

  @Test func `a selector decides on each leaf that is listed`() async throws {
    try await withServer { server in
      _ = try await server.put("/db")
      let leaves: [JSONValue] = [
        ["_id": "a", "_rev": "1-a", "type": "task"], ["_id": "a", "_rev": "1-b", "type": "note"],
        ["_id": "b", "_rev": "1-a", "type": "note"], ["_id": "b", "_rev": "1-b", "_deleted": true],
      ]
      _ = try await server.post("/db/_bulk_docs", ["new_edits": false, "docs": .array(leaves)])
      for (style, listed) in [("main_only", []), ("all_docs", [["a", "1-a"]])] {
        let reply = try await server.post(
          "/db/_changes?filter=_selector&style=\(style)", ["selector": ["type": "task"]])
        let rows = reply.json["results"]?.arrayValue ?? []
        let revisions = rows.map { row in
          [row["id"]?.stringValue] + (row["changes"]?.arrayValue ?? []).map { $0["rev"]?.stringValue }
        }
        #expect(revisions == listed, "\(style)")
      }
    }
  }

  @Test func `changes that a filter rejects postpone neither heartbeats nor the end`() async throws {
    try await withServer { server in
      _ = try await server.put("/db")
      let isWriting = Atomic(true)
      async let writing: Void = {
        for number in 0..<1_000 where isWriting.load(ordering: .relaxed) {
          _ = try await server.put("/db/other\(number)", [:])
          try await Task.sleep(for: .milliseconds(20))
        }
        isWriting.store(false, ordering: .relaxed)
      }()
      let feed = "/db/_changes?since=now&filter=_doc_ids&doc_ids=%5B%22a%22%5D"
      let ended = try await server.get("\(feed)&feed=longpoll&timeout=300")
      var wasWriting = isWriting.load(ordering: .relaxed)
      #expect(Self.ids(ended) == [] && wasWriting)
      let text = try await server.stream("\(feed)&feed=continuous&heartbeat=300&limit=1") { text in
        if text == "\n" { _ = try await server.put("/db/a", [:]) }
      }
      wasWriting = isWriting.load(ordering: .relaxed)
      #expect(text.hasPrefix("\n") && wasWriting)
      isWriting.store(false, ordering: .relaxed)
      try await writing
    }
  }

  @Test func `a sequence of a database that was deleted begins again`() async throws {
    try await withServer { server in
      try await Self.fill(server)
      let last = try #require(try await server.get("/db/_changes").json["last_seq"]?.stringValue)
      _ = try await server.delete("/db")
      _ = try await server.put("/db")
      _ = try await server.put("/db/new", [:])
      #expect(Self.ids(try await server.get("/db/_changes?since=\(last)")) == ["new"])
    }
  }
}
