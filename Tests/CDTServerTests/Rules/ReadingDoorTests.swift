import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

@testable import CDTServer

/// The law of reading, for requests that cross the members of every route at random, while documents, rules, roles and members change: what a
/// reader is sent is what the same reader is sent by a database that has only the visible documents.
///
/// Each text and attachment has a word of its own, and no reply may have a word of a revision that the reader does not see.
@Suite struct ReadingDoorTests {
  @Test func `every route has a door`() {
    #expect(Set(Route.list).subtracting(ReadingDoor.all.keys).sorted() == [])
    // Without replication, its routes are not there.
    let others = Set(ReadingDoor.all.keys).subtracting(Route.list)
    #expect(others.filter { !$0.contains("_scheduler") && !$0.contains("_replicate") }.sorted() == [])
  }

  @Test func `requests are drawn with every member of _find`() {
    #expect(Set(RequestDraw.findMembers.map(\.0)) == Set(FindRequest.members))
  }

  @Test(arguments: 0..<2) func `every door answers as one of the visible documents`(seed: Int) async throws {
    try await Self.run(seed: testSeed(UInt64(seed)), rounds: 2, requests: 40)
  }

  static func run(seed: UInt64, rounds: Int, requests: Int) async throws {
    var random = SeededGenerator(seed: seed)
    try await RuleSite.run { site in
      var history = RuleHistory(site: site, random: random)
      try await history.begin()
      random = history.random
      var devices: [String: Device] = [:]
      for round in 0..<rounds {
        try await history.change(isFirst: round == 0)
        for name in ["anna", "bob", "carol"] {
          let state = try await history.state()
          let reader = history.reader(name)
          let place = "seed \(seed), round \(round), \(name) \(reader.roles), rule \(history.rule.read.text)"
          guard history.isMember(reader) else {
            #expect(try await site.user(name).get("/db/_all_docs").status == 403, "\(place)")
            continue
          }
          try await devices[name, default: Device()].pull(as: site.user(name), &history.random)
          #expect(devices[name]?.documents == state.winners(seenBy: reader), "\(place)")
          let mirror = "mirror_\(round)_\(name)"
          try await state.copy(to: mirror, of: history, seenBy: reader)
          let words = state.hiddenWords(from: reader)
          let doors = ReadingDoor.all.sorted { $0.key < $1.key }.compactMap { key, door in
            if case .read(let draw) = door { (key, draw) } else { nil }
          }
          var draw = RequestDraw(random: history.random, leaves: state.leaves(seenBy: reader))
          for number in 0..<requests {
            let (route, door) = doors[(number < doors.count ? number : draw.one(Array(doors.indices)))]
            let isAsUser = draw.chance(4)
            let (client, headers) =
              isAsUser ? (site.user("root"), [("X-As-User", name)]) : (site.user(name), [])
            let request = door(&draw)
            let found = try await send(request, to: "db", by: client, headers)
            let expected = try await send(request, to: mirror, by: site.user(name), [])
            let difference = found.difference(from: expected)
            #expect(difference == nil, "\(place): \(route) \(request)\(isAsUser ? ", by root" : "")")
            let told = words.filter { found.text.contains($0) }
            #expect(told.isEmpty, "\(place): \(route) \(request) has words of what is hidden")
          }
          history.random = draw.random
          try await history.follow(as: reader, place)
        }
      }
    }
  }

  private struct Answer: Equatable {
    var status: Int
    var text: String

    /// What differs first, with what is around it.
    func difference(from other: Answer) -> String? {
      if self == other { return nil }
      let (mine, theirs) = (Array(text.utf8), Array(other.text.utf8))
      let start = max(
        0,
        (zip(mine, theirs).enumerated().first { $0.element.0 != $0.element.1 }?.offset
          ?? min(mine.count, theirs.count)) - 80)
      func part(_ text: [UInt8]) -> String {
        String(decoding: text.dropFirst(start).prefix(260), as: UTF8.self)
      }
      return "\(status): …\(part(mine))… is not \(other.status): …\(part(theirs))…"
    }
  }

  /// Sends a request, and brings the reply into a form in which it does not depend on the database.
  private static func send(
    _ request: DrawnRequest, to database: String, by client: RunningServer, _ more: [(String, String)]
  ) async throws -> Answer {
    let reply = try await client.send(
      request.json == nil ? "GET" : "POST", "/\(database)/\(request.path)", json: request.json,
      headers: request.headers + more)
    // What depends on sequences, on times or on the name of the database.
    var text = reply.text.replacing(database, with: "db")
    for pattern in [
      #/"(seq|last_seq|update_seq)":("[^"]*"|null|\d+),?/#, #/"pending":\d+,?/#,
      #/^id: .*$/#.anchorsMatchLineEndings(),
      #/,"_revs_info":\[[^\]]*\]/#,
      #/"(milliseconds|execution_time_ms)":[0-9.e+-]+,?/#, #/--[0-9a-f]{32}/#,
    ] as [any RegexComponent] {
      text = text.replacing(pattern, with: "")
    }
    return Answer(status: reply.status, text: text)
  }
}

/// A device that follows the changes of a user.
private struct Device {
  private(set) var documents: [String: String] = [:]
  private var last = "0"

  /// Reads the changes since the last time, in pages.
  mutating func pull(as client: RunningServer, _ random: inout SeededGenerator) async throws {
    while true {
      let limit = Int.random(in: 1...12, using: &random)
      let (rows, next) = try await client.changes(since: last, "&limit=\(limit)")
      for row in rows {
        guard let id = row["id"]?.stringValue, !id.hasPrefix("_design/") else { continue }
        let isGone = row["deleted"] == true || row["removed"] == true
        documents[id] = isGone ? nil : row["changes"]?[0]?["rev"]?.stringValue
      }
      if rows.isEmpty, next == last { return }
      last = next
      if rows.isEmpty { return }
    }
  }
}
