import CDTDatastore
import CDTJSON
import CDTServer
import CDTTestSupport
import Foundation
import Glibc
import Synchronization
import Testing

@testable import CDTRemote
@testable import CDTReplication

/// Ends that are damaged, busy, or take less than others.
@Suite struct UnusualEndTests {
  private static let content = Data((0..<40_000).map { UInt8(truncatingIfNeeded: $0) })

  /// Three documents with attachments, of which that of `damaged` is damaged.
  private static func fillDamaged(_ store: Datastore, length: Int) async throws {
    for id in ["one", "damaged", "two"] {
      var draft = DocumentDraft(id: id, body: ["id": .string(id)])
      draft.attachments["a"] = DocumentAttachment(
        data: Data(id.utf8) + content.prefix(length), name: "a", contentType: "text/plain")
      try await store.createDocument(from: draft)
    }
    let attachment = try #require(try await store.document(withID: "damaged").attachments["a"])
    let digest = try #require(attachment.digest)
    try Data("something else".utf8).write(to: URL(filePath: "\(store.directory)/attachments/\(digest)"))
  }

  @Test(.timeLimit(.usual), arguments: [Replication.Direction.push, .pull], [10, 40_000])
  func `a document whose attachment is damaged is rejected, and the others arrive`(
    direction: Replication.Direction, length: Int
  ) async throws {
    try await withServedStore { served in
      let isPush = direction == .push
      let (source, target) = isPush ? (served.local, served.remote) : (served.remote, served.local)
      try await Self.fillDamaged(source, length: length)
      let result = try await served.replicate(direction)
      #expect(result.rejected.map(\.id) == ["damaged"])
      #expect(result.rejected.first?.reason.contains("differs from what was saved") == true)
      let ids = try await target.read { try $0.allDocumentIDs() }
      #expect(ids == ["one", "two"])
    }
  }

  @Test(.timeLimit(.usual))
  func `a document whose attachment is damaged is rejected by another store, too`() async throws {
    try await withStores { left, right in
      try await Self.fillDamaged(left, length: 10)
      let result = try await Replicator(Replication(.push, with: right), of: left).replicate()
      #expect(result.rejected.map(\.id) == ["damaged"])
      let ids = try await right.read { try $0.allDocumentIDs() }
      #expect(ids == ["one", "two"])
    }
  }

  @Test(arguments: [true, false]) func `a selector can ask for deletions`(isServed: Bool) async throws {
    try await withServedStore { served in
      for (id, type) in [("task", "task"), ("done", "task"), ("note", "note"), ("gone", "note")] {
        try await served.local.createDocument(from: DocumentDraft(id: id, body: ["type": .string(type)]))
      }
      for id in ["done", "gone"] { try await served.local.deleteDocument(withID: id) }
      let selector: JSONObject = ["$or": [["type": "task"], ["_deleted": true]]]
      let other = try await served.manager.datastore(named: "other")
      try await served.replicate(.push, filter: .selector(selector)) { replication in
        if !isServed { replication.peer = .store(other) }
      }
      let target = isServed ? served.remote : other
      let changes = try await target.changes().documents
      #expect(changes.map(\.id).sorted() == ["done", "gone", "task"])
      #expect(changes.filter(\.isDeleted).map(\.id).sorted() == ["done", "gone"])
    }
  }

  @Test(.timeLimit(.usual))
  func `queries too large for one request are sent in several, or filtered here`() async throws {
    try await withServedStore({ $0.limits.requestLength = 6_000 }) { served in
      let ids = (0..<120).map { "doc\($0)" + String(repeating: "x", count: 50) }
      for (store, prefix) in [(served.local, "here"), (served.remote, "there")] {
        try await store.write { transaction in
          for id in ids {
            try transaction.createDocument(from: DocumentDraft(id: "\(prefix)-\(id)", body: [:]))
          }
        }
      }
      let result = try await served.replicate(.both)
      #expect(result.pushed.revisionsWritten == 120 && result.pulled.revisionsWritten == 120)
      #expect(result.rejected == [])
      let other = try await served.manager.datastore(named: "other")
      let wanted = ids.prefix(110).map { "there-\($0)" }
      let replication = Replication(.pull, with: try served.database(), filter: .documentIDs(wanted))
      try await Replicator(replication, of: other).replicate()
      let found = try await other.read { try $0.allDocumentIDs() }
      #expect(found == wanted.sorted())
    }
  }

