import CDTDatastore
import CDTTestSupport
import CouchDB
import Foundation
import Synchronization
import Testing

@testable import CDTReplication

/// A server has what a store can't have, or can't read it.
@Suite struct UnreadableRevisionTests {
  private static let deep = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)

  private static let suffix = String(repeating: "a", count: 32)
  private static let revision = "1-\(suffix)"

  private static func document(_ id: String, _ value: String = "1") -> String {
    "Content-Type: application/json\r\n\r\n"
      + #"{"_id":"\#(id)","_rev":"\#(revision)","_revisions":{"start":1,"ids":["\#(suffix)"]},"v":\#(value)}"#
  }

  private static func error(_ json: String) -> String {
    "Content-Type: application/json; error=\"true\"\r\n\r\n\(json)"
  }

  /// Pulls from a server that has three documents, and sends a part for each.
  ///
  /// - Parameter part: The part of a document, with its head; `nil` to leave it out.
  private static func pull(
    _ ids: [String], _ part: @escaping @Sendable (_ id: String) -> String?,
    _ body: (_ result: ReplicationResult, _ store: Datastore) async throws -> Void
  ) async throws {
    let server = try await ScriptedServer { request in
      let line = request.prefix { $0 != "\r\n" }
      if line.contains("/_local/") { return .init(status: line.hasPrefix("GET") ? 404 : 201) }
      if line.contains("/_changes") {
        let rows = ids.enumerated().map { number, id in
          #"{"seq":\#(number + 1),"id":"\#(id)","changes":[{"rev":"\#(revision)"}]}"#
        }
        return .init(body: #"{"results":[\#(rows.joined(separator: ","))],"last_seq":3,"pending":0}"#)
      }
      if line.contains("/_bulk_get") {
        return multipart(ids.filter { request.contains(#""id":"\#($0)""#) }.map(part))
      }
      for id in ids where line.contains("/db/\(id)?") { return multipart([part(id)]) }
      return .init(body: #"{"db_name":"db","update_seq":3,"instance_start_time":"0"}"#)
    }
    try await withStores { store, _ in
      for _ in 0..<2 {
        var replication = Replication(.pull, with: try RemoteDatabase("\(server.url)/db"))
        replication.retries.firstPause = .milliseconds(1)
        try await body(try await Replicator(replication, of: store).replicate(), store)
      }
    }
    await server.close()
  }

  private static func multipart(_ parts: [String?]) -> ScriptedServer.Reply {
    .init(
      contentType: "multipart/mixed; boundary=\"b\"",
      body: parts.compactMap(\.self).map { "--b\r\n\($0)\r\n" }.joined() + "--b--")
  }

  @Test(.timeLimit(.usual))
  func `a revision that another node of a cluster has soon arrives`() async throws {
    let reads = Mutex(0)
    try await Self.pull(["late"]) { id in
      // With _bulk_get and alone it is missing.
      let isThere = reads.withLock { count in
        count += 1
        return count > 2
      }
      return isThere
        ? Self.document(id)
        : Self.error(#"{"rev":"\#(Self.revision)","error":"not_found","reason":"missing"}"#)
    } _: { result, store in
      #expect(result.pulled.rejected == [])
      let ids = try await store.read { try $0.allDocumentIDs() }
      #expect(ids == ["late"])
    }
  }

  private static func isFirst(_ reads: borrowing Atomic<Int>) -> Bool {
    reads.add(1, ordering: .relaxed).oldValue == 0
  }

  @Test(.timeLimit(.usual))
  func `a revision that the reply leaves out is not passed over`() async throws {
    let reads = Atomic(0)
    try await Self.pull(["one", "two", "gone"]) { id in
      let isFirst = id == "two" && Self.isFirst(reads)
      return isFirst || id == "gone" ? nil : Self.document(id)
    } _: { result, store in
      #expect(result.pulled.rejected.map(\.id) == ["gone"])
      let ids = try await store.read { try $0.allDocumentIDs() }
      #expect(ids == ["one", "two"])
    }
  }

  @Test(.timeLimit(.usual))
  func `a revision whose id or document's id was changed on the way is asked for again`() async throws {
    let other = String(repeating: "b", count: 32)
    for (part, change) in [(#""id""#, #""ie""#), (Self.suffix, other)] {
      let reads = Atomic(0)
      try await Self.pull(["id"]) { id in
        Self.isFirst(reads)
          ? Self.document(id).replacingOccurrences(of: part, with: change) : Self.document(id)
      } _: { result, store in
        #expect(result.pulled.rejected == [])
        let ids = try await store.read { try $0.allDocumentIDs() }
        #expect(ids == ["id"])
      }
      #expect(reads.load(ordering: .relaxed) >= 2)
    }
  }

  @Test func `a descendant is an answer, also if its history is cut off`() throws {
    func revision(_ generation: Int, _ ids: String...) throws -> TransferredRevision {
      let list = ids.map { "\"\($0)\"" }.joined(separator: ",")
      let text = #"{"_id":"doc","_revisions":{"start":\#(generation),"ids":[\#(list)]}}"#
      let input = try Array(text.utf8).withUnsafeBytes { try DocumentInput($0) }
      let id = try #require(input.revisionID)
      return TransferredRevision(id: "doc", revision: id, content: .parsed(input), attachments: [])
    }
    let missing = ["2-b", "2-c"].compactMap { RevisionID($0) }
    var requested = RequestedRevisions([RevisionDifference(id: "doc", missing: missing)])
    for other in [try revision(2, "d", "a"), try revision(3, "e", "d"), try revision(1, "a")] {
      let isWanted = requested.take(other)
      #expect(!isWanted)
    }
    for (descendant, rest) in [
      (try revision(3, "e", "b", "a"), [[missing[1]]]), (try revision(4, "f", "e"), []),
    ] as [(TransferredRevision, [[RevisionID]])] {
      let isWanted = requested.take(descendant)
      #expect(isWanted)
      #expect(requested.unanswered.map(\.missing) == rest)
    }
  }

  @Test(.timeLimit(.usual))
  func `a document that is nested too deep is rejected, and the others arrive`() async throws {
    try await Self.pull(["one", "deep", "two"]) { id in
      Self.document(id, id == "deep" ? Self.deep : "1")
    } _: { result, store in
      #expect(result.pulled.rejected.map(\.id) == ["deep"])
      #expect(result.pulled.rejected.first?.reason.contains("deep") == true)
      let ids = try await store.read { try $0.allDocumentIDs() }
      #expect(ids == ["one", "two"])
    }
  }

  @Test(.timeLimit(.usual))
  func `a revision that the server refuses to send, or lists and lacks, is rejected`() async throws {
    try await Self.pull(["one", "refused", "gone"]) { id in
      switch id {
      case "refused": Self.error(#"{"rev":"\#(Self.revision)","error":"forbidden","reason":"for admins"}"#)
      case "gone": Self.error(#"{"rev":"\#(Self.revision)","error":"not_found","reason":"missing"}"#)
      default: Self.document(id)
      }
    } _: { result, store in
      #expect(result.pulled.rejected.map(\.id).sorted() == ["gone", "refused"])
      for rejected in result.pulled.rejected {
        #expect(rejected.reason.contains(rejected.id == "gone" ? "does not have it" : "for admins"))
      }
      let ids = try await store.read { try $0.allDocumentIDs() }
      #expect(ids == ["one"])
    }
  }
}
