import CDTPlatform
import CDTQuery
import CDTSQLite
import CDTTestSupport
import Synchronization
import Testing

@testable import CDTDatastore

@Suite struct WriteTests {
  struct OwnError: Error, Equatable {
    let number: Int
  }

  @Test func `several writes are one, and its value comes out`() throws {
    try withTemporaryDatastore { store in
      let ids = try store.write { transaction in
        let a = try transaction.createDocument(from: DocumentDraft(id: "a", body: [:]))
        let b = try transaction.createDocument(from: DocumentDraft(id: "b", body: [:]))
        try transaction.deleteDocument(from: a)
        return [a.id, b.id]
      }
      #expect(ids == ["a", "b"])
      #expect(try store.read { try $0.allDocumentIDs() } == ["b"])
      #expect(try store.read { try $0.lastSequence() } == 3)
    }
  }

  @Test func `an error of the closure rolls back and comes through as it is`() throws {
    try withTemporaryDatastore { store in
      let saved = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      let before = try StoreState(store)
      let error = #expect(throws: OwnError.self) {
        try store.write { transaction in
          try transaction.createDocument(from: DocumentDraft(id: "b", body: [:]))
          try transaction.deleteDocument(from: saved)
          throw OwnError(number: 7)
        }
      }
      #expect(error == OwnError(number: 7))
      #expect(try StoreState(store) == before)
      #expect(try store.createDocument(from: DocumentDraft(id: "b", body: [:])).sequence == 2)
    }
  }

  @Test func `reads in a write see what it has written, others do not`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        let a = try transaction.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
        #expect(try transaction.document(withID: "a") == a)
        var changed = a
        changed.body = ["n": 2]
        let second = try transaction.updateDocument(from: changed)
        let first = a.revisionID
        #expect(try transaction.document(withID: "a") == second)
        #expect(try transaction.document(withID: "a", revisionID: first) == a)
        #expect(try transaction.documents(withIDs: ["x", "a"]) == [second])
        let unknown = datastoreError { try transaction.document(withID: "x") }
        #expect(unknown?.code == .notFound)
        let unseen = datastoreError { try store.document(withID: "a") }
        #expect(unseen?.code == .notFound)
      }
      #expect(try store.document(withID: "a").body == ["n": 2])
    }
  }

  @Test func `a write within a write is refused, and the outer one goes on`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        try transaction.createDocument(from: DocumentDraft(id: "a", body: [:]))
        let error = datastoreError { try store.createDocument(from: DocumentDraft(id: "b", body: [:])) }
        #expect(error?.code == .nestedWrite)
        #expect(
          error?.message
            == #"a write to "store" was started inside another write to it; use the transaction of the outer write"#
        )
        try transaction.createDocument(from: DocumentDraft(id: "c", body: [:]))
      }
      #expect(try store.read { try $0.allDocumentIDs() } == ["a", "c"])
      try store.createDocument(from: DocumentDraft(id: "d", body: [:]))
    }
  }

  @Test func `a write to another store within a write is fine`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let (a, b) = (try manager.datastore(named: "a"), try manager.datastore(named: "b"))
      try a.write { transaction in
        try transaction.createDocument(from: DocumentDraft(id: "x", body: [:]))
        try b.createDocument(from: DocumentDraft(id: "y", body: [:]))
      }
      #expect(try (a.read { try $0.allDocumentIDs() } + b.read { try $0.allDocumentIDs() }) == ["x", "y"])
    }
  }

  @Test func `a write that comes back to its own store through another is refused`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let (a, b) = (try manager.datastore(named: "a"), try manager.datastore(named: "b"))
      try a.write { transaction in
        try transaction.createDocument(from: DocumentDraft(id: "1", body: [:]))
        try b.write { inner in
          try inner.createDocument(from: DocumentDraft(id: "2", body: [:]))
          let error = datastoreError { try a.createDocument(from: DocumentDraft(id: "3", body: [:])) }
          #expect(error?.code == .nestedWrite)
        }
      }
      #expect(try a.read { try $0.allDocumentIDs() } == ["1"])
      #expect(try b.read { try $0.allDocumentIDs() } == ["2"])
    }
  }

  /// Each has one store and waits for the other's, with indexes or without.
  @Test(.timeLimit(.usual), arguments: [false, true])
  func `stores that are written within each other in both orders end in a busy error`(hasIndexes: Bool) throws
  {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.busyTimeout = .milliseconds(200)
      let manager = try DatastoreManager(directory: directory, options: options)
      let stores = [try manager.datastore(named: "a"), try manager.datastore(named: "b")]
      if hasIndexes { for store in stores { try store.ensureIndexed(["n"]) } }
      let inside = Atomic(0)
      let errors = Mutex<[(any Error)?]>([nil, nil])
      onThreads(2) { number in
        do {
          try stores[number].write { transaction in
            try transaction.createDocument(from: DocumentDraft(id: "outer \(number)", body: ["n": 1]))
            inside.add(1, ordering: .acquiringAndReleasing)
            try blockUntil("both writes have begun") { inside.load(ordering: .acquiring) == 2 }
            try stores[1 - number].createDocument(
              from: DocumentDraft(id: "inner \(number)", body: ["n": 1]))
          }
        } catch {
          errors.withLock { $0[number] = error }
        }
      }
      let codes = errors.withLock { $0.map { error in error.map { ($0 as? DatastoreError)?.code } } }
      #expect(codes.contains(.busy))
      for (number, code) in codes.enumerated() {
        #expect(code == nil || code == .busy)
        // All of it is there, or nothing.
        #expect(
          try stores[number].read { try $0.allDocumentIDs() }.contains("outer \(number)") == (code == nil))
        #expect(
          try stores[1 - number].read { try $0.allDocumentIDs() }.contains("inner \(number)") == (code == nil)
        )
      }
      for store in stores {
        try store.createDocument(from: DocumentDraft(id: "after", body: ["n": 1]))
        #expect(try store.checkIndexes() == [])
      }
    }
  }

  @Test func `a transaction is over with its write`() throws {
    try withTemporaryDatastore { store in
      let (kept, saved) = try store.write { transaction in
        (transaction, try transaction.createDocument(from: DocumentDraft(id: "a", body: [:])))
      }
      let uses: [() throws -> Any] = [
        { try kept.document(withID: "a") }, { try kept.documents(withIDs: []) },
        { try kept.createDocument(from: DocumentDraft(body: [:])) },
        { try kept.updateDocument(from: saved) }, { try kept.deleteDocument(from: saved) },
        { try kept.deleteDocument(withID: "a") },
      ]
      for use in uses { #expect(datastoreError(use)?.code == .closed) }
      #expect(try store.read { try $0.lastSequence() } == 1)
    }
  }

  @Test func `an asynchronous write awaits its turn`() async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let manager = try DatastoreManager(directory: directory)
    let store = try await manager.datastore(named: "store")
    try await withThrowingTaskGroup(of: DocumentRevision.self) { group in
      for number in 0..<40 {
        group.addTask { () async throws -> DocumentRevision in
          try await store.write { transaction in
            try transaction.createDocument(from: DocumentDraft(id: "\(number)", body: [:]))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.read { try $0.documentCount() } == 40)
    await #expect(throws: OwnError(number: 1)) {
      try await store.write { transaction -> Int in
        try transaction.createDocument(from: DocumentDraft(body: [:]))
        throw OwnError(number: 1)
      }
    }
    #expect(try await store.read { try $0.documentCount() } == 40)
    try await manager.closeDatastore(named: "store")
  }

  @Test(arguments: ["ABORT", "ROLLBACK", "FAIL"])
  func `a failure of the database that the closure passes over is not committed`(_ kind: String) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let saved = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      // The revision is copied into the history before the document's row is updated.
      try withDatabase(of: "store", in: directory) {
        try $0.execute(
          "CREATE TRIGGER fails BEFORE UPDATE ON documents BEGIN SELECT RAISE(\(kind), 'broken'); END")
      }
      let before = try StoreState(store)
      let error = datastoreError {
        try store.write { transaction in
          try transaction.createDocument(from: DocumentDraft(id: "b", body: [:]))
          let failed = datastoreError { try transaction.updateDocument(from: saved) }
          #expect(failed?.code == .io)
          let later = datastoreError { try transaction.document(withID: "a") }
          #expect(later == failed)
        }
      }
      #expect(error?.code == .io)
      #expect(error?.message.contains("broken") == true)
      #expect(try StoreState(store) == before)
      #expect(try store.read { try $0.revisionHistory(of: saved) }.count == 1)
      try withDatabase(of: "store", in: directory) { try $0.execute("DROP TRIGGER fails") }
      try store.updateDocument(from: saved)
    }
  }

  @Test func `a full disk is an error of its own and loses nothing`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      let before = try StoreState(store)
      let large = DocumentDraft(id: "b", body: ["s": .string(String(repeating: "x", count: 1 << 20))])
      try store.withWriter { _ = try $0.connection.scalar("PRAGMA max_page_count = 30") }
      let error = datastoreError { try store.createDocument(from: large) }
      #expect(error?.code == .full)
      #expect(error?.status == 507)
      #expect(
        error?.message
          == "the disk is full: nothing was saved in \(directory)/store/db.sync; free some space and try again"
      )
      #expect(try StoreState(store) == before)
      try store.withWriter { _ = try $0.connection.scalar("PRAGMA max_page_count = 100000") }
      try store.createDocument(from: large)
    }
  }
}

