import CDTDatastore
import CDTJSON
import CDTTestSupport
import Synchronization
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// Queries that are asked again and again of a store that changes between: they answer as the matcher does of the documents
/// there are.
@Suite struct ChangingStoreTests {
  /// Every way from candidates to results: in no order, in an index's, sorted with a page and without, with something left
  /// to the matcher, by elements, by alternatives, by several indexes.
  static let requests: [JSONObject] = [
    ["selector": ["a": 1]],
    ["selector": ["a": 1], "limit": 3],
    ["selector": ["a": 1], "limit": 3, "skip": 2],
    ["selector": ["a": ["$gte": 1]], "sort": ["a", "b"]],
    ["selector": ["a": ["$gte": 1]], "sort": [["a": "desc"], ["b": "desc"]], "limit": 4, "skip": 1],
    ["selector": ["a": 2, "c": ["$gt": 1]]],
    ["selector": ["a": 2, "c": ["$gt": 1]], "sort": ["c"], "limit": 5],
    ["selector": ["a": ["$lt": 3]], "sort": ["c"], "limit": 4],
    ["selector": ["a": ["$lt": 3]], "sort": [["c": "desc"]], "limit": 4, "skip": 3],
    ["selector": ["a": ["$lt": 3]], "sort": ["c", ["_id": "desc"]], "limit": 9],
    ["selector": ["a": ["$lt": 3]], "sort": ["_rev"], "limit": 6],
    ["selector": ["a": ["$lt": 3]], "sort": ["c"]],
    ["selector": ["a": 1, "_rev": ["$regex": "^[12]-"]]],
    ["selector": ["a": 1, "t": ["$regex": "x"]], "sort": ["c"], "fields": ["c", "t"]],
    ["selector": ["tags": "u"]],
    ["selector": ["tags": ["$in": ["u", "é"]]], "limit": 6],
    ["selector": ["tags": ["$gte": "a"]], "sort": ["c"], "limit": 5],
    ["selector": ["$or": [["a": 1], ["tags": "e\u{301}"]]]],
    ["selector": ["$or": [["a": 1, "c": 2], ["tags": "u"], ["_id": "d3"]]], "sort": ["c"], "limit": 7],
    ["selector": ["a": 1, "tags": "u"], "limit": 5],
  ]

  private static func write(_ store: Datastore, _ random: inout SeededGenerator) throws {
    let id =
      Int.random(in: 0..<10, using: &random) == 0 ? "e\u{301}" : "d\(Int.random(in: 0..<40, using: &random))"
    let tags = ["u", "v", "é", "e\u{301}"].filter { _ in Bool.random(using: &random) }
    let body: JSONObject = [
      "a": .int(Int64.random(in: 0..<4, using: &random)), "b": .int(Int64.random(in: 0..<4, using: &random)),
      "c": .int(Int64.random(in: 0..<6, using: &random)), "tags": .array(tags.map { .string($0) }),
      "t": .string(String(repeating: "xyz ", count: Int.random(in: 0..<30, using: &random))),
    ]
    var known = try? store.document(withID: id)
    if known?.isDeleted == true { known = nil }
    switch Int.random(in: 0..<20, using: &random) {
    case 0: try store.write { try $0.setLocalDocument(body, withID: id) }
    case 1: try store.compact()
    case 2: try store.updateIndexes()
    case 3, 4: if let known { try store.deleteDocument(from: known) }
    case 5, 6, 7:
      // A conflict, whose branch may win or lose.
      let generation = Int.random(in: 1...4, using: &random)
      let digest = String(Int.random(in: 0..<16, using: &random), radix: 16)
      guard let revision = RevisionID("\(generation)-\(digest)") else { return }
      try store.write { try $0.forceInsert(DocumentRevision(id: id, revisionID: revision, body: body)) }
    default:
      if var known {
        known.body = body
        try store.updateDocument(from: known)
      } else {
        try store.createDocument(from: DocumentDraft(id: id, body: body))
      }
    }
  }

