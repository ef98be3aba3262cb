import CDTSQLite
import CDTTestSupport
import Synchronization
import Testing

@testable import CDTDatastore
@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

@Suite(.timeLimit(.usual)) struct LiveQueryTests {
  struct Errand: DocumentModel {
    var id: String
    var revision: RevisionID?
    var title: String
    var isDone = false
  }

  private static func put(_ id: String, _ n: Int, in store: Datastore) throws {
    if var known = try? store.document(withID: id) {
      known.body = ["n": n.jsonValue]
      try store.updateDocument(from: known)
    } else {
      try store.createDocument(from: DocumentDraft(id: id, body: ["n": n.jsonValue]))
    }
  }

  @Test func `the results come first, and then each change of them`() async throws {
    try await withTemporaryDatastore { store in
      for (number, id) in ["a", "b", "c"].enumerated() { try Self.put(id, number, in: store) }
      var live = try store.live(["n": ["$gte": 0]], sort: ["n"]).makeAsyncIterator()
      let first = try #require(try await live.next())
      #expect(first.results.map(\.id) == ["a", "b", "c"] && first.difference.insertions == [0, 1, 2])

      try Self.put("a", 5, in: store)
      let moved = try #require(try await live.next())
      #expect(moved.results.map(\.id) == ["b", "c", "a"])
      #expect(moved.difference.moves.map(\.from) == [0] && moved.difference.moves.map(\.to) == [2])
      #expect(moved.difference.updates == [2] && moved.difference.insertions.isEmpty)

      try Self.put("c", -1, in: store)
      try Self.put("d", 7, in: store)
      var ids: [String] = []
      while ids != ["b", "a", "d"] { ids = try #require(try await live.next()).results.map(\.id) }
      try await store.deleteDocument(withID: "b")
      let removed = try #require(try await live.next())
      #expect(removed.difference.removals == [0] && removed.results.map(\.id) == ["a", "d"])
    }
  }

  @Test func `a consumer that is slow gets the difference from what it has seen`() async throws {
    try await withTemporaryDatastore { store in
      var live = try store.live([:], limit: 3).makeAsyncIterator()
      #expect(try await live.next()?.results.isEmpty == true)
      for number in 0..<20 { try Self.put("doc-\(number % 10)", number, in: store) }
      try store.liveQueries().update(store)
      let update = try #require(try await live.next())
      #expect(update.results.map(\.id) == ["doc-0", "doc-1", "doc-2"])
      #expect(update.difference.insertions == [0, 1, 2] && update.difference.updates.isEmpty)
    }
  }

  @Test func `a change of an included document is a change of the results`() async throws {
    try await withTemporaryDatastore { store in
      try await store.createDocument(from: DocumentDraft(id: "o1", body: ["owner": "ann", "n": 1]))
      var live = store.live(try Query(["n": 1], include: ["owner": "owner"])).makeAsyncIterator()
      let first = try #require(try await live.next())
      #expect(first.results.map(\.id) == ["o1"] && first.included["owner"]?.count == 0)
      try Self.put("ann", 5, in: store)
      let appeared = try #require(try await live.next())
      #expect(appeared.difference.isEmpty && appeared.included["owner"]?["ann"]?.body["n"] == 5)
      try Self.put("ann", 6, in: store)
      #expect(try await live.next()?.included["owner"]?["ann"]?.body["n"] == 6)
      try await store.deleteDocument(withID: "ann")
      #expect(try await live.next()?.included["owner"]?.count == 0)
      // The row links another document.
      try Self.put("bob", 7, in: store)
      try await store.updateDocument(withID: "o1") { $0.body["owner"] = "bob" }
      let moved = try #require(try await live.next())
      #expect(moved.difference.updates == [0] && moved.included["owner"]?.map(\.id) == ["bob"])
    }
  }

  @Test func `other commits don't run a query that includes documents`() async throws {
    try await withTemporaryDatastore { store in
      try await store.createDocument(from: DocumentDraft(id: "o1", body: ["owner": "ann", "n": 1]))
      let queries = try store.liveQueries()
      var live = store.live(try Query(["n": 1], include: ["owner": "owner"])).makeAsyncIterator()
      _ = try await live.next()
      let runs = queries.counts.runs
      for number in 2..<20 { try Self.put("d\(number)", number, in: store) }
      try queries.update(store)
      #expect(try await live.take() == nil && queries.counts.runs == runs)
      try Self.put("ann", 5, in: store)
      try queries.update(store)
      #expect(try await live.take()?.included["owner"]?.count == 1 && queries.counts.runs == runs + 1)
    }
  }

  @Test func `an empty result is an element`() async throws {
    try await withTemporaryDatastore { store in
      var live = try store.live(["n": 1]).makeAsyncIterator()
      let first = try #require(try await live.next())
      #expect(first.results.isEmpty && first.difference.isEmpty)
    }
  }

  @Test func `writes of other managers are seen, also across compaction`() async throws {
    try await withTemporaryDirectory { directory in
      let (manager, other) = (
        try DatastoreManager(directory: directory), try DatastoreManager(directory: directory)
      )
      defer {
        manager.close()
        other.close()
      }
      let store = try await manager.datastore(named: "store")
      let writer = try await other.datastore(named: "store")
      var live = try store.live(["n": ["$gt": 0]]).makeAsyncIterator()
      #expect(try await live.next()?.results.isEmpty == true)
      try Self.put("a", 1, in: writer)
      #expect(try await live.next()?.results.map(\.id) == ["a"])
      try Self.put("a", 2, in: writer)
      #expect(try await live.next()?.difference.updates == [0])
      try await writer.compact()
      try await store.compact()
      try Self.put("b", 1, in: writer)
      #expect(try await live.next()?.results.map(\.id) == ["a", "b"])
    }
  }

  @Test func `it ends when the datastore is closed or deleted elsewhere`() async throws {
    try await withTemporaryDirectory { directory in
      let (manager, other) = (
        try DatastoreManager(directory: directory), try DatastoreManager(directory: directory)
      )
      defer {
        manager.close()
        other.close()
      }
      for isDeleted in [false, true] {
        let store = try await manager.datastore(named: "store")
        var live = try store.live([:]).makeAsyncIterator()
        _ = try await live.next()
        if isDeleted {
          try other.deleteDatastore(named: "store")
        } else {
          try await manager.closeDatastore(named: "store")
        }
        #expect(try await live.next() == nil)
        #expect(try await live.next() == nil)
        // Its files are gone, so the manager must open the datastore again.
        try? await manager.closeDatastore(named: "store")
      }
    }
  }

  @Test func `it ends when the task is cancelled`() async throws {
    try await withTemporaryDatastore { store in
      let count = Task {
        var count = 0
        for try await _ in try store.live([:]) { count += 1 }
        return count
      }
      try await eventually("the query runs") { try store.liveQueries().counts.runs > 0 }
      count.cancel()
      #expect(try await count.value <= 1)
    }
  }

  @Test func `errors are those of find`() async throws {
    try await withTemporaryDatastore { store in
      #expect(throws: QueryError.self) { try store.live(["n": ["$gtt": 1]]) }
      var query = Query(try QuerySelector([:]))
      query.useIndex = "none"
      var refused = store.live(query).makeAsyncIterator()
      await #expect(throws: QueryError.self) { try await refused.next() }
      #expect(try await refused.next() == nil)

      try await store.save(Errand(id: "milk", title: "Buy milk"))
      var models = try store.live(Errand.self, sort: \.title.ascending, undecodable: { throw $0 })
        .makeAsyncIterator()
      #expect(try await models.next()?.results.map(\.title) == ["Buy milk"])
      try await store.createDocument(from: DocumentDraft(id: "bad", body: ["title": 5]))
      do {
        _ = try await models.next()
        Issue.record("the document was decoded")
      } catch let error as DatastoreError {
        #expect(error.code == .undecodable && error.message.contains("bad"))
      }
      #expect(try await models.next() == nil)
    }
  }

  @Test func `documents that can't be decoded are left out and reported once`() async throws {
    try await withTemporaryDatastore { store in
      var bad = try await store.createDocument(
        from: DocumentDraft(id: "b", body: ["title": 5, "isDone": false]))
      for id in ["a", "c"] { try await store.save(Errand(id: id, title: id)) }
      let reported = Mutex<[String]>([])
      var live = try store.live(
        Errand.self, undecodable: { error in reported.withLock { $0.append(error.documentID ?? "") } }
      ).makeAsyncIterator()
      var update = try #require(await live.next())
      #expect(update.results.map(\.id) == ["a", "c"] && update.undecodable.map(\.documentID) == ["b"])
      try await store.save(Errand(id: "d", title: "d"))
      update = try #require(await live.next())
      #expect(update.results.map(\.id) == ["a", "c", "d"] && update.difference.insertions == [2])
      #expect(reported.withLock(\.self) == ["b"] && update.undecodable.map(\.documentID) == ["b"])
      bad.body["title"] = "b"
      bad = try await store.updateDocument(from: bad)
      update = try #require(await live.next())
      #expect(update.results.map(\.id) == ["a", "b", "c", "d"] && update.difference.insertions == [1])
      #expect(update.undecodable.isEmpty)
      bad.body["title"] = nil
      try await store.updateDocument(from: bad)
      update = try #require(await live.next())
      #expect(update.results.map(\.id) == ["a", "c", "d"] && update.difference.removals == [1])
      #expect(reported.withLock(\.self) == ["b", "b"])
    }
  }

  @Test func `by default, results go on without the documents that can't be decoded, and say which`()
    async throws
  {
    try await withTemporaryDatastore { store in
      var live = try store.live(Errand.self).makeAsyncIterator()
      #expect(try await live.next()?.undecodable == [])
      let bad = try await store.createDocument(from: DocumentDraft(id: "b", body: ["title": 5]))
      var update = try #require(await live.next())
      #expect(update.results.isEmpty && update.difference.isEmpty)
      #expect(update.undecodable.map(\.documentID) == ["b"])
      #expect(update.undecodable.map(\.code) == [.undecodable])
      try await store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      update = try #require(await live.next())
      #expect(update.undecodable.map(\.documentID) == ["a", "b"])
      try await store.deleteDocument(from: bad)
      update = try #require(await live.next())
      #expect(update.undecodable.map(\.documentID) == ["a"] && update.difference.isEmpty)
      try await Self.undecodable(store)
    }
  }

  @MainActor private static func undecodable(_ store: Datastore) async throws {
    let list = LiveResults(try store.live(Errand.self), immediately: true)
    let refused = LiveResults(try store.live(Errand.self, undecodable: { throw $0 }))
    #expect(list.results.isEmpty && list.undecodable.map(\.documentID) == ["a"] && list.error == nil)
    try await store.save(Errand(id: "c", title: "c"))
    await observe { list.results.map(\.id) == ["c"] && list.undecodable.count == 1 }
    await observe { (refused.error as? DatastoreError)?.documentID == "a" }
    try await store.deleteDocument(withID: "a")
    await observe { list.undecodable.isEmpty }
  }

  @Test func `a document for a view follows its changes, its deletion and the end of the datastore`()
    async throws
  {
    let manager = try DatastoreManager.inMemory()
    try await Self.document(manager, manager.datastore(named: "store"))
  }

  @MainActor private static func document(_ manager: DatastoreManager, _ store: Datastore) async throws {
    let milk = LiveDocument(Errand.self, id: "milk", in: store)
    let missing = LiveDocument(Errand.self, id: "bread", in: store)
    #expect(milk.value == nil && milk.error == nil)
    var saved = try await store.save(Errand(id: "milk", title: "Buy milk"))
    await observe { milk.value?.revision == saved.revision }
    #expect(LiveDocument(Errand.self, id: "milk", in: store).value?.title == "Buy milk")
    saved.isDone = true
    saved = try await store.save(saved)
    await observe { milk.value?.isDone == true }
    // A document of another form is said to be one, and followed further.
    try await store.updateDocument(withID: "milk") { $0.body["title"] = 5 }
    await observe { (milk.error as? DatastoreError)?.documentID == "milk" }
    #expect(milk.value == nil)
    try await store.updateDocument(withID: "milk") { $0.body["title"] = "Buy oat milk" }
    await observe { milk.value?.title == "Buy oat milk" }
    #expect(milk.error == nil)
    try await store.deleteDocument(withID: "milk")
    await observe { milk.value == nil }
    #expect(milk.error == nil && missing.value == nil && missing.error == nil)
    try await manager.closeDatastore(named: "store")
    #expect((LiveDocument(Errand.self, id: "milk", in: store).error as? DatastoreError)?.code == .closed)
    #expect(milk.error == nil)
  }

  @Test func `without revisions, a change of other fields than those of the query gives no element`()
    async throws
  {
    try await withTemporaryDatastore { store in
      var a = try await store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      let query = try store.live([:], fields: ["n"])
      var (live, revisions) = (query.withoutRevisions.makeAsyncIterator(), query.makeAsyncIterator())
      _ = (try await live.next(), try await revisions.next())
      a.body["hidden"] = 1
      a = try await store.updateDocument(from: a)
      #expect(try await revisions.next()?.difference.updates == [0])
      #expect(try await live.take() == nil)
      a.body["n"] = try JSONValue(parsing: "1.0")
      try await store.updateDocument(from: a)
      let update = try #require(await live.next())
      #expect(update.difference.updates == [0] && update.results[0].body.text == #"{"n":1.0}"#)
    }
  }

  @Test func `a text search is run again`() async throws {
    try await withTemporaryDatastore { store in
      try await store.ensureIndexed(["title"], .text)
      var live = try store.live(["$text": ["$search": "milk"]]).makeAsyncIterator()
      #expect(try await live.next()?.results.isEmpty == true)
      try await store.save(Errand(id: "bread", title: "Buy bread"))
      try await store.save(Errand(id: "milk", title: "Buy milk"))
      #expect(try await live.next()?.results.map(\.id) == ["milk"])
    }
  }

  @Test func `a page fills up from its buffer, and is run again when that is used up`() async throws {
    try await withTemporaryDatastore { store in
      try await store.write { transaction in
        for number in 0..<500 {
          try transaction.createDocument(from: DocumentDraft(id: "\(1_000 + number)", body: [:]))
        }
      }
      let queries = try store.liveQueries()
      var live = try store.live([:], limit: 5).makeAsyncIterator()
      #expect(try await live.next()?.results.map(\.id) == (1_000..<1_005).map(String.init))
      for number in 0..<200 {
        try await store.deleteDocument(withID: "\(1_000 + number)")
        let expected = (1_001 + number..<1_006 + number).map(String.init)
        #expect(try await live.next()?.results.map(\.id) == expected)
      }
      #expect(queries.counts.runs <= 5)
    }
  }

  @Test func `the writes of several tasks arrive, and the differences add up`() async throws {
    try await withTemporaryDatastore { store in
      var observed = try #require(
        try await Observed(Query([:], skip: 1, limit: 30, sort: ["n"]), in: store))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<3 {
          group.addTask {
            var random = SeededGenerator(seed: UInt64(writer))
            for _ in 0..<60 {
              let (id, n) = ("doc-\(writer)-\(random.next() % 20)", Int(random.next() % 50))
              try await store.write { transaction in
                if var known = try? transaction.document(withID: id) {
                  known.body = ["n": n.jsonValue]
                  if n % 5 == 0 {
                    try transaction.deleteDocument(from: known)
                  } else {
                    try transaction.updateDocument(from: known)
                  }
                } else {
                  try transaction.createDocument(from: DocumentDraft(id: id, body: ["n": n.jsonValue]))
                }
              }
            }
          }
        }
        try await group.waitForAll()
      }
      try store.liveQueries().update(store)
      #expect(try await observed.failure(in: store) == nil)
    }
  }

  @Test func `observers that leave are forgotten`() async throws {
    try await withTemporaryDatastore { store in
      try Self.put("a", 1, in: store)
      let queries = try store.liveQueries()
      var live = try store.live([:]).makeAsyncIterator()
      _ = try await live.next()
      for _ in 0..<50 {
        var other = try store.live(["n": ["$gt": 0]]).makeAsyncIterator()
        #expect(try await other.next()?.results.count == 1)
      }
      try Self.put("a", 2, in: store)
      #expect(try await live.next()?.difference.updates == [0])
      // The last one may leave a moment later, on the thread that it was resumed on.
      try await eventually("the others are forgotten") {
        try queries.update(store)
        return queries.observerCount == 1
      }
    }
  }

  @Test func `an object for views has the newest results`() async throws {
    try await withTemporaryDatastore { store in try await Self.view(store) }
  }

  @MainActor private static func view(_ store: Datastore) async throws {
    let errands = LiveResults(try store.live(Errand.self, where: { !$0.isDone }, sort: \.title.ascending))
    var milk = try await store.save(Errand(id: "milk", title: "Buy milk"))
    try await eventually("the errand is shown") { !errands.results.isEmpty }
    #expect(errands.results.map(\.title) == ["Buy milk"] && errands.error == nil)
    milk.isDone = true
    try await store.save(milk)
    try await eventually("the errand is gone") { errands.results.isEmpty }
    #expect(errands.difference?.removals == [0])

    var query = try Query([:])
    query.useIndex = "none"
    let refused = LiveResults(store.live(query))
    try await eventually("the query is refused") { refused.error != nil }
    #expect(refused.error is QueryError && refused.difference == nil)
  }

  @Test func `an object for views that is gone observes no more`() async throws {
    try await withTemporaryDatastore { store in
      try await Self.viewBriefly(store)
      try Self.put("a", 1, in: store)
      let queries = try store.liveQueries()
      try await eventually("nobody observes") {
        try queries.update(store)
        return queries.observerCount == 0
      }
    }
  }

  @MainActor private static func viewBriefly(_ store: Datastore) async throws {
    let list = LiveResults(store.live(try Query([:])))
    try await eventually("the list has its first results") { list.difference != nil }
  }

  @Test func `documents written before and after a restored backup are found`() async throws {
    try await withTemporaryDatastore { store in
      try Self.put("a", 1, in: store)
      var live = try store.live([:]).makeAsyncIterator()
      #expect(try await live.next()?.results.map(\.id) == ["a"])
      // The sequence of a store whose file was restored in place is lower than the one read last.
      for id in ["b", "c"] { try Self.put(id, 1, in: store) }
      while try await live.next()?.results.count != 3 {}
      let connection = try Connection(path: store.databasePath, mode: .readWrite)
      try connection.execute("DELETE FROM documents WHERE id > 'a'")
      connection.close()
      try store.liveQueries().update(store)
      #expect(try await live.next()?.results.map(\.id) == ["a"])
    }
  }
}
