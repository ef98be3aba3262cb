import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTReplication

/// What the target of a run did not take, and what later runs do with it.
@Suite struct RejectionTests {
  enum Path: CaseIterable { case push, stores }

  /// The ends of a replication, of which the source has three documents with an attachment each, and one is damaged.
  private struct Ends {
    let source: Datastore
    let target: Datastore
    private let path: Path
    private let served: ServedStore
    private let file: URL
    private let content: Data

    init(_ path: Path, _ served: ServedStore) async throws {
      (self.path, self.served) = (path, served)
      source = served.local
      target = path == .push ? served.remote : try await served.manager.datastore(named: "other")
      for id in ["one", "damaged", "two"] {
        let attachment = DocumentAttachment(
          data: Data("content of \(id)".utf8), name: "a", contentType: "image/png")
        try await source.createDocument(from: DocumentDraft(id: id, body: [:], attachments: [attachment]))
      }
      let digest = try #require(try await source.document(withID: "damaged").attachments["a"]?.digest)
      file = URL(filePath: "\(source.directory)/attachments/\(digest)")
      content = try Data(contentsOf: file)
      try Data("something else".utf8).write(to: file)
    }

    func mend() throws { try content.write(to: file) }

    func run() async throws -> ReplicationResult.Counts {
      try await served.replicate(.push) { if path == .stores { $0.peer = .store(target) } }.pushed
    }
  }

  @Test(arguments: Path.allCases)
  func `rejected documents are listed by each run, and sent by the first run that can`(path: Path)
    async throws
  {
    try await withServedStore { served in
      let ends = try await Ends(path, served)
      for changes in [3, 0] {
        let counts = try await ends.run()
        #expect(counts.rejected.map(\.id) == ["damaged"])
        #expect(counts.changes == changes)
      }
      try ends.mend()
      for written in [1, 0] {
        let counts = try await ends.run()
        #expect(counts.rejected == [])
        #expect(counts.missing == written && counts.revisionsWritten == written)
        #expect(counts.changes == 0)
      }
      #expect(try await ends.target.read { try $0.allDocumentIDs() } == ["damaged", "one", "two"])
    }
  }

  @Test(arguments: Path.allCases)
  func `a document that was edited since is not rejected for what it was`(path: Path) async throws {
    try await withServedStore { served in
      let ends = try await Ends(path, served)
      #expect(try await ends.run().rejected.count == 1)
      try await ends.source.updateDocument(withID: "damaged") { $0.attachments = [:] }
      let counts = try await ends.run()
      #expect(counts.rejected == [])
      #expect(counts.revisionsRead == 1)
      #expect(try await ends.target.document(withID: "damaged").attachments == [:])
      #expect(try await ends.run().missing == 0)
    }
  }

