import CDTDatastore
import CDTJSON
import CDTQuery
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import CoreMetrics
import CouchDB
import Foundation
import Synchronization
import Testing

@testable import CDTReplication

@Suite struct ReplicatorTests {
  /// Counts the requests of a replication by their method and the last part of their path.
  private final class RequestLog: Sendable {
    private let lines = Mutex<[String]>([])

    var interceptor: HTTPInterceptor {
      HTTPInterceptor { request in
        let path = request.url.prefix { $0 != "?" }
        let name =
          path.split(separator: "/").first { $0.hasPrefix("_") } ?? path.split(separator: "/").last ?? ""
        let line = "\(request.method) \(name)"
        self.lines.withLock { $0.append(line) }
      }
    }

    func count(_ line: String) -> Int { lines.withLock { $0.count { $0 == line } } }
    var all: [String] { lines.withLock { $0 } }
  }

  private static func fill(_ store: Datastore, _ count: Int, from first: Int = 0) throws {
    try store.write { transaction in
      for number in first..<first + count {
        try transaction.createDocument(
          from: DocumentDraft(
            id: "doc\(number)", body: ["n": .int(Int64(number)), "even": .bool(number % 2 == 0)]))
      }
    }
  }

  private static func error(_ body: () async throws -> Void) async -> ReplicationError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? ReplicationError
    }
  }

  @Test(arguments: [
    ("obsidian-livesync", "obsidian-livesync"), ("a$(b)+c", "a$(b)+c"), ("team/1", "team%2F1"),
  ])
  func `databases with a name of CouchDB replicate in both directions`(_ name: String, _ inURL: String)
    async throws
  {
    try await withServer { server in
      let local = try server.manager.datastore(named: DatabaseName("local-\(name)"))
      try Self.fill(local, 3)
      var replication = Replication(.both, with: try RemoteDatabase("\(server.url)/\(inURL)"))
      replication.createsDatabase = true
      for try await _ in Replicator(replication, of: local).run() {}
      let remote = try server.manager.existingDatastore(named: DatabaseName(name))
      #expect(try await remote.read { try $0.documentCount() } == 3)
      try Self.fill(remote, 2, from: 3)
      for try await _ in Replicator(replication, of: local).run() {}
      #expect(try await local.read { try $0.documentCount() } == 5)
    }
  }

  @Test func `indexes are replicated with their design documents, in both directions`() async throws {
    try await withServedStore { served in
      let body: JSONObject = ["language": "query", "views": ["a": ["map": ["fields": ["a": "asc"]]]]]
      _ = try await served.local.createDocument(from: DocumentDraft(id: "_design/here", body: body))
      _ = try await served.remote.createDocument(from: DocumentDraft(id: "_design/there", body: body))
      try await served.replicate(.both)
      for store in [served.local, served.remote] {
        #expect(try store.listIndexes().map(\.name) == ["_design/here/a", "_design/there/a"])
      }
      try await served.remote.deleteDocument(withID: "_design/here")
      try await served.replicate(.both)
      #expect(try served.local.listIndexes().map(\.name) == ["_design/there/a"])
    }
  }

  // MARK: Metrics

  /// A backend of metrics that keeps what gauges record.
  private final class RecordedGauges: MetricsFactory {
    final class Handler: RecorderHandler {
      let dimensions: [String]
      let values = Mutex<[Int64]>([])

      init(_ dimensions: [String]) { self.dimensions = dimensions }

      func record(_ value: Int64) { values.withLock { $0.append(value) } }
      func record(_ value: Double) {}
    }

    let made = Mutex<[Handler]>([])
    let destroyed = Atomic(0)

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
      let handler = Handler(dimensions.map { "\($0)=\($1)" })
      if label == "cdtdatastore_replication_pending_changes" { made.withLock { $0.append(handler) } }
      return handler
    }
    func destroyRecorder(_ handler: any RecorderHandler) {
      if made.withLock({ $0.contains { $0 === handler } }) { destroyed.add(1, ordering: .relaxed) }
    }
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
      NOOPMetricsHandler.instance
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
      NOOPMetricsHandler.instance
    }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
  }

  @Test func `a running replication records how many changes are pending`() async throws {
    try await withServedStore { served in
      try Self.fill(served.remote, 30)
      let gauges = RecordedGauges()
      _ = try await withMetricsFactory(gauges) {
        try await served.replicate(.pull) { $0.batchSize = 10 }
      }
      let gauge = try #require(gauges.made.withLock { $0 }.first)
      #expect(
        gauge.dimensions == ["database=\(served.local.name)", "direction=pull", "peer=\(served.url)"])
      let values = gauge.values.withLock { $0 }
      #expect(values.max() == 30)
      #expect(values.last == 0)
      #expect(gauges.destroyed.load(ordering: .relaxed) == 1)
    }
  }

  // MARK: Checkpoints

  @Test func `nothing to do takes six requests and writes nothing`() async throws {
    try await withServedStore { served in
      try Self.fill(served.remote, 10)
      try await served.replicate(.pull)
      let log = RequestLog()
      let before = try await (
        served.local.read { try $0.lastSequence() }, served.remote.read { try $0.lastSequence() }
      )
      let result = try await served.replicate(.pull) { replication in
        var database = try served.database()
        database.interceptors = [log.interceptor]
        replication.peer = .remote(database)
      }
      #expect(log.all.sorted() == ["GET _changes", "GET _local", "GET db"])
      #expect(result.pulled.changes == 0)
      #expect(
        try await before == (
          served.local.read { try $0.lastSequence() }, served.remote.read { try $0.lastSequence() }
        ))
    }
  }

  @Test func `both ends keep the history of the runs as CouchDB does`() async throws {
    try await withServedStore { served in
      try Self.fill(served.local, 3)
      let first = try await served.replicate(.push)
      #expect(first.pushed.startSequence == "0")
      try Self.fill(served.local, 2, from: 3)
      let again = try await served.replicate(.push)
      let id = try await #require(try served.local.read { try $0.localDocumentIDs() }.first)
      let mine = try await #require(try served.local.read { try $0.localDocument(withID: id) })
      let theirs = try await served.server.get("/db/_local/\(id)").json
      for checkpoint in [JSONValue.object(mine), theirs] {
        let history = checkpoint["history"]?.arrayValue ?? []
        #expect(history.count == 2)
        #expect(checkpoint["session_id"] == history.first?["session_id"])
        #expect(checkpoint["source_last_seq"] == history.first?["recorded_seq"])
        #expect(history.map { $0["docs_written"] } == [2, 3])
        #expect(
          history.first?["start_last_seq"] == again.pushed.startSequence.flatMap { .int(Int64($0) ?? -1) })
        #expect(history.first?["start_last_seq"] == history.last?["end_last_seq"])
        #expect(history.first?["start_time"]?.stringValue?.hasSuffix(" GMT") == true)
      }
    }
  }

  @Test func `a run that was cancelled is repeated from its last batch`() async throws {
    try await withServedStore { served in
      try Self.fill(served.local, 100)
      let log = RequestLog()
      var replication = Replication(.push, with: try served.database())
      replication.batchSize = 10
      let replicator = Replicator(replication, of: served.local)
      for try await status in replicator.run() where status.done >= 50 { break }
      let arrived = try await served.remote.read { try $0.documentCount() }
      let result = try await served.replicate(.push) { next in
        next.batchSize = 10
        var database = try served.database()
        database.interceptors = [log.interceptor]
        next.peer = .remote(database)
      }
      #expect(arrived >= 50)
      #expect(try await served.remote.read { try $0.documentCount() } == 100)
      // The batches that were left, and the one that may have been under way.
      #expect(log.count("POST _revs_diff") <= 6)
      #expect(result.pushed.revisionsWritten <= 50)
    }
  }

  @Test(.timeLimit(.usual))
  func `while a batch is ended, the next one is read, and not written`() async throws {
    try await withServedStore { served in
      try Self.fill(served.remote, 40)
      let log = RequestLog()
      let (local, counts) = (served.local, Gathered<Int>())
      try await served.replicate(.pull) { replication in
        replication.batchSize = 10
        var database = try served.database()
        database.interceptors = [
          log.interceptor,
          HTTPInterceptor { request in
            guard request.method == "PUT" else { return }
            // The first checkpoint of the source has to wait until the second batch was asked for.
            let batch = log.count("PUT _local")
            try await eventually("the next batch was requested") {
              batch >= 4 || log.count("POST _bulk_get") > batch
            }
            try await Task.sleep(for: .milliseconds(50))
            counts.append(try await local.read { try $0.documentCount() })
          },
        ]
        replication.peer = .remote(database)
      }
      #expect(counts.all == [10, 20, 30, 40])
    }
  }

  @Test(.timeLimit(.usual))
  func `a batch that fails while the one before is ended leaves that one its checkpoint`() async throws {
    try await withServedStore { served in
      try Self.fill(served.remote, 200)
      let requested = Mutex(0)
      let replied = Atomic(0)
      let failed = Atomic(false)
      let error = await Self.error {
        try await served.replicate(.pull) { replication in
          // Two requests of 50 documents.
          replication.batchSize = 100
          var database = try served.database()
          database.interceptors = [
            HTTPInterceptor { request in
              if request.url.contains("_bulk_get") {
                let number = requested.withLock { requested in
                  requested += 1
                  return requested
                }
                guard number == 4 else { return }
                try await eventually("the other request of the second batch has its reply") {
                  replied.load(ordering: .acquiring) == 3
                }
                failed.store(true, ordering: .releasing)
                throw ReplicationError(.invalidReply, "the fourth one")
              }
              guard request.method == "PUT" else { return }
              try await eventually("the second batch fails") { failed.load(ordering: .acquiring) }
            } reply: { reply in
              if reply.request.url.contains("_bulk_get") { replied.add(1, ordering: .acquiringAndReleasing) }
            }
          ]
          replication.peer = .remote(database)
        }
      }
      #expect(error?.message.contains("the fourth one") == true)
      #expect(try await served.local.read { try $0.documentCount() } == 100)
      let checkpoint = try await #require(try served.local.read { try $0.localDocumentIDs() }.first)
      #expect(try await served.remote.read { try $0.localDocumentIDs() }.contains(checkpoint))
    }
  }

  @Test func `a checkpoint that fails ends the run before the next batch is written`() async throws {
    try await withServedStore { served in
      try Self.fill(served.remote, 40)
      let log = RequestLog()
      let error = await Self.error {
        try await served.replicate(.pull) { replication in
          replication.batchSize = 10
          var database = try served.database()
          database.interceptors = [
            log.interceptor,
            HTTPInterceptor { request in
              guard request.method == "PUT", log.count("PUT _local") == 2 else { return }
              throw ReplicationError(.invalidReply, "the second one")
            },
          ]
          replication.peer = .remote(database)
        }
      }
      #expect(error?.message.contains("the second one") == true)
      #expect(try await served.local.read { try $0.documentCount() } == 20)
      try await served.replicate(.pull)
      #expect(try await served.local.read { try $0.documentCount() } == 40)
    }
  }

  @Test func `a database that was deleted and created again is filled again`() async throws {
    try await withServedStore { served in
      try Self.fill(served.local, 10)
      try await served.replicate(.push)
      #expect(try await served.server.delete("/db").status == 200)
      #expect(try await served.server.put("/db").status == 201)
      let result = try await served.replicate(.push)
      #expect(result.pushed.revisionsWritten == 10)
      #expect(try await served.server.get("/db").json["doc_count"] == 10)
    }
  }

  // MARK: Filters

  @Test func `a pull can be filtered by the server and by ids`() async throws {
    try await withServedStore { served in
      try Self.fill(served.remote, 10)
      try await served.replicate(.pull, filter: .documentIDs(["doc1", "doc3", "other"]))
      #expect(try await served.local.read { try $0.allDocumentIDs() } == ["doc1", "doc3"])
      try await served.replicate(.pull, filter: .selector(["even": true]))
      #expect(
        try await served.local.read { try $0.allDocumentIDs() } == [
          "doc0", "doc1", "doc2", "doc3", "doc4", "doc6", "doc8",
        ])
      try await served.replicate(.pull)
      #expect(try await served.local.read { try $0.documentCount() } == 10)
    }
  }

  @Test(arguments: [Replication.Direction.pull, .push])
  func `a document that leaves a selector is updated at the target, if that has it`(
    _ direction: Replication.Direction
  ) async throws {
    try await withServedStore { served in
      let (source, target) =
        direction == .pull ? (served.remote, served.local) : (served.local, served.remote)
      try Self.fill(source, 100)
      try await source.ensureIndexed(["n"])
      let filter = ReplicationFilter.selector(["n": ["$lt": 3]])
      func replicate() async throws -> ReplicationResult.Counts {
        let result = try await served.replicate(direction, filter: filter) { $0.pushesLeftFilter = true }
        return direction == .pull ? result.pulled : result.pushed
      }
      #expect(try await replicate().revisionsWritten == 3)
      #expect(try await target.read { try $0.allDocumentIDs() } == ["doc0", "doc1", "doc2"])
      try await source.write { transaction in
        for id in ["doc0", "doc50"] {
          try transaction.update(matching: ["_id": .string(id)], .set("n", 77))
        }
        try transaction.deleteDocument(withID: "doc1")
        try transaction.deleteDocument(withID: "doc60")
      }
      // A document that is not the same, and a revision of one that another replication has brought.
      try await source.write { try $0.createDocument(from: DocumentDraft(id: "other", body: ["n": 50])) }
      try await source.write { _ = try $0.update(matching: ["_id": "other"], .set("secret", 1)) }
      try await target.write { try $0.createDocument(from: DocumentDraft(id: "other", body: [:])) }
      let counts = try await replicate()
      #expect(counts.revisionsWritten == 2 && counts.leftFilter == 2)
      #expect(try await target.document(withID: "other").body["secret"] == nil)
      try await target.write { try $0.deleteDocument(withID: "other") }
      #expect(try await target.read { try $0.allDocumentIDs() } == ["doc0", "doc2"])
      #expect(try await target.document(withID: "doc0").body["n"] == 77)
      #expect(try await target.find(["n": ["$lt": 3]]).map(\.id) == ["doc2"])
      #expect(try await replicate().revisionsWritten == 0)
    }
  }

  @Test func `a push sends no revision that its filter does not accept, unless it is asked to`() async throws
  {
    try await withServedStore { served in
      try Self.fill(served.local, 5)
      let filter = ReplicationFilter.selector(["n": ["$lt": 3]])
      try await served.replicate(.push, filter: filter)
      try await served.local.write { _ = try $0.update(matching: ["n": 0], .set("n", 77)) }
      #expect(try await served.replicate(.push, filter: filter).pushed.revisionsWritten == 0)
      #expect(try await served.remote.document(withID: "doc0").body["n"] == 0)
    }
  }

  @Test func `a push can be filtered by a selector, by ids and by a closure`() async throws {
    try await withServedStore { served in
      try Self.fill(served.local, 10)
      try await served.replicate(.push, filter: .selector(["n": ["$gte": 8]]))
      #expect(try await served.remote.read { try $0.allDocumentIDs() } == ["doc8", "doc9"])
      try await served.replicate(.push, filter: .documentIDs(["doc1"]))
      try await served.replicate(.push, filter: .closure(named: "three") { $0.body["n"] == 3 })
      #expect(try await served.remote.read { try $0.allDocumentIDs() } == ["doc1", "doc3", "doc8", "doc9"])
      let error = await Self.error { try await served.replicate(.push, filter: .designDocument("a/b")) }
      #expect(error?.code == .invalidRequest)
      let malformed = await Self.error {
        try await served.replicate(.push, filter: .selector(["n": ["$gtt": 1]]))
      }
      #expect(malformed?.code == .invalidRequest)
    }
  }

  // MARK: Errors

  @Test func `a database that does not exist is an error, or created`() async throws {
    try await withServedStore { served in
      try Self.fill(served.local, 1)
      let url = "\(served.server.url)/new"
      let error = await Self.error {
        try await served.replicate(.push) { $0.peer = .remote(try RemoteDatabase(url)) }
      }
      #expect(error?.code == .notFound)
      #expect(error?.message.hasPrefix("\(url): the database does not exist") == true)
      try await served.replicate(.push) { replication in
        replication.peer = .remote(try RemoteDatabase(url))
        replication.createsDatabase = true
      }
      #expect(try await served.server.get("/new").json["doc_count"] == 1)
      try await served.replicate(.both) { replication in
        replication.peer = .remote(try RemoteDatabase("\(url)er"))
        replication.createsDatabase = true
      }
      #expect(try await served.server.get("/newer").json["doc_count"] == 1)
    }
  }

  @Test func `a server that can't be reached is tried again as often as allowed`() async throws {
    try await withServedStore { served in
      let proxy = try await FaultyProxy(to: served.server.port, seed: 1, .all(.none))
      let port = proxy.port
      await proxy.close()
      let attempts = Mutex(0)
      let error = await Self.error {
        try await served.replicate(.pull) { replication in
          var database = try RemoteDatabase("http://ana:secret@127.0.0.1:\(port)/db")
          database.credentials = nil
          database.interceptors = [HTTPInterceptor { _ in attempts.withLock { $0 += 1 } }]
          replication.peer = .remote(database)
          replication.retries.maximumAttempts = 3
        }
      }
      #expect(error?.code == .unreachable)
      #expect(attempts.withLock { $0 } == 3)
      #expect(error?.message.contains("secret") == false)
    }
  }

  @Test(.timeLimit(.usual))
  func `a replication that is told to stop before it has begun ends`() async throws {
    try await withStores { store, other in
      for peer in [Replication.Peer.store(other), .remote(try RemoteDatabase("http://127.0.0.1:1/db"))] {
        var replication = Replication(.both, with: other)
        replication.peer = peer
        replication.isContinuous = true
        let replicator = Replicator(replication, of: store)
        let statuses = replicator.run()
        replicator.stop()
        for try await _ in statuses {}
      }
    }
  }

  @Test(.timeLimit(.usual))
  func `an error that lasts in one direction ends a continuous replication in both`() async throws {
    try await withServedStore { served in
      try Self.fill(served.local, 10)
      let error = await Self.error {
        try await served.replicate(.both) { replication in
          replication.isContinuous = true
          var database = try served.database()
          database.interceptors = [
            HTTPInterceptor { request in
              if request.url.contains("_changes") { throw ReplicationError(.forbidden, "no changes") }
            }
          ]
          replication.peer = .remote(database)
        }
      }
      #expect(error?.code == .forbidden)
    }
  }

  @Test func `a replication that is told to stop while it waits for a server ends without an error`()
    async throws
  {
    try await withStores { store, _ in
      try Self.fill(store, 1)
      var replication = Replication(.both, with: try RemoteDatabase("http://127.0.0.1:1/db"))
      replication.isContinuous = true
      let replicator = Replicator(replication, of: store)
      var last = ReplicationStatus.State.running
      for try await status in replicator.run() {
        last = status.state
        if case .waiting = last { replicator.stop() }
      }
      #expect(last == .stopped)
    }
  }

  @Test func `documents that the server rejects are listed, and the others arrive`() async throws {
    try await withServedStore({ $0.limits.documentLength = 1_000 }) { served in
      try Self.fill(served.local, 5)
      try await served.local.createDocument(
        from: DocumentDraft(id: "large", body: ["text": .string(String(repeating: "x", count: 2_000))]))
      let result = try await served.replicate(.push)
      #expect(result.rejected.map(\.id) == ["large"])
      #expect(result.rejected.first?.reason.contains("document_too_large") == true)
      #expect(try await served.remote.read { try $0.documentCount() } == 5)
      #expect(result.pushed.revisionsWritten == 5)
    }
  }

  // MARK: Credentials

  private static func withUser(_ body: (ServedStore) async throws -> Void) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let file = "\(directory)/users.json"
      _ = try UserFile(file).setPassword("the password", of: "ana", roles: ["_admin"])
      try await withServedStore({ $0.usersFile = file }) { served in
        try Self.fill(served.remote, 3)
        try await body(served)
      }
    }
  }

  @Test(arguments: [Credentials.basic("ana", "the password"), .session("ana", "the password")])
  func `a user can replicate`(_ credentials: Credentials) async throws {
    try await Self.withUser { served in
      try await served.replicate(.both) { $0.peer = .remote(try served.database(credentials)) }
      #expect(try await served.local.read { try $0.documentCount() } == 3)
      #expect(!"\(credentials)".contains("password"))
    }
  }

  @Test(arguments: [
    Credentials.basic("ana", "wrong secret"), .session("ana", "wrong secret"), .bearer("secret"), nil,
  ])
  func `others can't, and the error does not say their passwords`(_ credentials: Credentials?) async throws {
    try await Self.withUser { served in
      let error = await Self.error {
        try await served.replicate(.pull) { $0.peer = .remote(try served.database(credentials)) }
      }
      #expect(error?.code == .unauthorized)
      #expect(error?.message.contains("secret") == false)
      var dumped = ""
      dump(credentials, to: &dumped)
      #expect(!dumped.contains("secret"))
    }
  }

  @Test func `credentials in a URL are removed from it`() throws {
    let database = try RemoteDatabase("https://ana:p%40ss@couch.example.org:6984/a%2Fb/")
    #expect(database.url == "https://couch.example.org:6984/a%2Fb")
    #expect(database.server == "https://couch.example.org:6984")
    #expect("\(database)".contains("p@ss") == false)
    for url in [
      "ftp://a/b", "http://a", "http://a/", "a/b", "http:///b", "http://a/b?c", "", "http://a:0/b",
      "http://a:65536/b", "http://[::1]:99999999999999999999/b", "http://a%00b/c", "http://[]/b",
      "http://ana@a/b",
    ] {
      #expect(throws: ReplicationError.self, "\(url)") { try RemoteDatabase(url) }
    }
  }

  // MARK: Continuous

  @Test func `a continuous replication carries writes both ways until it is stopped`() async throws {
    try await withServedStore { served in
      var replication = Replication(.both, with: try served.database())
      replication.isContinuous = true
      let replicator = Replicator(replication, of: served.local)
      var round = 0
      for try await status in replicator.run() {
        if status.state == .stopped { break }
        let counts = try await (
          served.local.read { try $0.documentCount() }, served.remote.read { try $0.documentCount() }
        )
        guard counts == (round * 2, round * 2) else { continue }
        round += 1
        if round == 4 {
          replicator.stop()
        } else {
          try await served.local.createDocument(from: DocumentDraft(id: "here\(round)", body: [:]))
          try await served.remote.createDocument(from: DocumentDraft(id: "there\(round)", body: [:]))
        }
      }
      #expect(round == 4)
      #expect(
        try await served.local.read { try $0.allDocumentIDs() }
          == served.remote.read { try $0.allDocumentIDs() })
    }
  }

  @Test func `a replication in both directions is idle when both are`() {
    let states = Gathered<ReplicationStatus.State>()
    let progress = ReplicationProgress([false, true]) { states.append($0.state) }
    for isPush in [true, false] {
      ReplicationProgress.DirectionProgress(progress: progress, isPush: isPush).become(.idle)
    }
    #expect(states.all == [.running, .idle])
  }

  @Test func `a revision is listed as rejected once, however often it is sent`() {
    let progress = ReplicationProgress([true]) { _ in }
    let direction = ReplicationProgress.DirectionProgress(progress: progress, isPush: true)
    // Ids are told apart by their bytes.
    let rejected = ["\u{e9}", "e\u{301}"].map { RejectedRevision(id: $0, revision: "1-a", reason: "no") }
    for _ in 0..<3 { direction.reject(rejected) }
    #expect(direction.counts.rejected.count == 2)
  }

  // MARK: Attachments

  @Test func `large attachments travel in both directions`() async throws {
    try await withServedStore { served in
      let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7_919 >> 5) })
      for (store, id) in [(served.local, "here"), (served.remote, "there")] {
        var draft = DocumentDraft(id: id, body: [:])
        draft.attachments["a"] = DocumentAttachment(data: content, name: "a", contentType: "image/png")
        try await store.createDocument(from: draft)
      }
      // It is part of the JSON.
      let small = DocumentAttachment(data: Data("b".utf8), name: "b", contentType: "text/plain")
      for (store, id) in [(served.local, "small here"), (served.remote, "small there")] {
        try await store.createDocument(from: DocumentDraft(id: id, body: [:], attachments: [small]))
      }
      let result = try await served.replicate(.both)
      #expect(result.pushed.attachments == 2)
      #expect(result.pulled.attachments == 2)
      for (store, id) in [(served.remote, "here"), (served.local, "there")] {
        #expect(try await store.document(withID: id).attachments["a"]?.data() == content)
      }
      // An edit does not send the attachment again.
      for id in ["here", "small here"] {
        try await served.local.updateDocument(withID: id) { $0.body["n"] = 1 }
      }
      let again = try await served.replicate(.push)
      #expect(again.pushed.attachments == 0)
      #expect(again.pushed.bytes < 10_000)
      #expect(try await served.remote.document(withID: "here").attachments["a"]?.data() == content)
    }
  }

  @Test func `an attachment without a generation travels with each revision`() async throws {
    try await withServedStore { served in
      func save(_ revision: String, _ ancestors: [JSONValue], _ data: String) async throws {
        let reply = try await served.server.post(
          "/db/_bulk_docs",
          [
            "new_edits": false,
            "docs": [
              [
                "_id": "doc", "_rev": .string(revision),
                "_revisions": ["start": .int(Int64(ancestors.count)), "ids": .array(ancestors)],
                "_attachments": ["x": ["data": .string(data)]],
              ]
            ],
          ])
        #expect(reply.status == 201)
      }
      _ = try await served.server.put("/copy")
      let copy = Replication(.push, with: try RemoteDatabase("\(served.server.url)/copy"))
      for (revision, ancestors, data, text) in [
        ("1-a", ["a"], "b2xk", "old"), ("2-b", ["b", "a"], "bmV3", "new"),
      ] as [(String, [JSONValue], String, String)] {
        try await save(revision, ancestors, data)
        try await served.replicate(.pull)
        #expect(try await served.local.document(withID: "doc").attachments["x"]?.data() == Data(text.utf8))
        try await Replicator(copy, of: served.local).replicate()
        #expect(try await served.server.get("/copy/doc/x").text == text)
      }
    }
  }

  @Test func `a stub with another digest than the known attachment is not taken for it`() async throws {
    try await withServedStore { served in
      func post(_ document: JSONValue) async throws -> JSONValue {
        try await served.server.post("/db/_bulk_docs", ["new_edits": false, "docs": [document]]).json
      }
      _ = try await post(["_id": "doc", "_rev": "1-a", "_attachments": ["x": ["data": "b2xk"]]])
      let stub: JSONValue = ["stub": true, "revpos": 1, "digest": "sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA="]
      let refused = try await post([
        "_id": "doc", "_rev": "2-b", "_revisions": ["start": 2, "ids": ["b", "a"]],
        "_attachments": ["x": stub],
      ])
      #expect(refused[0]?["error"] == "missing_stub", "\(refused)")
    }
  }
}
