import CDTDatastore
import CDTJSON
import CDTRandomDocuments
import CDTTestSupport
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// The law of live queries: the differences, applied to the previous results, give what a fresh `find` gives.
@Suite(.timeLimit(.minutes(30))) struct LiveLawTests {
  @Test(arguments: 0..<10) func `differences give what find gives`(round: Int) async throws {
    let seed = testSeed(7_000 + UInt64(round))
    try await withTemporaryDirectory(inMemory: true) { directory in
      var random = RandomDocuments(seed: seed, scope: .everything)
      random.hasArrays = random.chance(70)
      let world = try World(directory: directory, form: seed)
      for step in random.beginning() { try world.apply(step) }
      var observed: [Observed] = []
      for _ in 0..<25 {
        // Some searches are not valid.
        guard var query = try? Query(request: random.request()) else { continue }
        if random.chance(40) { query.include = ["a": "a", "b": "b[].a"] }
        if let query = try await Observed(query, in: world.indexed) { observed.append(query) }
      }
      let queries = try world.indexed.liveQueries()
      for number in 0..<40 {
        // Sometimes several commits are read together.
        for _ in 0...random.number(below: 3) { try world.apply(random.change()) }
        // Another text index changes what a search finds, but only a commit of documents makes a query run again.
        try world.apply(Step(.put, ["_id": "last", "a": .int(Int64(number))]))
        try queries.update(world.indexed)
        // Documents may have expired, which a task of its own looks for at any time.
        try world.indexed.queryExtension().expired.remove(deletes: false)
        for position in observed.indices {
          if let failure = try await observed[position].failure(in: world.indexed) {
            Issue.record("seed \(seed), step \(number): \(failure)")
            return
          }
        }
        let violations = queries.violations()
        try #require(violations.isEmpty, "seed \(seed), step \(number): \(violations)")
      }
    }
  }

  @Test(arguments: 0..<4) func `a user's differences give what the user finds, while rules change`(round: Int)
    async throws
  {
    let seed = testSeed(7_200 + UInt64(round))
    try await withTemporaryDirectory(inMemory: true) { directory in
      var random = RandomDocuments(seed: seed)
      let free = try DatastoreManager(directory: directory)
      defer { free.close() }
      let all = try await free.datastore(named: "store")
      let manager = try DatastoreManager(
        directory: directory,
        options: DatastoreOptions(rules: .enforced(as: UserContext(name: "anna", roles: ["x"]))))
      defer { manager.close() }
      let store = try await manager.datastore(named: "store")
      let owned: JSONValue = ["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]
      let rules: [JSONValue] = [
        [owned], [["roles": ["x"], "selector": ["a": ["$gte": 2]]]],
        [owned, ["roles": ["x"], "selector": ["a": 1]]],
        [["roles": ["*"], "selector": ["$or": [["a": ["$in": [0, 3]]], ["owner": "bob"]]]]],
        [["roles": ["y"], "selector": [:]]],
      ]
      func put() async throws {
        let id = "doc-\(random.number(below: 20))"
        let body: JSONObject = [
          "owner": random.chance(50) ? "anna" : "bob", "a": .int(Int64(random.number(below: 5))),
          "next": .string("doc-\(random.number(below: 20))"), "text": random.chance(50) ? "red word" : "word",
        ]
        let isDeleted = random.chance(15)
        try await all.write { transaction in
          if var known = try? transaction.document(withID: id) {
            known.body = body
            if isDeleted {
              try transaction.deleteDocument(withID: id)
            } else {
              try transaction.updateDocument(from: known)
            }
          } else {
            try transaction.createDocument(from: DocumentDraft(id: id, body: body))
          }
        }
      }
      try await all.ensureIndexed(["a"])
      try await all.ensureIndexed(["text"], .text, name: "words")
      try all.setRules(["read": rules[0]])
      for _ in 0..<20 { try await put() }
      var observed: [Observed] = []
      for query in try [
        Query([:]), Query(["a": ["$gte": 1]], limit: 3, sort: ["a"]), Query(["owner": "anna"]),
        Query(["a": ["$lt": 4]], include: ["next": "next"]), Query(["$text": ["$search": "red"]]),
      ] {
        if let query = try await Observed(query, in: store) { observed.append(query) }
      }
      let queries = try store.liveQueries()
      for number in 0..<60 {
        for _ in 0...random.number(below: 3) { try await put() }
        if random.chance(20) { try all.setRules(["read": rules[random.number(below: rules.count)]]) }
        try queries.update(store)
        for position in observed.indices {
          if let failure = try await observed[position].failure(in: store) {
            Issue.record("seed \(seed), step \(number): \(failure)")
            return
          }
        }
        try #require(queries.violations().isEmpty, "seed \(seed), step \(number): \(queries.violations())")
      }
    }
  }

  @Test func `sorted pages of random changes are answered without SQL`() async throws {
    let seed = testSeed(7_100)
    try await withTemporaryDirectory(inMemory: true) { directory in
      var random = RandomDocuments(seed: seed)
      let manager = try DatastoreManager(directory: directory)
      defer { manager.close() }
      let store = try await manager.datastore(named: "store")
      let queries = try store.liveQueries()
      func put(_ count: Int) async throws {
        let changes = (0..<count).map { _ in
          (
            "doc-\(random.number(below: 1_000))", random.chance(20),
            JSONObject([("a", random.scalar()), ("b", random.scalar())])
          )
        }
        try await store.write { transaction in
          for (id, isDeleted, body) in changes {
            var known = try? transaction.document(withID: id)
            if isDeleted {
              if known != nil { try transaction.deleteDocument(withID: id) }
            } else if known != nil {
              known?.body = body
              if let known { try transaction.updateDocument(from: known) }
            } else {
              try transaction.createDocument(from: DocumentDraft(id: id, body: body))
            }
          }
        }
      }
      try await put(2_000)
      var observed: [Observed] = []
      for (selector, sort) in [
        ([:], ["a"]), (["a": ["$gte": 2]], ["b", .descending("a")]), (["b": ["$in": [1, 2, "a"]]], []),
      ] as [(JSONObject, [SortField])] {
        let query = try Query(selector, skip: 10, limit: 20, sort: sort)
        if let query = try await Observed(query, in: store) { observed.append(query) }
      }
      let before = queries.counts
      for number in 0..<1_000 {
        try await put(1)
        try queries.update(store)
        for position in observed.indices where number % 20 == 0 {
          if let failure = try await observed[position].failure(in: store) {
            Issue.record("seed \(seed): \(failure)")
          }
        }
        if number % 20 == 0 { #expect(queries.violations() == []) }
      }
      let (applied, runs) = (queries.counts.applied - before.applied, queries.counts.runs - before.runs)
      #expect(applied > 500 && runs * 20 < applied, "\(runs) runs for \(applied) changes")
    }
  }

  /// A writer is killed after the documents' commit and before that of the indexes.
  @Test func `differences give what find gives after writers were killed`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let manager = try DatastoreManager(directory: directory)
      defer { manager.close() }
      let store = try await manager.datastore(named: "store")
      try await store.ensureIndexed(["text"], .text, name: "words")
      var observed: [Observed] = []
      for query in try [
        Query(["a": 3], sort: ["_id"]), Query([:], limit: 12, sort: ["a"]), Query(["tags": "red"]),
        Query(["$text": ["$search": "word"]]),
      ] {
        if let query = try await Observed(query, in: store) { observed.append(query) }
      }
      let queries = try store.liveQueries()
      for round in 0..<5 {
        try await store.write { transaction in
          for id in try transaction.allDocumentIDs() { try transaction.deleteDocument(withID: id) }
          for number in 0..<20 {
            try transaction.createDocument(
              from: DocumentDraft(id: "d\(number)", body: ["a": .int(Int64(round))]))
          }
        }
        let (status, output) = try await BuiltProgram("cdt-store-worker", ["die", directory]).ended()
        #expect(status == -9, "\(output)")
        try queries.update(store)
        for position in observed.indices {
          if let failure = try await observed[position].failure(in: store) { Issue.record("\(failure)") }
        }
      }
      #expect(observed.first?.results.count == 20)
    }
  }

  @Test func `an index over many observers finds all that a document concerns`() throws {
    let seed = testSeed(7_200)
    var random = RandomDocuments(seed: seed)
    var index = ObserverIndex()
    var observers: [(LiveObserver, Matcher)] = []
    func add() throws {
      let bounds = (0..<2).map { _ in random.scalar() }.filter {
        $0.doubleValue != nil || $0.stringValue != nil
      }
      var selector = random.selector()
      if random.chance(60), bounds.count == 2 {
        let field: JSONObject =
          random.chance(70) ? ["$gte": bounds[0], "$lt": bounds[1]] : ["$gt": bounds[0]]
        selector = [random.pick(["a", "b"]): .object(field)]
      }
      let observer = try LiveObserver(Query(selector, collation: random.collation()))
      observers.append((observer, Matcher(observer.clause)))
      index.insert(observers[observers.count - 1].0)
    }
    for _ in 0..<600 { try add() }
    for round in 0..<400 {
      if round % 3 == 0 {
        index.remove(observers.remove(at: random.number(below: observers.count)).0)
        try add()
      }
      let id = random.id()
      let failure = try DocumentBytes.with(random.body(), id: id, revision: "1-a") {
        bytes throws(QueryError) in
        var found: Set<ObjectIdentifier> = []
        index.forEachCandidate(for: bytes) { found.insert(ObjectIdentifier($0)) }
        for (observer, matcher) in observers where try matcher.accepts(bytes) {
          if !found.contains(ObjectIdentifier(observer)) { return "\(observer.clause)" }
        }
        return found.count <= observers.count ? "" : "an observer that was removed"
      }
      #expect(failure == "", "seed \(seed), round \(round)")
      if failure != "" { return }
    }
  }
}