  @Test(arguments: [400, 401, 403, 404, 405, 501])
  func `a source that keeps no checkpoints is read`(status: Int) async throws {
    try await withServedStore { served in
      try await served.remote.createDocument(from: DocumentDraft(id: "a", body: [:]))
      for _ in 0..<2 {
        let result = try await served.replicate(.pull) { replication in
          var database = try served.database()
          database.interceptors = [
            HTTPInterceptor(reply: { reply in
              if reply.request.url.contains("/_local/") { reply.status = status }
            })
          ]
          replication.peer = .remote(database)
        }
        #expect(result.pulled.changes == 1 && result.pulled.retries == 0)
      }
      #expect(try await served.local.read { try $0.allDocumentIDs() } == ["a"])
    }
  }

  @Test(arguments: [403, 405]) func `a source that takes GET alone is read`(status: Int) async throws {
    try await withServedStore { served in
      for id in ["a", "b"] { try await served.remote.createDocument(from: DocumentDraft(id: id, body: [:])) }
      try await served.replicate(.pull, filter: .documentIDs(["a"])) { replication in
        var database = try served.database()
        database.interceptors = [
          HTTPInterceptor(reply: { reply in if reply.request.method != "GET" { reply.status = status } })
        ]
        replication.peer = .remote(database)
      }
      #expect(try await served.local.read { try $0.allDocumentIDs() } == ["a"])
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount a directory"))
  func `a store that can only be read is replicated`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let (writable, view) = ("\(directory)/writable", "\(directory)/view")
      let writing = try DatastoreManager(directory: writable)
      try await writing.datastore(named: "source").createDocument(from: DocumentDraft(id: "a", body: [:]))
      try await writing.closeDatastore(named: "source")
      try FileManager.default.createDirectory(atPath: view, withIntermediateDirectories: false)
      try #require(mount(writable, view, nil, UInt(MS_BIND), nil) == 0, "errno \(errno)")
      defer { umount2(view, Int32(MNT_DETACH)) }
      let flags = UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY)
      try #require(mount(nil, view, nil, flags, nil) == 0, "errno \(errno)")
      let reading = try DatastoreManager(directory: view)
      let source = try await reading.datastore(named: "source")
      try await withServedStore { served in
        for peer in [Replication.Peer.store(served.local), .remote(try served.database())] {
          for changes in [1, 1] {
            var replication = Replication(.push, with: served.local)
            replication.peer = peer
            let result = try await Replicator(replication, of: source).replicate()
            #expect(result.pushed.changes == changes)
          }
        }
        #expect(try await served.remote.read { try $0.allDocumentIDs() } == ["a"])
        #expect(try await served.local.read { try $0.allDocumentIDs() } == ["a"])
      }
      try await reading.closeDatastore(named: "source")
    }
  }

  @Test(.timeLimit(.usual)) func `a store that is busy is written to later`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      var options = DatastoreOptions()
      options.busyTimeout = .milliseconds(50)
      let manager = try DatastoreManager(directory: directory, options: options)
      let (left, right) = (
        try await manager.datastore(named: "left"), try await manager.datastore(named: "right")
      )
      try await left.createDocument(from: DocumentDraft(id: "a", body: [:]))
      // Another manager stands for another process.
      let otherManager = try DatastoreManager(directory: directory)
      let other = try await otherManager.datastore(named: "right")
      defer { withExtendedLifetime(otherManager) {} }
      let isWriting = Atomic(false)
      let isFound = Atomic(false)
      let writing = Task {
        try await other.write { transaction in
          try transaction.createDocument(from: DocumentDraft(id: "b", body: [:]))
          isWriting.store(true, ordering: .relaxed)
          try blockUntil("the busy store is reported") { isFound.load(ordering: .relaxed) }
        }
      }
      try await eventually("the other write has begun") { isWriting.load(ordering: .relaxed) }
      var last: ReplicationStatus?
      for try await status in Replicator(Replication(.push, with: right), of: left).run() {
        if case .waiting = status.state { isFound.store(true, ordering: .relaxed) }
        last = status
      }
      #expect(last?.result.pushed.retries ?? 0 > 0)
      #expect(last?.result.pushed.revisionsWritten == 1)
      try await writing.value
    }
  }

  @Test(.timeLimit(.usual))
  func `a store that is closed ends an idle replication with an error that says so`()
    async throws
  {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let manager = try DatastoreManager(directory: directory)
      let left = try await manager.datastore(named: "left")
      var replication = Replication(.push, with: try await manager.datastore(named: "right"))
      replication.isContinuous = true
      let replicator = Replicator(replication, of: left)
      let error = await #expect(throws: DatastoreError.self) {
        for try await status in replicator.run() where status.state == .idle {
          try await manager.closeDatastore(named: "left")
        }
      }
      #expect(error?.code == .closed)
    }
  }

  @Test func `every leaf of a document arrives, however many there are`() async throws {
    try await withServedStore { served in
      let zeros = String(repeating: "0", count: 29)
      let leaves = (0..<230).compactMap { RevisionID("1-\(zeros)\(String(1_000 + $0).suffix(3))") }
      try await served.local.write { transaction in
        for leaf in leaves {
          try transaction.forceInsert(
            DocumentRevision(
              id: "doc", revisionID: leaf, body: ["text": .string(String(repeating: "x", count: 3_000))]),
            history: [leaf])
        }
      }
      try await served.replicate(.push)
      let found = try await served.remote.read { try $0.currentRevisions(ofDocument: "doc") }
      #expect(found.map(\.revisionID).sorted() == leaves.sorted())
    }
  }

  /// A server to push to, whose reply to `_bulk_docs` is scripted.
  private static func pushed(
    _ bulk: @escaping @Sendable () -> ScriptedServer.Reply,
    put: @escaping @Sendable () -> ScriptedServer.Reply = { .init(status: 201) }
  ) async throws -> (result: ReplicationResult, requests: [String]) {
    let server = try await ScriptedServer { request in
      let path = request.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
      if path.contains("/_local/") { return .init(status: request.hasPrefix("GET") ? 404 : 201) }
      if path.hasSuffix("/_revs_diff") {
        return .init(body: #"{"doc":{"missing":["1-c4103f122d27677c9db144cae1394a66"]}}"#)
      }
      if path.hasSuffix("/_bulk_docs") { return bulk() }
      if path.contains("/doc?") { return put() }
      return .init(body: #"{"db_name":"db","instance_start_time":"1"}"#)
    }
    let result = try await withStores { store, _ in
      try await store.createDocument(from: DocumentDraft(id: "doc", body: [:]))
      return try await Replicator(Replication(.push, with: try RemoteDatabase("\(server.url)/db")), of: store)
        .replicate()
    }
    await server.close()
    return (result, server.requests)
  }

  @Test(.timeLimit(.usual)) func `a document for which a node had no time is sent again`() async throws {
    let (result, requests) = try await Self.pushed {
      .init(
        status: 201, body: #"[{"id":"doc","rev":"1-c4103f122d27677c9db144cae1394a66","error":"timeout"}]"#)
    }
    #expect(result.rejected == [])
    #expect(result.pushed.revisionsWritten == 1)
    #expect(requests.count { $0.hasPrefix("PUT /db/doc?new_edits=false ") } == 1)
  }

  @Test(.timeLimit(.usual)) func `a server may say that any number of changes follows`() async throws {
    let server = try await ScriptedServer { request in
      let path = request.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
      if path.contains("/_local/") { return .init(status: request.hasPrefix("GET") ? 404 : 201) }
      if path.contains("/_changes") {
        return .init(
          body: #"{"results":[{"seq":1,"id":"a","changes":[]}],"last_seq":1,"pending":9223372036854775807}"#)
      }
      return .init(body: #"{"db_name":"db","instance_start_time":"1"}"#)
    }
    try await withStores { store, _ in
      let replication = Replication(.pull, with: try RemoteDatabase("\(server.url)/db"))
      let result = try await Replicator(replication, of: store).replicate()
      #expect(result.pulled.changes == 1)
    }
    await server.close()
  }

  @Test(.timeLimit(.usual)) func `live changes end when their task is cancelled`() async throws {
    try await withServedStore { served in
      let remote = RemoteDatastore(try served.database())
      let isWaiting = Mutex(false)
      let task = Task {
        var all = 0
        for try await changes in remote.liveChanges() {
          all += changes.documents.count
          isWaiting.withLock { $0 = true }
        }
        return all
      }
      try await served.remote.createDocument(from: DocumentDraft(id: "a", body: [:]))
      try await eventually("the replication waits") { isWaiting.withLock { $0 } }
      try await Task.sleep(for: .milliseconds(50))
      task.cancel()
      let all = try await task.value
      #expect(all == 1)
    }
  }
}
