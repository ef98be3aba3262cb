import CDTQuery
import CDTTestSupport
import Dispatch
import FoundationEssentials
import Synchronization
import Testing

/// Asynchronous forms wait on threads of the datastore's own, and end when their task does.
@Suite struct AsyncTests {
  private static func fill(_ store: Datastore, _ count: Int) async throws {
    try await store.write { transaction in
      for number in 0..<count {
        try transaction.createDocument(
          from: DocumentDraft(id: "d\(number)", body: ["n": number, "group": number % 10]))
      }
    }
  }

  /// A pattern that takes long to fail, and documents that it fails on.
  private static let slow: JSONObject = ["s": ["$regex": "^(x+x+)+y"]]

  private static func fillHard(_ store: Datastore, _ count: Int) async throws {
    let hard = String(repeating: "x", count: 18) + "zy"
    try await store.write { transaction in
      for _ in 0..<count { try transaction.createDocument(from: DocumentDraft(body: ["s": hard])) }
    }
  }

  /// Calls a closure that is synchronous, which takes the synchronous forms.
  private func synchronously<R>(_ body: () throws -> R) rethrows -> R { try body() }

  // MARK: Many at once

  @Test func `a thousand queries and writes at once leave Swift's threads to others`() async throws {
    try await withTemporaryDatastore { store in
      try await Self.fill(store, 1_000)
      try await store.ensureIndexed(["group"])
      // Writes wait for the one that is under way, and none of them has a thread of the pool, which has one for each core.
      let (hasBegun, mayEnd) = (Signal(), Signal())
      let first = Task {
        try await store.write { transaction in
          hasBegun.set()
          return mayEnd.wait(seconds: 120)
        }
      }
      await hasBegun.waited()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<1_000 {
          group.addTask {
            switch number % 4 {
            case 0:
              try await store.createDocument(from: DocumentDraft(id: "new \(number)", body: ["group": 77]))
            case 1:
              #expect(try await store.count(["group": .int(Int64(number % 10))]) == 100)
            case 2:
              #expect(
                try await store.find(["group": .int(Int64(number % 10))], limit: 5, sort: ["n"]).count == 5)
            default:
              try await store.updateDocument(withID: "d\(number)") { $0.body["touched"] = true }
            }
          }
        }
        // A pool without a free thread would run no other task until the write is given up.
        for _ in 0..<3 { await Task.detached { await Task.yield() }.value }
        mayEnd.set()
        try await group.waitForAll()
      }
      #expect(try await first.value)
      #expect(try await store.count(["group": 77]) == 250)
      #expect(try await store.count(["touched": true]) == 250)
    }
  }

  @Test func `an operation of each kind has an asynchronous form that does the same`() async throws {
    try await withTemporaryDatastore { store in
      try await Self.fill(store, 20)
      let query = try Query(["n": ["$lt": 5]], sort: [.descending("n")])
      #expect(
        try await store.read { try $0.find(query) } == synchronously { try store.read { try $0.find(query) } }
      )
      #expect(try await store.read { try $0.documentIDs(query) } == ["d4", "d3", "d2", "d1", "d0"])
      #expect(try await store.read { try $0.firstDocument(Query([:], sort: ["n"])) }?.id == "d0")
      #expect(try await store.read { try $0.contains(Query(["n": 3])) })
      #expect(
        try await store.read { try $0.explain(query) }.description
          == synchronously { try store.read { try $0.explain(query) }.description })
      #expect(
        try await store.read { try $0.allDocumentIDs() }
          == synchronously { try store.read { try $0.allDocumentIDs() } })
      #expect(
        try await store.read { try $0.allDocuments(limit: 2) }
          == synchronously { try store.read { try $0.allDocuments(limit: 2) } })
      #expect(try await store.read { try $0.documentCount() } == 20)
      #expect(try await store.read { try $0.lastSequence() } == 20)
      #expect(try await store.changes(since: 18).documents.map(\.id) == ["d18", "d19"])
      let first = try await store.document(withID: "d1")
      #expect(try await store.read { try $0.document(withID: "d1", revisionID: first.revisionID) } == first)
      #expect(try await store.documents(withIDs: ["d1", "d2"]).count == 2)
      #expect(try await store.read { try $0.revisionHistory(of: first) }.count == 1)
      try await store.write { try $0.setLocalDocument(["a": 1], withID: "local") }
      #expect(try await store.read { try $0.localDocument(withID: "local") } == ["a": 1])
      #expect(try await store.read { try $0.localDocumentIDs() } == ["local"])
      #expect(try await store.read { try $0.conflictedDocumentIDs() } == [])
      #expect(try await store.read { try $0.currentRevisions(ofDocument: "d1") } == [first])
      try await store.deleteDocument(from: first)
      try await store.deleteDocument(withID: "d2")
      #expect(try await store.read { try $0.documentCount() } == 18)
      #expect(try await store.checkIntegrity() == [])
      #expect(try await store.compact().revisions == 2)
    }
  }

  // MARK: Cancelling

  @Test func `a task that is cancelled runs nothing`() async throws {
    try await withTemporaryDatastore { store async throws in
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      let running = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await store.run { _ = try $0.createDocument(from: DocumentDraft(id: "a", body: [:])) }
      }
      await #expect(throws: CancellationError.self) { try await running.value }
      #expect(try await store.read { try $0.documentCount() } == 0)
    }
  }

  @Test func `run calls synchronous methods, and throws their errors`() async throws {
    try await withTemporaryDatastore { store in
      try await store.ensureIndexed(["a"])
      try await store.run { try $0.deleteIndex(named: "a") }
      #expect(try await store.run { try $0.listIndexes() }.isEmpty)
      let error = await #expect(throws: QueryError.self) {
        try await store.run { try $0.deleteIndex(named: "a") }
      }
      #expect(error?.code == .unknownIndex)
    }
  }

  @Test func `a query that is cancelled ends in the middle of its scan`() async throws {
    try await withTemporaryDatastore { store in
      try await Self.fillHard(store, 3_000)
      let task = Task { try await store.find(Self.slow) as [DocumentRevision] }
      // To its end it would take half a minute.
      cancelSoon(task)
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try await store.read { try $0.documentCount() } == 3_000)
    }
  }

  @Test func `a write that is cancelled while its closure runs is not saved`() async throws {
    try await withTemporaryDatastore { store in
      try await Self.fill(store, 10)
      let (isWriting, isCancelled) = (Signal(), Signal())
      let task = Task {
        try await store.write { transaction in
          try transaction.deleteDocument(withID: "d1")
          isWriting.set()
          isCancelled.wait()
        }
      }
      await isWriting.waited()
      task.cancel()
      isCancelled.set()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try await store.read { try $0.documentCount() } == 10)
      try await store.deleteDocument(withID: "d1")
    }
  }

  @Test func `a write that waits for its turn can be cancelled`() async throws {
    try await withTemporaryDatastore { store in
      let (isWriting, isOver) = (Signal(), Signal())
      let writing = Task {
        try await store.write { transaction in
          isWriting.set()
          isOver.wait()
          try transaction.createDocument(from: DocumentDraft(id: "first", body: [:]))
        }
      }
      await isWriting.waited()
      let waiting = Task { try await store.createDocument(from: DocumentDraft(id: "second", body: [:])) }
      try await Task.sleep(for: .milliseconds(20))
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      isOver.set()
      try await writing.value
      #expect(try await store.read { try $0.allDocumentIDs() } == ["first"])
    }
  }

  // MARK: Deadlines

  @Test func `an operation that misses its deadline throws, and nothing of it stays`() async throws {
    try await withTemporaryDatastore { store in
      try await Self.fillHard(store, 3_000)
      let error = await #expect(throws: DatastoreError.self) {
        try await Datastore.withDeadline(.now + .milliseconds(50)) { try await store.find(Self.slow).count }
      }
      #expect(error?.code == .timedOut)
      let late = await #expect(throws: DatastoreError.self) {
        try await Datastore.withDeadline(.now - .seconds(1)) {
          try await store.createDocument(from: DocumentDraft(id: "late", body: [:]))
        }
      }
      #expect(late?.code == .timedOut)
      #expect(try await store.documents(withIDs: ["late"]).isEmpty)
      let inTime = try await Datastore.withDeadline(.now + .seconds(60)) {
        try await store.read { try $0.documentCount() }
      }
      #expect(inTime == 3_000)
    }
  }

  @Test func `a deadline is noticed without its timer`() {
    #expect(StopSignal(deadline: .now).isSet)
    #expect(throws: DatastoreError.self) { try StopSignal(deadline: .now).check() }
    let signal = StopSignal(deadline: .now + .seconds(3_600))
    #expect(!signal.isSet)
    signal.cancel()
    #expect(throws: CancellationError.self) { try signal.check() }
  }

  @Test func `of two deadlines the earlier counts`() async throws {
    try await withTemporaryDatastore { store in
      try await Self.fillHard(store, 3_000)
      await #expect(throws: DatastoreError.self) {
        try await Datastore.withDeadline(.now + .milliseconds(30)) {
          try await Datastore.withDeadline(.now + .seconds(600)) { try await store.find(Self.slow) }
        }
      }
    }
  }

  // MARK: Sequences

  @Test func `documents come as they are asked for, from one state`() async throws {
    try await withTemporaryDatastore { store in
      try await Self.fill(store, 1_000)
      var found: [String] = []
      for try await document in store.stream(try Query([:], sort: ["n"])) {
        if found.isEmpty { try await store.createDocument(from: DocumentDraft(id: "d-1", body: ["n": -1])) }
        found.append(document.id)
      }
      #expect(found == (0..<1_000).map { "d\($0)" })
      #expect(try await store.find([:], sort: ["n"]).reduce(into: 0) { count, _ in count += 1 } == 1_001)
    }
  }

  @Test func `leaving the loop gives the reader back, and the log can begin again`() async throws {
    try await withTemporaryDatastore { store in
      try await Self.fill(store, 1_000)
      for _ in 0..<50 {
        for try await document in store.stream(try Query(["n": ["$gte": 0]])) where document.id != "" {
          break
        }
      }
      let names = try await store.find(["group": 3], sort: ["n"]).prefix(2).map(\.id).reduce(into: []) {
        $0.append($1)
      }
      #expect(names == ["d3", "d13"])
    }
  }

  @Test func `an error of the selector is thrown by the loop`() async throws {
    try await withTemporaryDatastore { store in
      await #expect(throws: QueryError.self) {
        for try await _ in store.stream(try Query(["a": ["$nonsense": 1]])) {}
      }
    }
  }

  @Test func `a loop whose task is cancelled throws`() async throws {
    try await withTemporaryDatastore { store in
      try await Self.fillHard(store, 3_000)
      let task = Task {
        for try await _ in store.stream(try Query(Self.slow)) {}
      }
      cancelSoon(task)
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }
}

/// Something that one thread tells another.
private final class Signal: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func set() { semaphore.signal() }

  /// Waits on a thread that may.
  func wait() { semaphore.wait() }

  /// Waits on a thread that may, and tells whether there was a signal in time.
  func wait(seconds: Int) -> Bool { semaphore.wait(timeout: .now() + .seconds(seconds)) == .success }

  /// Waits without blocking one of Swift's threads.
  func waited() async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        self.semaphore.wait()
        continuation.resume()
      }
    }
  }
}
