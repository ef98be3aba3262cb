import CDTDatastore
import CDTJSON
import CDTTestSupport
import FoundationEssentials
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Writes that the indexes have missed: of a process that was killed between the two commits, or that knows no indexes. Queries
/// are right at once, and the indexes are caught up in the background.
@Suite struct MissedWriteTests {
  static let requests: [JSONObject] = [
    ["selector": ["a": 3]], ["selector": ["a": ["$gte": 2]], "sort": ["a", "n"]],
    ["selector": ["a": ["$gte": 2]], "sort": [["a": "desc"]]],
    ["selector": ["a": ["$gte": 2]], "sort": [["a": "desc"]], "skip": 3, "limit": 9],
    ["selector": ["tags": "red"]], ["selector": ["tags": "new"], "sort": ["tags"]],
    ["selector": ["tags": "rival"]], ["selector": ["a": 3, "tags": "new"]],
    ["selector": ["$or": [["a": 3], ["tags": "blue"]]]],
    ["selector": ["$text": ["$search": "word"]]], ["selector": ["$text": ["$search": "new"]]],
    ["selector": ["a": ["$lt": 4], "tags": "blue"], "use_index": "by_a"],
    ["selector": ["at": ["$near": ["$vector": [3, 20]]]], "limit": 5],
    ["selector": ["at": ["$near": ["$geometry": ["type": "Point", "coordinates": [3, 20]]]]], "limit": 5],
    ["selector": ["at": ["$geoWithin": ["$box": [[1, 10], [3, 40]]]]]],
  ]

  private static func fill(_ store: Datastore) throws {
    try store.write { transaction in
      for number in 0..<60 {
        try transaction.createDocument(
          from: DocumentDraft(
            id: "d\(number)",
            body: [
              "a": .int(Int64(number % 5)), "n": .int(Int64(number)), "tags": ["red", "blue"],
              "text": "some word", "at": [.int(Int64(number % 5)), .int(Int64(number))],
            ]))
      }
    }
  }

  private static func makeIndexes(_ store: Datastore) throws {
    try store.ensureIndexed(["a", "tags"], name: "by_a")
    try store.ensureIndexed(["text"], .text, name: "words")
    try store.ensureIndexed(["at"], .vector(2), name: "vectors")
    try store.ensureIndexed(["at"], .place, name: "places")
  }

  /// Checks a store whose indexes have missed writes: at first while nobody can build, and then when the background has.
  private static func check(
    _ directory: String, waiting: Int64, _ open: () throws -> Datastore
  ) throws {
    var file = -1
    let store = try withBuildsHeld(inDirectoryOf: "\(directory)/store") {
      let store = try open()
      file = try Self.fileNumber(directory)
      let explanation = try store.read { try $0.explain(Query(["a": 3], useIndex: "by_a")) }
      #expect(explanation.json["waiting"] == .int(waiting))
      #expect(try differencesFromMatcher(store, requests) == [])
      #expect(try store.checkIndexes() == [])
      return store
    }
    try store.indexManager().worker.waitUntilIdle()
    #expect(try indexesAreComplete(store))
    #expect(try differencesFromMatcher(store, requests) == [])
    // A file that was taken for damaged would be replaced.
    #expect(try Self.fileNumber(directory) == file)
  }

