import CDTDatastore
import CDTJSON
import CDTSQLite
import CDTTestSupport
import FoundationEssentials
import Synchronization
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Indexes are filled step by step, while others go on.
@Suite struct IndexBuildTests {
  /// A datastore with documents, closed and removed afterwards.
  private static func withStore(
    _ count: Int, worksInBackground: Bool = true, _ body: (Datastore, DatastoreManager) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.worksInBackground = worksInBackground
      let manager = try DatastoreManager(directory: directory, options: options)
      defer { manager.close() }
      let store = try manager.datastore(named: "store")
      try add(count, from: 0, to: store)
      try body(store, manager)
    }
  }

  private static func add(_ count: Int, from start: Int, to store: Datastore) throws {
    try store.write { transaction in
      for number in start..<start + count {
        try transaction.createDocument(
          from: DocumentDraft(id: "doc-\(number)", body: ["age": .int(Int64(number % 100))]))
      }
    }
  }

  /// Whether what is told, besides waiting for another build to end, rises to a last value.
  private static func isRising(_ told: [IndexProgress], to last: Int) -> Bool {
    let told = told.drop { $0.total == 0 }
    return told.last == IndexProgress(done: last, total: last) && told.allSatisfy { $0.total == last }
      && told.map(\.done) == told.map(\.done).sorted()
  }

  @Test func `a build tells how far it is, and ends when the index is complete`() throws {
    try Self.withStore(2_500) { store, _ in
      var told: [IndexProgress] = []
      let name = try store.ensureIndexed(["age"], name: "by_age") { told.append($0) }
      #expect(name == "by_age")
      #expect(Self.isRising(told, to: 2_500))
      #expect(try store.listIndexes().map(\.indexedSequence) == [2_500])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `so does one that is awaited`() async throws {
    try await withTemporaryDatastore { store in
      try await store.write { transaction in
        for number in 0..<2_500 {
          try transaction.createDocument(from: DocumentDraft(body: ["n": .int(Int64(number))]))
        }
      }
      let told = Mutex<[IndexProgress]>([])
      try await store.ensureIndexed(["n"]) { progress in told.withLock { $0.append(progress) } }
      #expect(Self.isRising(told.withLock(\.self), to: 2_500))
      try await store.rebuildIndexes()
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `indexes that are complete are updated at once`() throws {
    try Self.withStore(10) { store, _ in
      try store.updateIndexes { #expect($0.total == 0) }
      try store.ensureIndexed(["age"])
      try store.updateIndexes { #expect($0.total == 0) }
      // A write brings the index up to date itself.
      try Self.add(1, from: 10, to: store)
      try store.updateIndexes { #expect($0.total == 0) }
    }
  }

  @Test func `every step is reported to a caller that fills the indexes itself`() throws {
    try Self.withStore(2_500, worksInBackground: false) { store, _ in
      try store.declareIndex(["age"])
      let told = Mutex<[Int]>([])
      try store.queryExtension().maintenance.build(only: nil) { progress in
        told.withLock { $0.append(progress.done) }
        return true
      }
      #expect(told.withLock(\.self) == [0, 1_000, 2_000, 2_500])
    }
  }

  @Test func `stopped, it keeps what is built, and the next one goes on from there`() throws {
    try Self.withStore(5_500) { store, _ in
      try store.declareIndex(["age"], name: "by_age")
      let maintenance = try store.queryExtension().maintenance
      try maintenance.build(only: nil) { $0.done < 2_000 }
      #expect(try store.listIndexes().map(\.indexedSequence) == [2_000])
      #expect(try store.count(["age": 7]) == 55)
      #expect(try store.checkIndexes() == [])
      let told = Mutex<[IndexProgress]>([])
      try maintenance.build(only: nil) { progress in
        told.withLock { $0.append(progress) }
        return true
      }
      #expect(told.withLock(\.first) == IndexProgress(done: 0, total: 3_500))
      #expect(told.withLock(\.last) == IndexProgress(done: 3_500, total: 3_500))
      #expect(try store.checkIndexes() == [])
      #expect(try store.listIndexes().map(\.entries) == [5_500])
    }
  }

  @Test func `a task that is cancelled throws, and what is built is kept`() async throws {
    try await withTemporaryDatastore { store in
      try await store.write { transaction in
        for number in 0..<5_000 {
          try transaction.createDocument(from: DocumentDraft(body: ["age": .int(Int64(number % 100))]))
        }
      }
      let held = Mutex(false)
      let cancelling = Task {
        try await store.ensureIndexed(["age"], name: "by_age") { progress in
          guard progress.done == 1_000 else { return }
          held.withLock { $0 = true }
          while held.withLock(\.self) {}
        }
      }
      try await eventually("the build is held") { held.withLock(\.self) }
      cancelling.cancel()
      held.withLock { $0 = false }
      await #expect(throws: CancellationError.self) { try await cancelling.value }
      #expect(try await store.count(["age": 7]) == 50)
      try await store.updateIndexes()
      #expect(try store.listIndexes().map(\.indexedSequence) == [5_000])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `closing the datastore ends a build`() throws {
    try Self.withStore(5_000) { store, manager in
      try store.declareIndex(["age"], name: "by_age")
      let error = #expect(throws: DatastoreError.self) {
        try store.queryExtension().maintenance.build(only: nil) { progress in
          if progress.done == 1_000 { try? manager.closeDatastore(named: "store") }
          return true
        }
      }
      #expect(error?.code == .closed)
      #expect(throws: DatastoreError.self) { try store.updateIndexes() }
      let again = try manager.datastore(named: "store")
      try again.updateIndexes()
      #expect(try again.checkIndexes() == [])
    }
  }

  @Test func `rebuilding tells how far it is`() throws {
    try Self.withStore(1_500) { store, _ in
      try store.ensureIndexed(["age"], name: "by_age")
      // The worker, which that has woken, would take a part of the documents.
      try store.indexManager().worker.waitUntilIdle()
      var told: [IndexProgress] = []
      try store.rebuildIndexes(named: "by_age") { told.append($0) }
      #expect(Self.isRising(told, to: 1_500))
      let error = #expect(throws: QueryError.self) { try store.rebuildIndexes(named: "x") }
      #expect(error?.code == .unknownIndex)
    }
  }

  /// The build waits within a step, its transaction open, until the closure has read or written.
  private static func whileBuilding(
    _ store: Datastore, only name: String? = nil, _ body: @escaping () throws -> Void
  ) throws {
    // The worker, which an earlier index has woken, would take a part of the documents.
    try store.indexManager().worker.waitUntilIdle()
    try store.declareIndex(["age"], name: "by_age")
    var result: Result<Void, any Error>?
    try store.queryExtension().maintenance.build(only: name) { progress in
      if result == nil, progress.done == 1_000 { result = Result { try body() } }
      return true
    }
    try #require(result).get()
  }

  @Test func `readers go on while an index is built`() throws {
    try Self.withStore(2_500) { store, _ in
      try store.ensureIndexed(["other"], name: "other")
      try Self.whileBuilding(store) { () throws in
        #expect(try store.count(["age": 7]) == 25)
        #expect(try store.find(["age": ["$lt": 10]], limit: 3, sort: ["age"]).count == 3)
        #expect(try store.document(withID: "doc-1").body["age"] == 1)
      }
      #expect(try store.listIndexes().first { $0.name == "by_age" }?.indexedSequence == 2_500)
    }
  }

  @Test func `writers go on while an index is built`() throws {
    try Self.withStore(2_500) { store, _ in
      try Self.whileBuilding(store) { () throws in
        try store.updateDocument(withID: "doc-7") { $0.body["age"] = 8 }
        try store.deleteDocument(withID: "doc-107")
        // So many that the one who wrote them would bring the index up to date, were it not being built.
        try Self.add(12_000, from: 10_000, to: store)
        #expect(try store.count(["age": 7]) == 23 + 120)
      }
      #expect(try store.count(["age": 7]) == 23 + 120)
      #expect(try store.checkIndexes() == [])
      try store.updateIndexes()
      let last = try store.read { try $0.lastSequence() }
      #expect(try store.listIndexes().map(\.indexedSequence) == [last])
      #expect(try store.count(["age": 7]) == 23 + 120)
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `writes that miss the indexes while these are built leave nothing behind`() throws {
    try withImpatientDatastore { store in
      try Self.add(10, from: 0, to: store)
      try store.ensureIndexed(["age"], name: "by_age")
      try withIndexesHeld(store) {
        try Self.add(300, from: 1_000, to: store)
        // Nor are they caught up in the background.
        try store.indexManager().worker.waitUntilIdle()
      }
      var updated = 0
      try store.queryExtension().maintenance.build(only: nil) { progress in
        guard progress.done == 300, updated == 0 else { return true }
        updated =
          (try? withIndexesHeld(store) { try store.updateDocument(withID: "doc-7") { $0.body["age"] = 8 } })
            == nil ? 0 : 1
        return true
      }
      #expect(updated == 1)
      #expect(try store.checkIndexes() == [])
      #expect(try store.count(["age": 7]) == 3)
      #expect(try store.count(["age": 8]) == 5)
      let last = try store.read { try $0.lastSequence() }
      #expect(try store.listIndexes().map(\.indexedSequence) == [last])
    }
  }

  /// A builder inserts the rows of a batch in several transactions and raises the watermark with the last. When it is killed in
  /// between, there are rows above the watermark.
  @Test(arguments: [0, 1_200] as [Int64])
  func `files of a killed builder are passed over, and removed by the next builder`(watermark: Int64) throws {
    try Self.withStore(2_500) { store, manager in
      try store.ensureIndexed(["age"], name: "by_age")
      try withBuildsHeld(inDirectoryOf: "\(manager.directory)/store") {
        let file = try Connection(path: store.indexManager().path, mode: .readWrite)
        defer { file.close() }
        try file.execute(
          """
          DELETE FROM entries_1 WHERE document > 2000;
          UPDATE indexes SET watermark = \(watermark), stale_rows = 1;
          UPDATE state SET revision = revision + 1
          """)
        let query = try Query(["age": 7], sort: ["age"], useIndex: "by_age")
        #expect(try store.read { try $0.explain(query) }.json["waiting"] == .int(2_500 - watermark))
        #expect(try store.read { try $0.count(query) } == 25)
        #expect(try store.read { try $0.find(query) }.count == 25)
        #expect(try store.checkIndexes() == [])
        // Of each kind: below the watermark, stray, and without a row.
        for id in ["doc-7", "doc-1307", "doc-2307"] {
          try store.updateDocument(withID: id) { $0.body["age"] = 8 }
        }
        for id in ["doc-107", "doc-1407", "doc-2407"] { try store.deleteDocument(withID: id) }
        try Self.add(100, from: 5_000, to: store)
        #expect(try store.read { try $0.count(query) } == 20)
        #expect(try store.checkIndexes() == [])
      }
      try store.updateIndexes()
      #expect(try store.count(["age": 7]) == 20)
      #expect(try store.count(["age": 8]) == 29)
      #expect(try indexesAreComplete(store))
      #expect(try store.listIndexes().map(\.entries) == [2_597])
    }
  }

  @Test func `an index may be emptied while it is built`() throws {
    try Self.withStore(2_500) { store, _ in
      try Self.whileBuilding(store) { try store.indexManager().empty(named: "by_age") }
      #expect(try store.listIndexes().map(\.entries) == [2_500])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `an index may be deleted while it is built, and others stay`() throws {
    try Self.withStore(2_500) { store, _ in
      try store.ensureIndexed(["age"], name: "other")
      let error = #expect(throws: QueryError.self) {
        try Self.whileBuilding(store, only: "by_age") {
          try store.deleteIndex(named: "by_age")
          // One that comes next is not taken for it.
          try store.declareIndex(["name"], name: "next")
        }
      }
      #expect(error?.code == .unknownIndex)
      #expect(try store.listIndexes().map(\.entries) == [0, 2_500])
      try store.updateIndexes()
      #expect(try store.listIndexes().map(\.entries) == [2_500, 2_500])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `the others are built when one is deleted meanwhile`() throws {
    try Self.withStore(2_500) { store, _ in
      try Self.whileBuilding(store) {
        try store.deleteIndex(named: "by_age")
        try store.declareIndex(["name"], name: "next")
      }
      #expect(try store.listIndexes().map(\.entries) == [2_500])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `readers and writers of another process go on while an index is built`() throws {
    try Self.withStore(2_500) { store, manager in
      let elsewhere = try DatastoreManager(directory: manager.directory)
      defer { elsewhere.close() }
      let other = try elsewhere.datastore(named: "store")
      try Self.whileBuilding(store) { () throws in
        #expect(try other.count(["age": 7]) == 25)
        try Self.add(12_000, from: 10_000, to: other)
        #expect(try other.count(["age": 7]) == 145)
      }
      try store.updateIndexes()
      #expect(try other.count(["age": 7]) == 145)
      #expect(try store.checkIndexes() == [])
    }
  }
}