  private static func check(_ store: Datastore, _ context: String) throws {
    let documents = try store.read { try $0.allDocuments() }
    for request in requests {
      let query = try Query(request: request)
      var whole = query
      (whole.skip, whole.limit) = (0, nil)
      let matches = try whole.find(in: documents)
      let expected = matches.dropFirst(query.skip).prefix(query.limit ?? .max)
      do {
        let given = try store.read { try $0.find(query) }
        var texts: [String] = []
        try store.results(for: query).forEachJSON { texts.append(String(decoding: $0, as: UTF8.self)) }
        #expect(given.count == expected.count, "\(request.text), \(context)")
        #expect(try store.read { try $0.count(query) } == matches.count, "\(request.text), \(context)")
        #expect(texts.count == expected.count, "\(request.text) as texts, \(context)")
        if query.sort.isEmpty {
          // In any order, and another one once the indexes have caught up.
          let all = Set(matches.map { Array("\($0.sequence) \($0.json.text)".utf8) })
          let found = Set(given.map { Array("\($0.sequence) \($0.json.text)".utf8) })
          #expect(found.isSubset(of: all) && found.count == given.count, "\(request.text), \(context)")
          let allTexts = Set(matches.map { Array($0.json.text.utf8) })
          let foundTexts = Set(texts.map { Array($0.utf8) })
          #expect(
            foundTexts.isSubset(of: allTexts) && foundTexts.count == texts.count,
            "\(request.text) as texts, \(context)")
        } else {
          let same = given.map { "\($0.sequence) \($0.json.text)" }
          let wanted = expected.map { "\($0.sequence) \($0.json.text)" }
          #expect(
            same.elementsEqual(wanted, by: { $0.hasSameBytes(as: $1) }), "\(request.text), \(context)")
          #expect(
            texts.elementsEqual(expected.map(\.json.text), by: { $0.hasSameBytes(as: $1) }),
            "\(request.text) as texts, \(context)")
        }
      }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `answers are the matcher's while two write`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withTemporaryDirectory(inMemory: true) { directory in
      var options = DatastoreOptions()
      options.durability = .normal
      let managers = try (0..<2).map { _ in try DatastoreManager(directory: directory, options: options) }
      defer { for manager in managers { try? manager.closeDatastore(named: "store") } }
      let stores = try managers.map { try $0.datastore(named: "store") }
      try stores[0].ensureIndexed(["a", "b"])
      try stores[0].ensureIndexed(["tags"])
      for _ in 0..<60 { try Self.write(stores[0], &random) }
      for round in 0..<25 {
        try Self.check(stores[0], "seed \(seed), round \(round)")
        for _ in 0..<Int.random(in: 0..<6, using: &random) {
          try Self.write(stores[Int.random(in: 0..<2, using: &random)], &random)
        }
      }
    }
  }

  /// A round changes a third of the documents, so that in one moment there are those of three rounds.
  @Test func `readers never mix two moments`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<60 {
          try transaction.createDocument(
            from: DocumentDraft(id: "d\(number)", body: ["g": 1, "round": 0]))
        }
      }
      try store.ensureIndexed(["g"])
      let isDone = Atomic<Bool>(false)
      let answers = Atomic<Int>(0)
      let failures = Mutex<[String]>([])
      onThreads(4) { worker in
        do {
          var round: Int64 = 0
          while worker == 0
            ? (round < 200 || answers.load(ordering: .relaxed) < 300) && round < 50_000
            : !isDone.load(ordering: .acquiring)
          {
            if worker == 0 {
              round += 1
              try Self.raise(to: round, in: store)
            } else {
              try Self.checkRound(store, sorted: worker == 1, failures)
              answers.add(1, ordering: .relaxed)
            }
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
        if worker == 0 { isDone.store(true, ordering: .releasing) }
      }
      #expect(failures.withLock { $0 } == [])
    }
  }

  private static func raise(to round: Int64, in store: Datastore) throws {
    try store.write { transaction in
      for number in 0..<60 where Int64(number) % 3 == round % 3 {
        var document = try transaction.document(withID: "d\(number)")
        document.body["round"] = .int(round)
        try transaction.updateDocument(from: document)
      }
    }
  }

  private static func checkRound(
    _ store: Datastore, sorted: Bool, _ failures: borrowing Mutex<[String]>
  ) throws {
    let sort: [SortField] = sorted ? ["round"] : []
    let documents = try store.find(["g": 1], limit: 100, sort: sort)
    let rounds = Set(documents.compactMap { $0.body["round"]?.intValue })
    let ids = Set(documents.map(\.id))
    let isOne = (rounds.max() ?? 0) - (rounds.min() ?? 0) <= 2
    if documents.count != 60 || ids.count != 60 || !isOne {
      failures.withLock {
        $0.append("\(documents.count) documents, \(ids.count) ids, rounds \(rounds.sorted())")
      }
    }
  }
}
