import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// `_find` with a feed.
@Suite(.timeLimit(.usual)) struct FindFeedTests {
  private static func events(_ text: String) -> [JSONValue] {
    text.split(separator: "\n").compactMap { line in
      let json = line.hasPrefix("data: ") ? line.dropFirst(6) : line
      return try? JSONValue(parsing: String(json))
    }
  }

  @Test(arguments: ["continuous", "eventsource"]) func `results come first, and then differences`(
    _ feed: String
  ) async throws {
    try await withServer { server in
      _ = try await server.put("/db/a", ["n": 1])
      _ = try await server.put("/db/_design/d", ["n": 1])
      let revision = try await server.put("/db/b", ["n": 2]).json["rev"]?.stringValue ?? ""
      struct Enough: Error {}
      var events: [JSONValue] = []
      do {
        _ = try await server.stream(
          "/db/_find?feed=\(feed)&heartbeat=true",
          json: ["selector": ["n": ["$gt": 0]], "sort": [["n": "desc"]], "fields": ["_id", "n"]]
        ) { text in
          guard text.hasSuffix("\n"), case let found = Self.events(text), found.count > events.count else {
            return
          }
          events = found
          switch events.count {
          case 1: _ = try await server.put("/db/c", ["n": 3])
          case 2: _ = try await server.put("/db/b?rev=\(revision)", ["n": 4])
          default: throw Enough()
          }
        }
        Issue.record("the feed has ended")
      } catch is Enough {}
      #expect(
        events == [
          [
            "removals": [], "moves": [], "updates": [],
            "insertions": [
              ["at": 0, "doc": ["_id": "b", "n": 2]], ["at": 1, "doc": ["_id": "a", "n": 1]],
            ],
          ],
          [
            "removals": [], "moves": [], "updates": [],
            "insertions": [["at": 0, "doc": ["_id": "c", "n": 3]]],
          ],
          [
            "removals": [], "moves": [["from": 1, "to": 0]],
            "updates": [["at": 0, "doc": ["_id": "b", "n": 4]]], "insertions": [],
          ],
        ])
    }
  }

  @Test func `each event of a feed has the included documents`() async throws {
    try await withServer { server in
      _ = try await server.put("/db/a", ["n": 1, "to": "x"])
      struct Enough: Error {}
      var events: [JSONValue] = []
      do {
        _ = try await server.stream(
          "/db/_find?feed=continuous&heartbeat=true",
          json: ["selector": ["n": 1], "fields": ["n"], "include": ["to": "to"]]
        ) { text in
          guard text.hasSuffix("\n"), case let found = Self.events(text), found.count > events.count else {
            return
          }
          events = found
          if events.count == 2 { throw Enough() }
          _ = try await server.put("/db/x", ["v": 1])
        }
        Issue.record("the feed has ended")
      } catch is Enough {}
      #expect(events.first?["included"] == ["to": [:]])
      #expect(events.last?["insertions"] == [] && events.last?["included"]?["to"]?["x"]?["v"] == 1)
    }
  }

  @Test func `a feed ends when nothing changes for its time`() async throws {
    try await withServer { server in
      let text = try await server.stream(
        "/db/_find?feed=continuous&timeout=50", json: ["selector": [:]]
      ) { _ in }
      #expect(Self.events(text).count == 1)
    }
  }

  @Test func `heartbeats are sent while nothing changes`() async throws {
    try await withServer { server in
      struct Enough: Error {}
      do {
        _ = try await server.stream("/db/_find?feed=eventsource&heartbeat=20", json: ["selector": [:]]) {
          text in
          if text.components(separatedBy: "event: heartbeat").count > 3 { throw Enough() }
        }
        Issue.record("the feed has ended")
      } catch is Enough {}
    }
  }

  @Test func `attachments are stubs, and a deleted database is the end`() async throws {
    try await withServer { server in
      _ = try await server.send("PUT", "/db/f/x", body: Array("hi".utf8))
      var isDeleted = false
      let text = try await server.stream("/db/_find?feed=continuous&heartbeat=true", json: ["selector": [:]])
      { text in
        guard !isDeleted, text.hasSuffix("}\n") else { return }
        isDeleted = true
        _ = try await server.delete("/db")
      }
      #expect(Self.events(text).first?["insertions"]?[0]?["doc"]?["_attachments"]?["x"]?["stub"] == true)
    }
  }

  @Test func `a deleted database is the end of the feed of a member`() async throws {
    try await RuleSite.run { site in
      try await site.setRules([["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]])
      try await site.save("a", ["owner": "anna"])
      var isDeleted = false
      let text = try await site.user("anna").stream(
        "/db/_find?feed=continuous&heartbeat=true", json: ["selector": [:]]
      ) { text in
        guard !isDeleted, text.hasSuffix("}\n") else { return }
        isDeleted = true
        _ = try await site.admin.delete("/db")
      }
      #expect(Self.events(text).count == 1)
    }
  }

  @Test func `requests that can't be a feed are refused`() async throws {
    try await withServer { server in
      for (parameters, body, status) in [
        ("feed=longpoll", ["selector": [:]], 400),
        ("feed=continuous&heartbeat=x", ["selector": [:]], 400),
        ("feed=continuous", ["selector": ["n": ["$gtt": 1]]], 400),
        ("feed=continuous", ["selector": ["$text": ["$search": "x"]]], 400),
        ("feed=continuous", ["selector": [:], "conflicts": true], 400),
        ("feed=continuous", ["selector": ["_attachments": ["$exists": true]]], 400),
        ("feed=normal", ["selector": [:]], 200),
      ] as [(String, JSONValue, Int)] {
        let reply = try await server.post("/db/_find?\(parameters)", body)
        #expect(reply.status == status, "\(parameters) \(body.text)")
      }
    }
  }
}
