import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import Testing

/// Every path through the server keeps the spelling of numbers.
@Suite struct NumberSpellingTests {
  @Test func `bodies go in and out as they were spelled`() async throws {
    let seed = testSeed(51)
    var random = SpelledNumbers(seed: seed)
    try await withServer { server in
      for number in 0..<10 {
        let members = String(random.body().dropFirst().dropLast())
        let id = "doc\(number)"
        let made = try await server.send("PUT", "/db/\(id)", body: Array("{\(members)}".utf8))
        let revision = try #require(made.json["rev"]?.stringValue)
        let noted = try await server.send(
          "PUT", "/db/\(id)/note?rev=\(revision)", body: [1], headers: [("Content-Type", "text/plain")])
        #expect(noted.status == 201)
        let keys: JSONValue = ["keys": [.string(id)]]
        let fields = #"{"selector":{"_id":"\#(id)"},"fields":["n","list","deep","plain","text"]}"#
        let replies = [
          try await server.get("/db/\(id)"), try await server.get("/db/\(id)?rev=\(revision)"),
          try await server.get("/db/\(id)?attachments=true&revs=true"),
          try await server.get("/db/\(id)?open_revs=all", headers: [("Accept", "application/json")]),
          try await server.get("/db/_all_docs?include_docs=true&key=%22\(id)%22"),
          try await server.post("/db/_all_docs?include_docs=true", keys),
          try await server.post("/db/_bulk_get", ["docs": [["id": .string(id)]]]),
          try await server.post("/db/_find", ["selector": ["_id": .string(id)]]),
          try await server.send(
            "POST", "/db/_find", body: Array(fields.utf8), headers: [("Content-Type", "application/json")]),
          try await server.get("/db/_changes?include_docs=true"),
        ]
        for (place, reply) in replies.enumerated() {
          #expect(reply.text.contains(members), "seed \(seed), reply \(place): \(reply.text)")
        }
      }
    }
  }

  @Test func `several documents, local and design documents too`() async throws {
    let seed = testSeed(52)
    var random = SpelledNumbers(seed: seed)
    let members = (0..<4).map { _ in String(random.body().dropFirst().dropLast()) }
    try await withServer { server in
      let json = [("Content-Type", "application/json")]
      let bulk = #"{"docs":[{"_id":"a",\#(members[0])},{"_id":"b",\#(members[1])}]}"#
      #expect(
        try await server.send("POST", "/db/_bulk_docs", body: Array(bulk.utf8), headers: json).status == 201)
      for (path, body) in [("_local/c", members[2]), ("_design/d", members[3])] {
        #expect(try await server.send("PUT", "/db/\(path)", body: Array("{\(body)}".utf8)).status == 201)
      }
      for (path, body) in zip(["a", "b", "_local/c", "_design/d"], members) {
        let text = try await server.get("/db/\(path)").text
        #expect(text.contains(body), "seed \(seed): \(text)")
      }
      let all = try await server.get("/db/_local_docs?include_docs=true").text
      #expect(all.contains(members[2]), "seed \(seed): \(all)")
    }
  }
}