@Suite struct TwoManagersTests {
  private static func open(_ directory: String, busy: Duration = .seconds(60)) throws -> DatastoreManager {
    var options = DatastoreOptions()
    options.busyTimeout = busy
    return try DatastoreManager(directory: directory, options: options)
  }

  @Test func `a write while another manager writes is busy after the timeout`() throws {
    try withTemporaryDirectory { directory in
      let ours = try Self.open(directory)
      let theirs = try Self.open(directory, busy: .milliseconds(20))
      let (a, b) = (try ours.datastore(named: "store"), try theirs.datastore(named: "store"))
      try a.write { transaction in
        try transaction.createDocument(from: DocumentDraft(id: "a", body: [:]))
        let error = datastoreError { try b.createDocument(from: DocumentDraft(id: "b", body: [:])) }
        #expect(error?.code == .busy)
        #expect(
          error?.message
            == "another process is writing to \(directory)/store/db.sync; try again later")
        #expect(try b.read { try $0.documentCount() } == 0)
      }
      try b.createDocument(from: DocumentDraft(id: "b", body: [:]))
      #expect(try a.read { try $0.allDocumentIDs() } == ["a", "b"])
    }
  }

  @Test func `no update is lost between managers and threads`() throws {
    try withTemporaryDirectory { directory in
      let managers = [try Self.open(directory), try Self.open(directory)]
      let stores = try managers.map { try $0.datastore(named: "store") }
      try stores[0].createDocument(from: DocumentDraft(id: "counter", body: ["n": 0]))
      let failures = Mutex<[String]>([])
      onThreads(4) { number in
        for _ in 0..<40 {
          do {
            try stores[number % 2].write { transaction in
              var counter = try transaction.document(withID: "counter")
              let count = counter.body["n"]?.intValue ?? 0
              counter.body = ["n": .init(count + 1)]
              try transaction.updateDocument(from: counter)
            }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(try stores[0].document(withID: "counter").body == ["n": 160])
      #expect(try stores[1].document(withID: "counter").revisionID.generation == 161)
    }
  }

  @Test func `of racing updates of one revision one wins and the others conflict`() throws {
    try withTemporaryDirectory { directory in
      let managers = [try Self.open(directory), try Self.open(directory)]
      let stores = try managers.map { try $0.datastore(named: "store") }
      let first = try stores[0].createDocument(from: DocumentDraft(id: "a", body: ["n": 0]))
      let outcomes = Mutex<[DatastoreError.Code?]>([])
      onThreads(6) { number in
        var mine = first
        mine.body = ["n": .int(Int64(number + 1))]
        var code: DatastoreError.Code?
        do {
          try stores[number % 2].updateDocument(from: mine)
        } catch {
          code = (error as? DatastoreError)?.code ?? .io
        }
        outcomes.withLock { $0.append(code) }
      }
      #expect(outcomes.withLock { $0.count { $0 == nil } } == 1)
      #expect(outcomes.withLock { $0.count { $0 == .conflict } } == 5)
      #expect(try stores[0].read { try $0.lastSequence() } == 2)
    }
  }
}