  private static func fileNumber(_ directory: String) throws -> Int {
    let path = "\(directory)/store/extensions/\(QueryExtension.extensionName)/\(IndexFile.name)"
    return try #require(
      try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int)
  }

  @Test func `a process that is killed between the two commits loses nothing`() async throws {
    try await withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      try await Self.fill(try manager.datastore(named: "store"))
      try await manager.closeDatastore(named: "store")
      let (status, output) = try await BuiltProgram("cdt-store-worker", ["die", directory]).ended()
      #expect(status == -9, "\(output)")
      defer { manager.close() }
      try Self.check(directory, waiting: 30) { try manager.datastore(named: "store") }
      #expect(try await manager.datastore(named: "store").count(["a": 3]) == 28)
    }
  }

  @Test func `a process that knows no indexes may write while the store is closed`() async throws {
    try await withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try await manager.datastore(named: "store")
      try Self.fill(store)
      try Self.makeIndexes(store)
      try await manager.closeDatastore(named: "store")
      let (status, _) = try await BuiltProgram("cdt-store-worker", ["change", directory]).ended()
      #expect(status == 0)
      defer { manager.close() }
      try Self.check(directory, waiting: 40) { try manager.datastore(named: "store") }
    }
  }

  @Test(arguments: ["a query", "a write", "a build"])
  func `a process that knows no indexes may write while the store is open`(next: String) async throws {
    try await withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try await manager.datastore(named: "store")
      defer { manager.close() }
      try Self.fill(store)
      try Self.makeIndexes(store)
      #expect(try await store.count(["a": 3]) == 12)
      let (status, _) = try await BuiltProgram("cdt-store-worker", ["change", directory]).ended()
      #expect(status == 0)
      switch next {
      case "a query":
        try Self.check(directory, waiting: 40) { store }
      case "a write":
        // Nobody may build in between.
        try Self.check(directory, waiting: 42) {
          try store.updateDocument(withID: "d5") { $0.body["a"] = 3 }
          try store.deleteDocument(withID: "d25")
          return store
        }
      default:
        try await store.updateIndexes()
        #expect(try indexesAreComplete(store))
        #expect(try differencesFromMatcher(store, Self.requests) == [])
      }
    }
  }

  @Test func `writes that miss an index that is half filled, and a stopped build, are caught up`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<3_000 {
          try transaction.createDocument(
            from: DocumentDraft(id: "d\(number)", body: ["a": .int(Int64(number % 5)), "tags": ["red"]]))
        }
      }
      try store.declareIndex(["a", "tags"], name: "by_a")
      try store.queryExtension().maintenance.build(only: nil) { $0.done < 1_000 }
      try writeMissingIndexes(of: store) { transaction in
        for number in [5, 999, 1_000, 2_500] {
          try transaction.updateDocument(withID: "d\(number)") { $0.body["a"] = 3 }
        }
        try transaction.deleteDocument(withID: "d8")
        try transaction.createDocument(from: DocumentDraft(id: "new", body: ["a": 3]))
      }
      let expected = 600 - 1 + 4 + 1 - (999 % 5 == 3 ? 1 : 0)
      #expect(try store.count(["a": 3]) == expected)
      try store.updateDocument(withID: "d0") { $0.body["a"] = 3 }
      #expect(try store.count(["a": 3]) == expected + 1)
      #expect(try store.checkIndexes() == [])
      try store.updateIndexes()
      #expect(try indexesAreComplete(store))
      #expect(try store.count(["a": 3]) == expected + 1)
    }
  }

  @Test func `a background build that fails is tried again with the next write`() throws {
    struct Failure: Error {}
    try withTemporaryDatastore { store in
      try Self.fill(store)
      try store.ensureIndexed(["a"], name: "by_a")
      let worker = try store.indexManager().worker
      worker.waitUntilIdle()
      try store.indexManager().empty(named: "by_a")
      let maintenance = try store.queryExtension().maintenance
      worker.start { _ in throw Failure() }
      worker.wake()
      worker.waitUntilIdle()
      worker.start { try maintenance.work(fills: $0) }
      try store.updateDocument(withID: "d0") { $0.body["a"] = 3 }
      worker.waitUntilIdle()
      #expect(try indexesAreComplete(store))
    }
  }

  @Test func `a commit of the indexes that fails is caught up`() throws {
    try withImpatientDatastore { store in
      try Self.fill(store)
      try Self.makeIndexes(store)
      try withIndexesHeld(store) {
        try store.updateDocument(withID: "d0") { $0.body["a"] = 3 }
        try store.deleteDocument(withID: "d3")
        #expect(try differencesFromMatcher(store, Self.requests) == [])
        try store.indexManager().worker.waitUntilIdle()
      }
      // What has failed is tried again with the next write. As nothing waits here, the write may be in the worker's way.
      // On a busy machine it may be so many times.
      let end = ContinuousClock.now + .seconds(60)
      var (number, isComplete) = (3, false)
      while !isComplete, ContinuousClock.now < end {
        try store.updateDocument(withID: "d1") { $0.body["a"] = .init(number) }
        try store.indexManager().worker.waitUntilIdle()
        isComplete = try indexesAreComplete(store)
        number += 1
      }
      #expect(isComplete)
      #expect(try differencesFromMatcher(store, Self.requests) == [])
    }
  }
}
