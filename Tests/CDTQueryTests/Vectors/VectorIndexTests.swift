import CDTRandomDocuments
import CDTTestSupport
import Testing

@testable import CDTDatastore
@testable import CDTIndex
@testable import CDTJSON
@testable import CDTPlan
@testable import CDTQuery
@testable import CDTSelector

/// Indexes of vectors: their answers are the matcher's.
@Suite struct VectorIndexTests {
  /// Few components, so that distances are often equal, and some at the edges of what has a distance.
  private static func vector(_ length: Int, _ random: inout RandomDocuments) -> JSONValue {
    let kind = random.number(below: 12)
    if kind == 0 { return .array([JSONValue](repeating: 0, count: length)) }
    let length = random.chance(8) ? length + 1 - random.number(below: 3) : length
    let size = kind == 1 ? random.pick([1e-200, 1e-100, 1e100, 1e160, 1e300]) : 1
    return .array(
      (0..<length).map { _ in .double(size * Double(random.number(below: kind < 6 ? 5 : 1_001) - 2)) })
  }

  private static func body(_ length: Int, _ random: inout RandomDocuments) -> JSONObject {
    var body: JSONObject = ["n": .int(Int64(random.number(below: 5)))]
    switch random.number(below: 10) {
    case 0: break
    case 1: body["v"] = .array((0..<random.number(below: 4)).map { _ in vector(length, &random) })
    case 2: body["v"] = random.value()
    default: body["v"] = vector(length, &random)
    }
    body["items"] = .array((0..<random.number(below: 3)).map { _ in ["v": vector(length, &random)] })
    return body
  }

  private static func request(_ length: Int, _ random: inout RandomDocuments) -> JSONObject {
    var near: JSONObject = [
      "$vector": .array((0..<length).map { _ in .double(Double(random.number(below: 9)) - 3.5) })
    ]
    let metric = random.pick(["cosine", "euclidean", "dot"])
    near["$metric"] = .string(metric)
    if random.chance(30) { near["$maxDistance"] = .double(random.pick([0.05, 0.5, 1, 3, 10, -4])) }
    if random.chance(15) { near["$minDistance"] = .double(random.pick([0.1, 1, -10])) }
    var selector: JSONObject = [random.chance(70) ? "v" : "items.v": ["$near": .object(near)]]
    if random.chance(40) { selector["n"] = random.pick([3, ["$gte": 2], ["$in": [1, 4]]]) }
    var request: JSONObject = ["selector": .object(selector)]
    if random.chance(70) { request["limit"] = .int(Int64(1 + random.number(below: 20))) }
    if random.chance(20) { request["skip"] = .int(Int64(random.number(below: 4))) }
    return request
  }

  /// Compares the answers of every plan, and the pages, with the matcher.
  private static func check(_ request: JSONObject, in store: Datastore, _ counts: inout [String: Int]) throws
  {
    let query = try Query(request: request)
    let documents = try store.read { try $0.allDocuments() }
    let expected = try query.find(in: documents).map(\.id)
    try store.read { transaction in
      let engine = try QueryEngine(transaction)
      for way in try engine.everyPlan(query).indices {
        let plan = try engine.everyPlan(query)[way]
        let found = try engine.choosing { try $0.everyPlan()[way] }.find(query).map(\.id)
        #expect(found == expected, "\(request.text)\n\(plan.source)")
        if case .nearest = plan.source { counts["plans", default: 0] += 1 }
      }
      guard let limit = query.limit, limit > 0 else { return }
      var whole = query
      (whole.limit, whole.skip) = (nil, 0)
      let every = try whole.find(in: documents).map(\.id)
      var page = whole
      page.limit = limit
      var found: [String] = []
      while found.count < every.count {
        let part = try transaction.page(page)
        found += part.documents.map(\.id)
        guard let next = part.bookmark else { break }
        page.bookmark = next
      }
      #expect(found == every, "\(request.text), pages")
    }
    counts["results", default: 0] += expected.count
  }

