import CDTDatastore
import Foundation
import Testing

@testable import CDTReplication

/// A server has what a store can't have.
@Suite struct UnreadableRevisionTests {
  private static let deep = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)

  private static func document(_ id: String, _ value: String) -> String {
    let suffix = String(repeating: "a", count: 32)
    return
      #"{"_id":"\#(id)","_rev":"1-\#(suffix)","_revisions":{"start":1,"ids":["\#(suffix)"]},"v":\#(value)}"#
  }

  private static func multipart(_ documents: [String]) -> ScriptedServer.Reply {
    let parts = documents.map { "--b\r\nContent-Type: application/json\r\n\r\n\($0)\r\n" }
    return .init(contentType: "multipart/mixed; boundary=\"b\"", body: parts.joined() + "--b--")
  }

  @Test(.timeLimit(.minutes(2)))
  func `a document that is nested too deep is rejected, and the others arrive`() async throws {
    let texts = [
      "one": Self.document("one", "1"), "deep": Self.document("deep", Self.deep),
      "two": Self.document("two", "2"),
    ]
    let server = try await ScriptedServer { request in
      let line = request.prefix { $0 != "\r\n" }
      if line.contains("/_local/") { return .init(status: line.hasPrefix("GET") ? 404 : 201) }
      if line.contains("/_changes") {
        let rows = ["one", "deep", "two"].enumerated().map { number, id in
          #"{"seq":\#(number + 1),"id":"\#(id)","changes":[{"rev":"1-\#(String(repeating: "a", count: 32))"}]}"#
        }
        return .init(body: #"{"results":[\#(rows.joined(separator: ","))],"last_seq":3,"pending":0}"#)
      }
      if line.contains("/_bulk_get") {
        return Self.multipart(["one", "deep", "two"].compactMap { texts[$0] })
      }
      for (id, text) in texts where line.contains("/db/\(id)?") { return Self.multipart([text]) }
      return .init(body: #"{"db_name":"db","update_seq":3,"instance_start_time":"0"}"#)
    }
    try await withStores { store, _ in
      for _ in 0..<2 {
        let replication = Replication(.pull, with: try RemoteDatabase("\(server.url)/db"))
        let result = try await Replicator(replication, of: store).replicate()
        #expect(result.pulled.rejected.map(\.id) == ["deep"])
        #expect(result.pulled.rejected.first?.reason.contains("deep") == true)
        #expect(try await store.allDocumentIDs() == ["one", "two"])
      }
    }
  }
}