extension RandomDocuments {
  /// A step that changes documents or indexes, and keeps the store open.
  fileprivate mutating func change() -> Step {
    while true {
      let step = step()
      if step.name != .find, step.name != .reopen { return step }
    }
  }
}

/// A live query, and the results that its differences gave.
struct Observed {
  private let query: Query
  private var iterator: LiveQuery<DocumentRevision>.Iterator
  private(set) var results: [DocumentRevision] = []
  private var included: IncludedDocuments = [:]

  /// - Returns: `nil` if `find` refuses the query.
  init?(_ query: Query, in store: Datastore) async throws {
    var query = query
    iterator = store.live(query).makeAsyncIterator()
    if query.sort.isEmpty { query.sort = ["_id"] }
    self.query = query
    let isRefused = (try? await store.page(query)) == nil
    do {
      guard let first = try await iterator.take() else { return nil }
      results = try #require(applying(first))
      included = first.included
    } catch is QueryError where isRefused {
      return nil
    }
  }

  /// What differs from a fresh find; `nil` if nothing does.
  mutating func failure(in store: Datastore) async throws -> String? {
    do {
      if let update = try await iterator.take() {
        guard let applied = applying(update) else {
          return "\(query): \(update.difference) can't be applied to \(results.map(\.id))"
        }
        results = applied
        if !Self.isSame(results, update.results) {
          return
            "\(query): the differences give \(results.map(\.id)), the element has \(update.results.map(\.id))"
        }
        if update.difference.isEmpty, update.included.isSame(as: included) {
          return "\(query): an element without a difference"
        }
        included = update.included
      }
    } catch is QueryError {
      // For example, the text index was deleted.
      let isRefused = (try? await store.page(query)) == nil
      return isRefused ? nil : "\(query): refused"
    }
    guard !iterator.isOver else { return nil }
    let found: DocumentPage
    do {
      found = try await store.page(query)
    } catch is QueryError {
      return "\(query): not refused"
    }
    if !Self.isSame(results, found.documents) {
      return "\(query): \(results.map(\.json.text)), where find gives \(found.documents.map(\.json.text))"
    }
    return included.json().text.hasSameBytes(as: found.included.json().text)
      ? nil
      : "\(query): \(included.json().text) are included, where find includes \(found.included.json().text)"
  }

  private static func isSame(_ left: [DocumentRevision], _ right: [DocumentRevision]) -> Bool {
    left.elementsEqual(right) { $0 == $1 && $0.json.text.hasSameBytes(as: $1.json.text) }
  }

  /// The results after an update, by its differences alone; `nil` if they don't fit.
  private func applying(_ update: LiveUpdate<DocumentRevision>) -> [DocumentRevision]? {
    let difference = update.difference
    var list = results
    var moved: [Int: DocumentRevision] = [:]
    for position in (difference.removals + difference.moves.map(\.from)).sorted(by: >) {
      guard list.indices.contains(position) else { return nil }
      let row = list.remove(at: position)
      if let move = difference.moves.first(where: { $0.from == position }) { moved[move.to] = row }
    }
    for position in (difference.insertions + difference.moves.map(\.to)).sorted() {
      guard position <= list.count, update.results.indices.contains(position) else { return nil }
      list.insert(moved[position] ?? update.results[position], at: position)
    }
    for position in difference.updates {
      guard list.indices.contains(position), list[position].id.hasSameBytes(as: update.results[position].id)
      else {
        return nil
      }
      list[position] = update.results[position]
    }
    return list
  }
}