  @Test(arguments: [1, 2, 3, 8, 17, 384], [false, true])
  func `index and matcher give one answer`(length: Int, isEncrypted: Bool) throws {
    var random = RandomDocuments(seed: testSeed(9_400 + UInt64(length)))
    var counts: [String: Int] = [:]
    // The matcher takes long for long vectors.
    let rounds = length < 100 ? 12 : 4
    try withTemporaryDirectory(inMemory: true) { directory in
      let options = DatastoreOptions(encryption: isEncrypted ? .key([UInt8](repeating: 7, count: 32)) : nil)
      let manager = try DatastoreManager(directory: directory, options: options)
      defer { manager.close() }
      let store = try manager.datastore(named: "store")
      func put(_ count: Int) throws {
        try store.write { transaction in
          for _ in 0..<count {
            let id = "doc-\(random.number(below: 300))"
            if var known = try? transaction.document(withID: id), !known.isDeleted {
              if random.chance(20) {
                try transaction.deleteDocument(from: known)
              } else {
                known.body = Self.body(length, &random)
                try transaction.updateDocument(from: known)
              }
            } else {
              try transaction.createDocument(
                from: DocumentDraft(id: id, body: Self.body(length, &random)))
            }
          }
        }
      }
      try put(100)
      try store.ensureIndexed(["v"], .vector(length), name: "v")
      try store.ensureIndexed(["v"], IndexOptions(where: ["n": ["$gte": 2]], vector: length), name: "some")
      try store.ensureIndexed(["items.v"], .vector(length), name: "items")
      try store.ensureIndexed(["n"])
      for round in 0..<rounds {
        try put(25)
        if round == rounds / 2 { try store.rebuildIndexes() }
        for _ in 0..<4 { try Self.check(Self.request(length, &random), in: store, &counts) }
      }
      #expect(try store.checkIndexes() == [])
      let count = try store.listIndexes().map(\.entries)
      try store.rebuildIndexes()
      #expect(try store.listIndexes().map(\.entries) == count)
    }
    #expect(
      counts["plans"] ?? 0 > rounds * 20 / 12 && counts["results"] ?? 0 > rounds * 200 / 12, "\(counts)")
  }

  @Test func `a document with more vectors than rows have is still found`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["v"], .vector(2), name: "v")
      func vectors(_ count: Int) -> JSONValue { .array((0..<count).map { [.int(Int64($0)), 1] }) }
      try store.createDocument(from: DocumentDraft(id: "few", body: ["v": vectors(256)]))
      try store.createDocument(from: DocumentDraft(id: "many", body: ["v": vectors(257)]))
      try store.createDocument(from: DocumentDraft(id: "one", body: ["v": [256, 1]]))
      func nearest(_ first: JSONValue) throws -> [String] {
        let near: JSONObject = ["$vector": [first, 1], "$metric": "euclidean"]
        let query = try Query(["v": ["$near": .object(near)]], useIndex: "v")
        return try store.read { try $0.find(query) }.map(\.id)
      }
      #expect(try store.listIndexes().map(\.entries) == [257])
      #expect(try nearest(256) == ["many", "one", "few"] && nearest(1) == ["few", "many", "one"])
      try store.updateDocument(withID: "many") { $0.body["v"] = vectors(3) }
      try store.updateDocument(withID: "few") { $0.body["v"] = vectors(300) }
      #expect(try store.listIndexes().map(\.entries) == [4] && store.checkIndexes() == [])
      #expect(try nearest(256) == ["few", "one", "many"])
      try store.rebuildIndexes()
      #expect(try nearest(256) == ["few", "one", "many"] && store.checkIndexes() == [])
      try store.deleteDocument(withID: "few")
      try store.deleteDocument(withID: "many")
      #expect(try store.listIndexes().map(\.entries) == [1] && store.checkIndexes() == [])
    }
  }

  @Test func `a query goes on after the documents that a pass keeps`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<3_000 {
          // Some distances are equal, and the last documents are found after two more passes.
          try transaction.createDocument(
            from: DocumentDraft(
              id: "doc-\(number)", body: ["v": [.int(Int64(number / 3)), 1], "last": .bool(number > 2_990)]))
        }
      }
      try store.ensureIndexed(["v"], .vector(2))
      let near: JSONObject = ["$near": ["$vector": [0, 1], "$metric": "euclidean"]]
      for selector in [["v": .object(near)], ["v": .object(near), "last": true]] as [JSONObject] {
        let query = try Query(selector, limit: 2_990, useIndex: "vector_v")
        let documents = try store.read { try $0.allDocuments() }
        let expected = try query.find(in: documents).map(\.id)
        #expect(try store.read { try $0.find(query) }.map(\.id) == expected)
      }
    }
  }

  @Test func `another connection sees the vectors of its snapshot`() throws {
    try withTemporaryDirectory { directory in
      let managers = try (0..<2).map { _ in try DatastoreManager(directory: directory) }
      defer { managers.forEach { $0.close() } }
      let stores = try managers.map { try $0.datastore(named: "store") }
      try stores[0].ensureIndexed(["v"], .vector(2), name: "v")
      for number in 0..<40 {
        let store = stores[number % 2]
        try store.createDocument(
          from: DocumentDraft(id: "doc-\(number)", body: ["v": [.int(Int64(number)), 7]]))
        let query = try Query(["v": ["$near": ["$vector": [20, 7]]]], limit: 3, useIndex: "v")
        for store in stores {
          try store.read { transaction in
            let expected = try query.find(in: transaction.allDocuments()).map(\.id)
            #expect(try transaction.find(query).map(\.id) == expected)
          }
        }
      }
    }
  }

  @Test func `writes that missed the index are found, and not what was before them`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["v"], .vector(2), name: "v")
      for number in 0..<20 {
        try store.createDocument(
          from: DocumentDraft(id: "doc-\(number)", body: ["v": [.int(Int64(number)), 7]]))
      }
      let query = try Query(
        ["v": ["$near": ["$vector": [3, 7], "$metric": "euclidean"]]], limit: 3, useIndex: "v")
      #expect(try store.read { try $0.find(query) }.map(\.id) == ["doc-3", "doc-2", "doc-4"])
      try writeMissingIndexes(of: store) { transaction in
        try transaction.updateDocument(withID: "doc-3") { $0.body["v"] = [50, 7] }
        try transaction.updateDocument(withID: "doc-19") { $0.body["v"] = [[3, 7], [4, 7]] }
        try transaction.deleteDocument(withID: "doc-2")
      }
      #expect(try store.read { try $0.find(query) }.map(\.id) == ["doc-19", "doc-4", "doc-1"])
      try store.updateIndexes()
      #expect(
        try store.read { try $0.find(query) }.map(\.id) == ["doc-19", "doc-4", "doc-1"]
          && store.checkIndexes() == [])
    }
  }

  @Test func `a vector without a code is answered by a scan, also if the index is named`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["v"], .vector(2), name: "v")
      try store.createDocument(from: DocumentDraft(id: "a", body: ["v": [1, 2]]))
      for vector in [[0, 0], [1e200, 0]] as [JSONValue] {
        let near: JSONObject = ["v": ["$near": ["$vector": vector, "$metric": "dot"]]]
        #expect(try store.read { try $0.find(Query(near, useIndex: "v")) }.map(\.id) == ["a"], "\(vector)")
      }
    }
  }

  // MARK: Plans

  private static func fill(_ store: Datastore, _ count: Int) throws {
    var random = RandomDocuments(seed: 9_500)
    try store.write { transaction in
      for number in 0..<count {
        let vector = (0..<32).map { _ in JSONValue.int(Int64(random.number(below: 100) - 50)) }
        try transaction.createDocument(
          from: DocumentDraft(
            id: "doc-\(number)",
            body: [
              "v": .array(vector), "p": [.int(Int64(number % 90)), .int(Int64(number % 11))],
              "n": .int(Int64(number)), "k": .int(Int64(number % 2)),
            ]))
      }
    }
    try store.ensureIndexed(["v"], .vector(32))
    try store.ensureIndexed(["n"])
    try store.ensureIndexed(["k"])
  }

  private static let near: JSONValue = [
    "$near": ["$vector": .array((0..<32).map { .int($0 - 9) }), "$maxDistance": 1.5]
  ]

  private static func source(_ query: Query, _ store: Datastore) throws -> String {
    try store.explain(query).json["source"]?.stringValue ?? ""
  }

  @Test func `the index serves the order of the distances`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 2_000)
      let name = #"index "vector_v" in the order of the distances"#
      #expect(try Self.source(Query(["v": Self.near], limit: 10), store) == name)
      #expect(try Self.source(Query(["v": Self.near, "k": 1], limit: 10), store) == name)
      let selective = try Query(["v": Self.near, "n": ["$lt": 20]], limit: 10)
      #expect(try Self.source(selective, store) == #"index "n": n in a range"#)
      let sorted = try Query(["v": Self.near], limit: 10, sort: ["n"])
      #expect(try !Self.source(sorted, store).contains("vector_v"))
      let reasons = try [Query(["v": Self.near], sort: ["n"]), Query(["n": 3])].map {
        try store.explain($0).considered.first { $0.definition.name == "vector_v" }?.reason
      }
      #expect(
        reasons == [
          "the order is not that of the distances",
          "the selector has no \"$near\" that its vectors can answer",
        ])
      #expect(try store.count(["v": Self.near]) > 900)
      let named = try Query(["v": Self.near], useIndex: "vector_v")
      #expect(try store.read { try $0.find(named) }.count == store.count(["v": Self.near]))
    }
  }

  @Test(arguments: ["v", "p"]) func `candidates of another index are read in the order of their distances`(
    field: String
  ) throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 600)
      try store.ensureIndexed(["p"], .place)
      let here: JSONValue = ["$near": ["$geometry": ["type": "Point", "coordinates": [8, 7]]]]
      let query = try Query([field: field == "v" ? Self.near : here, "n": ["$lt": 90], "k": 1], limit: 10)
      let expected = try query.find(in: store.read { try $0.find(Query([:])) }).map(\.id)
      var number = 0
      while true {
        var source = ""
        let results = try ResultSet(query, in: store) { planner in
          let plans = try planner.everyPlan().filter { plan in
            if case .intersection = plan.source { plan.source.nearest != nil } else { false }
          }
          try #require(!plans.isEmpty)
          source = number < plans.count ? "\(plans[number].source.indexes.map(\.definition.name))" : ""
          return plans[min(number, plans.count - 1)]
        }
        #expect(try results.documents().map(\.id) == expected, "\(source)")
        if source.isEmpty { break }
        number += 1
      }
      #expect(number > 1)
    }
  }

  @Test func `the rows of the pass and the documents that were decided are measured`() throws {
    try withTemporaryDatastore { store in
      try Self.fill(store, 2_000)
      try store.read { transaction in
        let cursor = try QueryEngine(transaction).cursor(Query(["v": Self.near], limit: 10))
        defer { cursor.end() }
        let measured = try cursor.explanation(measuring: true).json["measured"]
        #expect(measured?["keys_examined"] == 2_000 && measured?["results"] == 10)
        let decided = try #require(measured?["docs_examined"]?.intValue)
        #expect(decided >= 10 && decided < 200)
        #expect(measured?["source"]?["actual"]?["rows"] == 2_000)
      }
    }
  }

  @Test func `a query that the named index can't answer is refused`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["v"], .vector(3), name: "v")
      let message =
        #"use_index: "v" is an index of vectors of 3 numbers, for a "$near" with such a "$vector" and no other sort; name another index, or remove use_index"#
      for (selector, sort) in [
        (["n": 1], []), (["v": ["$near": ["$vector": [1, 2]]]], []),
        (["w": ["$near": ["$vector": [1, 2, 3]]]], []),
        (["v": ["$near": ["$vector": [1, 2, 3]]]], ["n"]),
      ] as [(JSONObject, [SortField])] {
        let query = try Query(selector, sort: sort, useIndex: "v")
        let error = #expect(throws: QueryError.self) { try store.read { try $0.find(query) } }
        #expect(error?.description == message)
      }
      let counted = try Query(["v": ["$near": ["$vector": [1, 2, 3]]]], useIndex: "v")
      #expect(try store.read { try $0.count(counted) } == 0)
    }
  }
}