  @Test func `a server's checkpoint does not say what it has refused`() async throws {
    try await withServedStore { served in
      let ends = try await Ends(.push, served)
      _ = try await ends.run()
      let id = try await #require(try served.local.read { try $0.localDocumentIDs() }.first)
      let mine = try await #require(try served.local.read { try $0.localDocument(withID: id) })
      #expect(mine["rejected"]?["damaged"]?.arrayValue?.count == 1)
      let theirs = try await #require(try served.remote.read { try $0.localDocument(withID: id) })
      #expect(!theirs.text.contains("damaged"))
      for checkpoint in [mine, theirs] { #expect(checkpoint["history"]?[0]?["rejected_since"] == 0) }
    }
  }

  // MARK: Pulls

  /// A server with one document, and with a local document.
  private final class Source: Sendable {
    struct State {
      var generation = 1
      var isReadable = false
      var local: String?
    }

    let state = Mutex(State())

    func reply(_ request: String) -> ScriptedServer.Reply {
      let line = String(request.prefix { $0 != "\r\n" })
      return state.withLock { state in
        if line.contains("/_local/") {
          if line.hasPrefix("PUT") {
            state.local = request.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init)
            return .init(status: 201)
          }
          return state.local.map { .init(body: $0) } ?? .init(status: 404)
        }
        let rows = #"[{"seq":1,"id":"doc","changes":[{"rev":"\#(state.generation)-a"}]}]"#
        if line.contains("/_changes") {
          let isNew = line.contains("filter=_doc_ids") || !line.contains("since=\(state.generation)")
          return .init(body: #"{"results":\#(isNew ? rows : "[]"),"last_seq":\#(state.generation)}"#)
        }
        guard line.contains("/_bulk_get") || line.contains("/db/doc?") else {
          return .init(body: #"{"db_name":"db","instance_start_time":"0"}"#)
        }
        let value = state.isReadable ? "1" : #""\ud800""#
        let part = #"{"_id":"doc","_rev":"\#(state.generation)-a","v":\#(value)}"#
        return .init(
          contentType: "multipart/mixed; boundary=b",
          body: "--b\r\nContent-Type: application/json\r\n\r\n\(part)\r\n--b--")
      }
    }
  }

  @Test(.timeLimit(.usual), arguments: [false, true])
  func `a document that could not be pulled is read again, unless it was edited`(isEdited: Bool) async throws
  {
    let source = Source()
    let server = try await ScriptedServer { source.reply($0) }
    try await withStores { store, _ in
      func pull() async throws -> ReplicationResult.Counts {
        let replication = Replication(.pull, with: try RemoteDatabase("\(server.url)/db"))
        return try await Replicator(replication, of: store).replicate().pulled
      }
      for changes in [1, 0] {
        let counts = try await pull()
        #expect(counts.rejected.map(\.revision) == ["1-a"])
        #expect(counts.changes == changes)
      }
      source.state.withLock { state in
        state.isReadable = true
        if isEdited { state.generation = 2 }
      }
      let counts = try await pull()
      #expect(counts.rejected == [])
      #expect(counts.changes == (isEdited ? 1 : 0))
      #expect(counts.revisionsRead == 1)
      let revision = try await store.document(withID: "doc").revisionID
      #expect(revision.description == (isEdited ? "2-a" : "1-a"))
      #expect(try await pull().missing == 0)
    }
    await server.close()
  }

  // MARK: Lists

  private static func rejected(_ ids: String...) -> [RejectedRevision] {
    ids.map { RejectedRevision(id: $0, revision: "1-a", reason: "") }
  }

  @Test func `changes that a checkpoint can't keep are among those of the next run`() {
    for list in [RejectionList(maximumCount: 2), RejectionList(maximumLength: 8)] {
      list.add(Self.rejected("a"), since: 1)
      #expect(list.checkpoint(after: 5) == 5)
      list.add(Self.rejected("b", "a"), since: 5)
      list.add(Self.rejected("c", "d"), since: 9)
      list.add(Self.rejected("e"), since: 12)
      #expect(list.record == .init(since: 1, revisions: ["a": ["1-a"], "b": ["1-a"]]))
      #expect(list.checkpoint(after: 15) == 9)
    }
  }

  @Test func `a list is used with the checkpoint that it belongs to`() throws {
    let first = Checkpoint.Run(from: .init())
    let record = RejectionList.Record(since: 3, revisions: ["a": ["1-a"]])
    let mine = Checkpoint(first, sequence: 10, counts: .init(), rejections: record)
    // As the other end has it.
    let theirs = Checkpoint(mine.json)
    #expect(theirs.rejected == nil)
    for resumption in [Checkpoint.resumption(mine, theirs), Checkpoint.resumption(theirs, mine)] {
      #expect(resumption.sequence == 10)
      #expect(resumption.rejections == record)
    }
    // The other end was restored from a backup, and has lost what it has taken since.
    let second = Checkpoint.Run(from: Checkpoint.resumption(mine, theirs))
    let later = Checkpoint(second, sequence: 20, counts: .init())
    #expect(Checkpoint.resumption(later, later).sequence == 20)
    let restored = Checkpoint.resumption(later, theirs)
    #expect(restored.sequence == 3)
    #expect(restored.rejections == nil)
    let earlier = Checkpoint(first, sequence: 6, counts: .init(), rejections: record)
    #expect(Checkpoint.resumption(mine, Checkpoint(earlier.json)).sequence == 3)
    // The list was lost.
    #expect(Checkpoint.resumption(theirs, theirs).sequence == 3)
  }
}
