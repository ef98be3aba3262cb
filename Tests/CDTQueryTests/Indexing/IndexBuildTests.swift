import CDTDatastore
import FoundationEssentials
import JSON
import SQLite
import Synchronization
import Testing

@testable import CDTQuery

/// Indexes are filled step by step, while others go on.
@Suite struct IndexBuildTests {
  /// A datastore with documents, closed and removed afterwards.
  private static func withStore(
    _ count: Int, _ body: (Datastore, DatastoreManager) async throws -> Void
  ) async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "cdtquery-\(UUID().uuidString)").path
    let manager = try DatastoreManager(directory: path)
    defer {
      manager.closeDatastore(named: "store")
      try? FileManager.default.removeItem(atPath: path)
    }
    let store = try manager.datastore(named: "store")
    try add(count, from: 0, to: store)
    try await body(store, manager)
  }

  private static func add(_ count: Int, from start: Int, to store: Datastore) throws {
    try store.write { transaction in
      for number in start..<start + count {
        try transaction.createDocument(
          from: DocumentRevision(id: "doc-\(number)", body: ["age": .int(Int64(number % 100))]))
      }
    }
  }

  @Test func `a build tells how far it is, and ends when the index is complete`() async throws {
    try await Self.withStore(2_500) { store, _ in
      let build = try store.buildIndex(["age"], name: "by_age")
      #expect(build.name == "by_age")
      #expect(try store.listIndexes().map(\.upToSequence) == [0])
      #expect(try store.count(["age": 7]) == 25)
      var told: [IndexProgress] = []
      for try await progress in build { told.append(progress) }
      #expect(told.last == IndexProgress(done: 2_500, total: 2_500))
      #expect(told.allSatisfy { $0.total == 2_500 })
      #expect(told.map(\.done) == told.map(\.done).sorted())
      #expect(try store.listIndexes().map(\.upToSequence) == [2_500])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `a build of indexes that are complete ends at once`() async throws {
    try await Self.withStore(10) { store, _ in
      for try await progress in store.buildIndexes() { #expect(progress.total == 0) }
      try store.ensureIndexed(["age"])
      for try await progress in store.buildIndexes() { #expect(progress.total == 0) }
      // A write brings the index up to date itself.
      try Self.add(1, from: 10, to: store)
      for try await progress in store.buildIndexes() { #expect(progress.total == 0) }
    }
  }

  @Test func `every step is told to whoever fills the indexes himself`() async throws {
    try await Self.withStore(2_500) { store, _ in
      _ = try store.buildIndex(["age"])
      let told = Mutex<[Int]>([])
      try store.indexManager().build(only: nil) { progress in
        told.withLock { $0.append(progress.done) }
        return true
      }
      #expect(told.withLock(\.self) == [0, 1_000, 2_000, 2_500])
    }
  }

  @Test func `stopped, it keeps what is built, and the next one goes on from there`() async throws {
    try await Self.withStore(5_500) { store, _ in
      _ = try store.buildIndex(["age"], name: "by_age")
      let manager = try store.indexManager()
      try manager.build(only: nil) { $0.done < 2_000 }
      #expect(try store.listIndexes().map(\.upToSequence) == [2_000])
      #expect(try store.count(["age": 7]) == 55)
      #expect(try store.checkIndexes() == [])
      let told = Mutex<[IndexProgress]>([])
      try manager.build(only: nil) { progress in
        told.withLock { $0.append(progress) }
        return true
      }
      #expect(told.withLock(\.first) == IndexProgress(done: 0, total: 3_500))
      #expect(told.withLock(\.last) == IndexProgress(done: 3_500, total: 3_500))
      #expect(try store.checkIndexes() == [])
      #expect(try store.listIndexes().map(\.entries) == [5_500])
    }
  }

  @Test func `a task that is cancelled throws, and the index can be built afterwards`() async throws {
    try await Self.withStore(5_000) { store, _ in
      let build = try store.buildIndex(["age"], name: "by_age")
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        for try await _ in build {}
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try store.count(["age": 7]) == 50)
      for try await _ in store.buildIndexes() {}
      #expect(try store.listIndexes().map(\.upToSequence) == [5_000])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `who stops asking stops the work`() async throws {
    try await Self.withStore(5_000) { store, _ in
      for try await _ in try store.buildIndex(["age"], name: "by_age") { break }
      try store.updateAllIndexes()
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `closing the datastore ends a build`() async throws {
    try await Self.withStore(5_000) { store, manager in
      let build = try store.buildIndex(["age"], name: "by_age")
      let error = #expect(throws: DatastoreError.self) {
        try store.indexManager().build(only: nil) { progress in
          if progress.done == 1_000 { manager.closeDatastore(named: "store") }
          return true
        }
      }
      #expect(error?.code == .closed)
      await #expect(throws: DatastoreError.self) { for try await _ in build {} }
      let again = try manager.datastore(named: "store")
      try again.updateAllIndexes()
      #expect(try again.checkIndexes() == [])
    }
  }

  @Test func `rebuilding tells how far it is`() async throws {
    try await Self.withStore(1_500) { store, _ in
      try store.ensureIndexed(["age"], name: "by_age")
      // The worker, which that has woken, would take a part of the documents.
      try store.indexManager().worker.waitUntilIdle()
      let build = try store.buildIndexesAnew(named: "by_age")
      #expect(try store.listIndexes().map(\.upToSequence) == [0])
      var last: IndexProgress?
      for try await progress in build { last = progress }
      #expect(last == IndexProgress(done: 1_500, total: 1_500))
      let error = #expect(throws: QueryError.self) { try store.buildIndexesAnew(named: "x") }
      #expect(error?.code == .unknownIndex)
    }
  }

  /// The build waits within a step, its transaction open, until the closure has read or written.
  private static func whileBuilding(_ store: Datastore, _ body: @escaping () throws -> Void) throws {
    _ = try store.buildIndex(["age"], name: "by_age")
    var result: Result<Void, any Error>?
    try store.indexManager().build(only: nil) { progress in
      if result == nil, progress.done == 1_000 { result = Result { try body() } }
      return true
    }
    try #require(result).get()
  }

  @Test func `readers go on while an index is built`() async throws {
    try await Self.withStore(2_500) { store, _ in
      try store.ensureIndexed(["other"], name: "other")
      try Self.whileBuilding(store) { () throws in
        #expect(try store.count(["age": 7]) == 25)
        #expect(try store.find(["age": ["$lt": 10]], limit: 3, sort: ["age"]).documents().count == 3)
        #expect(try store.document(withID: "doc-1").body["age"] == 1)
      }
      #expect(try store.listIndexes().first { $0.name == "by_age" }?.upToSequence == 2_500)
    }
  }

  @Test func `writers go on while an index is built`() async throws {
    try await Self.withStore(2_500) { store, _ in
      try Self.whileBuilding(store) { () throws in
        try store.updateDocument(withID: "doc-7") { $0.body["age"] = 8 }
        try store.deleteDocument(withID: "doc-107")
        // So many that the one who wrote them would bring the index up to date, were it not being built.
        try Self.add(12_000, from: 10_000, to: store)
        #expect(try store.count(["age": 7]) == 23 + 120)
      }
      #expect(try store.count(["age": 7]) == 23 + 120)
      #expect(try store.checkIndexes() == [])
      for try await _ in store.buildIndexes() {}
      let last = try store.lastSequence
      #expect(try store.listIndexes().map(\.upToSequence) == [last])
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
      try store.indexManager().build(only: nil) { progress in
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
      let last = try store.lastSequence
      #expect(try store.listIndexes().map(\.upToSequence) == [last])
    }
  }

  /// A builder inserts the rows of a batch in several transactions and raises the watermark with the last. When it is killed in
  /// between, there are rows above the watermark.
  @Test(arguments: [0, 1_200] as [Int64])
  func `what a killed builder leaves is passed over, and removed by the next one`(watermark: Int64)
    async throws
  {
    try await Self.withStore(2_500) { store, manager in
      try store.ensureIndexed(["age"], name: "by_age")
      try withBuildsHeld(inDirectoryOf: "\(manager.directory)/store") {
        let file = try Connection(path: store.indexManager().path, mode: .readWrite)
        defer { file.close() }
        try file.execute(
          """
          DELETE FROM entries_1 WHERE document > 2000;
          UPDATE indexes SET watermark = \(watermark), strays = 1;
          UPDATE state SET revision = revision + 1
          """)
        let query = try Query(["age": 7], sort: ["age"], useIndex: "by_age")
        #expect(try store.explain(query).json["waiting"] == .int(2_500 - watermark))
        #expect(try store.count(query) == 25)
        #expect(try store.find(query).documents().count == 25)
        #expect(try store.checkIndexes() == [])
        // Of each kind: below the watermark, stray, and without a row.
        for id in ["doc-7", "doc-1307", "doc-2307"] {
          try store.updateDocument(withID: id) { $0.body["age"] = 8 }
        }
        for id in ["doc-107", "doc-1407", "doc-2407"] { try store.deleteDocument(withID: id) }
        try Self.add(100, from: 5_000, to: store)
        #expect(try store.count(query) == 20)
        #expect(try store.checkIndexes() == [])
      }
      try store.updateAllIndexes()
      #expect(try store.count(["age": 7]) == 20)
      #expect(try store.count(["age": 8]) == 29)
      #expect(try indexesAreComplete(store))
      #expect(try store.listIndexes().map(\.entries) == [2_597])
    }
  }

  @Test func `an index may be emptied while it is built`() async throws {
    try await Self.withStore(2_500) { store, _ in
      try Self.whileBuilding(store) { _ = try store.buildIndexesAnew(named: "by_age") }
      #expect(try store.listIndexes().map(\.entries) == [2_500])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `an index may be deleted while it is built, and others stay`() async throws {
    try await Self.withStore(2_500) { store, _ in
      try store.ensureIndexed(["age"], name: "other")
      let error = #expect(throws: QueryError.self) {
        try Self.whileBuilding(store) {
          try store.deleteIndex(named: "by_age")
          // One that comes next is not taken for it.
          _ = try store.buildIndex(["name"], name: "next")
        }
      }
      #expect(error?.code == .unknownIndex)
      #expect(try store.listIndexes().map(\.entries) == [0, 2_500])
      try store.updateAllIndexes()
      #expect(try store.listIndexes().map(\.entries) == [2_500, 2_500])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `readers and writers of another process go on while an index is built`() async throws {
    try await Self.withStore(2_500) { store, manager in
      let elsewhere = try DatastoreManager(directory: manager.directory)
      defer { elsewhere.closeDatastore(named: "store") }
      let other = try elsewhere.datastore(named: "store")
      try Self.whileBuilding(store) { () throws in
        #expect(try other.count(["age": 7]) == 25)
        try Self.add(12_000, from: 10_000, to: other)
        #expect(try other.count(["age": 7]) == 145)
      }
      for try await _ in store.buildIndexes() {}
      #expect(try other.count(["age": 7]) == 145)
      #expect(try store.checkIndexes() == [])
    }
  }
}
