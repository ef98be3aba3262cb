import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTTestSupport
import FoundationEssentials
import Synchronization
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// Results are read one at a time, whatever happens meanwhile: in closures, on other threads, to the store.
@Suite struct ResultSetTests {
  private static func fill(_ store: Datastore, _ count: Int) throws {
    try store.write { transaction in
      for number in 0..<count {
        try transaction.createDocument(
          from: DocumentDraft(
            id: "d\(number)", body: ["a": .int(Int64(number % 5)), "n": .int(Int64(number))])
        )
      }
    }
  }

  private static func code(_ body: () throws -> Void) -> QueryError.Code? {
    #expect(throws: QueryError.self, performing: body)?.code
  }

  // MARK: Within a closure

  /// The ways of reading that call a closure.
  static let readings: [(name: String, read: @Sendable (ResultSet, () throws -> Void) throws -> Void)] = [
    ("forEach", { results, body in try results.forEach { _ in try body() } }),
    ("forEachID", { results, body in try results.forEachID { _ in try body() } }),
    ("forEachJSON", { results, body in try results.forEachJSON { _ in try body() } }),
  ]

  @Test(arguments: readings.indices) func `a closure may use the store`(_ reading: Int) throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 20)
      try store.ensureIndexed(["a"])
      var seen = 0
      try Self.readings[reading].read(store.results(for: Query(["a": 3]))) {
        seen += 1
        try store.createDocument(from: DocumentDraft(id: "new \(seen)", body: ["a": 3]))
        #expect(try store.count(["a": 3]) == 4 + seen)
        #expect(try store.find(["a": 3]).map(\.id).count == 4 + seen)
        try store.ensureIndexed(["n"])
        #expect(try store.listIndexes().count == 2)
      }
      #expect(seen == 4)
    }
  }

  @Test(arguments: readings.indices) func `a closure may close the results, which ends the reading`(
    _ reading: Int
  ) throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 20)
      let results = try store.results(for: Query([:]))
      var seen = 0
      do {
        try Self.readings[reading].read(results) {
          seen += 1
          if seen == 3 { results.close() }
        }
      } catch let error as QueryError where error.code == .closed {
        // `forEach` asks for the next document.
        #expect(Self.readings[reading].name == "forEach")
      }
      #expect(seen == 3)
      #expect(Self.code { _ = try results.next() } == .closed)
    }
  }

  @Test(arguments: ["forEachID", "forEachJSON"]) func `a closure is refused the results that it reads`(
    _ name: String
  ) throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 3)
      let results = try store.results(for: Query([:]))
      let reading = try #require(Self.readings.first { $0.name == name })
      var seen = 0
      try reading.read(results) {
        seen += 1
        let uses: [() throws -> Void] = [
          { _ = try results.next() }, { _ = try results.documents() }, { _ = try results.documentIDs() },
          { try results.forEachID { _ in } }, { try results.forEachJSON { _ in } },
        ]
        for use in uses { #expect(Self.code(use) == .inUse) }
      }
      #expect(seen == 3)
      #expect(try results.documentIDs().count == 3)
    }
  }

  @Test(arguments: ["forEachID", "forEachJSON"]) func `another thread is refused the results meanwhile`(
    _ name: String
  ) throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 1)
      let results = try store.results(for: Query([:]))
      let reading = try #require(Self.readings.first { $0.name == name })
      let codes = Mutex<[QueryError.Code?]>([])
      try reading.read(results) {
        onThreads(2) { _ in
          let code = Self.code { _ = try results.next() }
          codes.withLock { $0.append(code) }
        }
      }
      #expect(codes.withLock(\.self) == [.inUse, .inUse])
    }
  }

  @Test func `an error of the closure comes through, and the reading goes on behind it`() throws {
    struct OwnError: Error {}
    try withTemporaryDatastore { store in
      try Self.fill(store, 5)
      let results = try store.results(for: Query([:], sort: ["_id"]))
      #expect(throws: OwnError.self) { try results.forEachJSON { _ in throw OwnError() } }
      #expect(try results.documents().map(\.id) == ["d1", "d2", "d3", "d4"])
    }
  }

  @Test(arguments: [[], ["a", "_id"]]) func `documents behind texts are whole`(_ sort: [SortField]) throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 5)
      try store.updateDocument(withID: "d3") { document in
        document.attachments["note"] = DocumentAttachment(
          data: Data("milk".utf8), name: "note", contentType: "text/plain")
      }
      if !sort.isEmpty { try store.ensureIndexed(["a"]) }
      let query = try Query([:], sort: sort)
      for isInlining in [false, true] {
        let results = try store.results(for: query)
        #expect(throws: CancellationError.self) {
          try results.forEachJSON { _ in throw CancellationError() }
        }
        _ = try results.next()
        var texts: [JSONObject] = []
        #expect(throws: CancellationError.self) {
          try results.forEachJSON(inliningAttachments: isInlining) { text in
            texts.append(try JSONObject(parsing: Array(text)))
            if texts.count == 2 { throw CancellationError() }
          }
        }
        let found = try store.read { try $0.find(query) }
        #expect(texts.map { $0["_id"]?.stringValue } == found[2...3].map(\.id))
        #expect(texts.map { $0["_attachments"] != nil } == [false, isInlining])
        #expect(try results.documents() == [found[4]])
        #expect(found.map(\.sequence).max() == 6 && found[3].attachments.count == 1)
      }
    }
  }

  @Test func `closing the store within a closure ends the reading with an error`() throws {
    try withTemporaryDirectory { directory in
      for reading in Self.readings {
        let manager = try DatastoreManager(directory: directory)
        let store = try manager.datastore(named: "store")
        if try store.read({ try $0.documentCount() }) == 0 { try Self.fill(store, 5) }
        let results = try store.results(for: Query([:]))
        let error = #expect(throws: DatastoreError.self) {
          try reading.read(results) { try manager.closeDatastore(named: "store") }
        }
        #expect(error?.code == .closed, "\(reading.name)")
      }
    }
  }

  // MARK: Cancelling

  @Test(arguments: readings.indices) func `a cancelled query ends, and the store goes on`(_ reading: Int)
    throws
  {
    try withTemporaryDatastore { store in
      try Self.fill(store, 50)
      let results = try store.results(for: Query(["a": 3]))
      var seen = 0
      #expect(throws: CancellationError.self) {
        try Self.readings[reading].read(results) {
          seen += 1
          if seen == 2 { results.cancel() }
        }
      }
      #expect(seen == 2)
      #expect(throws: CancellationError.self) { try results.next() }
      results.close()
      #expect(try store.find(["a": 3]).count == 10)
      #expect(try store.checkIndexes() == [])
    }
  }

  /// A pattern that takes long to fail, within what any match is given.
  private static let slow: JSONObject = ["$regex": "^(x+x+)+y"]
  private static let hard = JSONValue.string(String(repeating: "x", count: 18) + "zy")

  private static func fillHard(_ store: Datastore, _ count: Int) throws {
    try store.write { transaction in
      for number in 0..<count {
        try transaction.createDocument(
          from: DocumentDraft(id: "d\(number)", body: ["s": hard, "a": .int(Int64(number % 5))]))
      }
    }
  }

  @Test func `a query is cancelled from another thread while it looks for its first match`() throws {
    try withTemporaryDatastore { store in
      try Self.fillHard(store, 300)
      try store.ensureIndexed(["a"])
      for request in [["s": .object(Self.slow)], ["a": ["$gte": 0], "s": .object(Self.slow)]] as [JSONObject]
      {
        let results = try store.results(for: Query(request))
        let isCancelled = Atomic(false)
        let isReading = Atomic(false)
        onThreads(2) { thread in
          if thread == 0 {
            isReading.store(true, ordering: .releasing)
            do {
              _ = try results.next()
            } catch {
              isCancelled.store(error is CancellationError, ordering: .relaxed)
            }
          } else {
            try? blockUntil("the results are read") { isReading.load(ordering: .acquiring) }
            // So that it is in the middle of its documents, which take seconds. To cancel it earlier gives the same error.
            Sleep.microseconds(20_000)
            results.cancel()
          }
        }
        let wasCancelled = isCancelled.load(ordering: .relaxed)
        #expect(wasCancelled)
      }
      #expect(try store.count(["a": 3]) == 60)
    }
  }

  /// The reader that a closed query had is another's by then.
  @Test func `cancelling a query that is over leaves others alone`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 2_000)
      let over = try store.results(for: Query([:]))
      _ = try over.next()
      over.close()
      let other = try store.results(for: Query([:]))
      var count = 0
      while try other.next() != nil {
        count += 1
        over.cancel()
      }
      #expect(count == 2_000)
      #expect(Self.code { _ = try over.next() } == .closed)
    }
  }

  // MARK: A time limit

  private static func query(_ selector: JSONObject, _ limit: Duration, sort: [SortField] = []) throws -> Query
  {
    var query = try Query(selector, sort: sort)
    query.timeLimit = limit
    return query
  }

  @Test func `a query that takes too long ends, and the store goes on`() throws {
    try withTemporaryDatastore { store in
      try Self.fillHard(store, 300)
      try store.ensureIndexed(["a"])
      // Matching takes many times as long as SQLite does.
      for selector in [["s": .object(Self.slow)], ["a": ["$gte": 0], "s": .object(Self.slow)]] as [JSONObject]
      {
        for sort in [[], ["s"], ["a"]] as [[SortField]] {
          let query = try Self.query(selector, .milliseconds(20), sort: sort)
          let context = "\(selector.text), sort \(sort)"
          let results = try store.results(for: query)
          #expect(Self.code { _ = try results.next() } == .timedOut, "next, \(context)")
          #expect(Self.code { _ = try store.read { try $0.find(query) } } == .timedOut, "find, \(context)")
          #expect(
            Self.code { _ = try store.read { try $0.documentIDs(query) } } == .timedOut, "ids, \(context)")
          #expect(Self.code { _ = try store.read { try $0.count(query) } } == .timedOut, "count, \(context)")
          #expect(
            Self.code { _ = try store.read { try $0.contains(query) } } == .timedOut, "exists, \(context)")
        }
      }
      #expect(try store.count(["a": 3]) == 60)
      #expect(try store.find(["a": 3]).count == 60)
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `no time at all is too little, and much of it enough`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 10)
      let none = try Self.query(["a": 3], .zero)
      #expect(Self.code { _ = try store.read { try $0.find(none) } } == .timedOut)
      #expect(Self.code { _ = try store.read { try $0.count(none) } } == .timedOut)
      #expect(Self.code { _ = try store.read { try $0.contains(none) } } == .timedOut)
      let much = try Self.query(["a": 3], .seconds(Int64.max))
      #expect(try store.read { try $0.find(much) }.count == 2)
      #expect(try store.read { try $0.count(much) } == 2)
      // A reader that was used with a limit has none afterwards.
      #expect(try store.find(["a": 3]).count == 2)
    }
  }

  @Test func `time in which nothing is asked for counts`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 10)
      let limit = Duration.milliseconds(200)
      let start = ContinuousClock.now
      let results = try store.results(for: Self.query([:], limit))
      while ContinuousClock.now < start + limit * 1.1 {}
      let error = #expect(throws: QueryError.self) { try results.next() }
      #expect(error?.code == .timedOut)
      #expect(error?.message.contains("0.2 seconds") == true, "\(error?.message ?? "")")
      #expect(try store.find([:]).count == 10)
    }
  }
}
