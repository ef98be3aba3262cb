import CDTDatastore
import CDTJSON
import CDTRandomDocuments
import Testing

@testable import CDTIndex
@testable import CDTPlan
@testable import CDTQuery
@testable import CDTSelector

/// The second law: cost follows the result, not the store. What queries meet is counted.
@Suite struct PlanCostTests {
  /// A document like those of `Benchmarks/`: names are many, species few and of unequal numbers, ages a hundred.
  private static func person(_ number: Int, _ random: inout RandomDocuments) -> JSONObject {
    let rank = random.number(below: 20)
    return [
      "name": .string("name \(random.number(below: 200))"), "age": .int(Int64(random.number(below: 100))),
      "pet": [
        "species": .string("species \(min(rank, random.number(below: 20)))"),
        "name": .string("pet \(number)"),
      ],
      "tags": .array((0..<3).map { _ in .string("tag \(random.number(below: 50))") }),
      "score": .int(Int64(random.number(below: 1_000))),
      "comment": "so that a body is a little longer than the entries that indexes have of it",
    ]
  }

  static func withPeople(
    _ count: Int, _ indexes: [[SortField]], _ body: (Datastore) throws -> Void
  ) throws {
    var random = RandomDocuments(seed: 7)
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<count {
          try transaction.createDocument(
            from: DocumentDraft(id: "p\(number)", body: person(number, &random)))
        }
      }
      for fields in indexes { try store.ensureIndexed(fields) }
      try body(store)
    }
  }

  @Test func `only the results are read if an index decides and orders`() throws {
    try Self.withPeople(20_000, [["name", "age"], ["pet.species"], ["age"]]) { store in
      let equality = try store.visits(Query(["pet.species": "species 1"], limit: 25))
      #expect(equality.rows == 25 && equality.documents == 25 && equality.steps < 2_000)
      let sorted = try store.visits(Query(["name": "name 7"], limit: 5, sort: [.descending("age")]))
      #expect(sorted.rows == 5 && sorted.documents == 5 && sorted.steps < 2_000)
      let all = try store.visits(Query([:], limit: 25, sort: ["age"]))
      #expect(all.rows == 25 && all.documents == 25)
      let filtered = try store.visits(
        Query(["pet.species": "species 0"], limit: 25, sort: ["age"]))
      #expect(filtered.rows == 25 && filtered.documents < 1_000)
    }
  }

  @Test func `a page by _id, or from a bookmark, reads its results alone`() throws {
    try Self.withPeople(20_000, [["name", "age"], ["pet.species"], ["age"]]) { store in
      for selector: JSONObject in [["_id": ["$gt": "p5"]], ["_id": ["$gte": "p5", "$lt": "p6"]]] {
        let page = try store.visits(Query(selector, limit: 25))
        #expect(page.rows == 25 && page.documents == 25 && page.steps < 2_000, "\(selector.text)")
      }
      let typed = try store.visits(Query(["pet.species": "species 0", "_id": ["$gt": "p5"]], limit: 25))
      #expect(typed.rows == 25 && typed.documents == 25 && typed.steps < 2_000)
      for (selector, sort): (JSONObject, [SortField]) in [
        ([:], []), (["pet.species": "species 0"], []), (["age": ["$gte": 10]], []), ([:], ["age"]),
        ([:], [.descending("age")]), (["name": ["$gt": "name 1"]], ["name", "age"]),
      ] {
        var query = try Query(selector, skip: 3_000, limit: 1, sort: sort)
        let first = try store.results(for: query)
        _ = try first.next()
        (query.skip, query.limit, query.bookmark) = (0, 25, try first.bookmark())
        let page = try store.visits(query)
        // Documents of one age are passed in the index.
        let isCheap = page.rows == 25 && page.documents == 25 && page.steps < 8_000
        let plan = try store.read { try $0.explain(query) }
        #expect(isCheap, "\(selector.text), \(sort): \(page), \(plan)")
      }
    }
  }

  static let covered: [JSONObject] = [
    ["name": "name 7"], ["name": ["$gte": "name 2", "$lt": "name 3"]],
    ["name": "name 7", "age": ["$lt": 50]],
    ["$or": [["name": "name 7", "age": ["$gte": 50]], ["pet.species": "species 3"], ["_id": "p9"]]],
    ["tags": "tag 4"], ["tags": ["$in": ["tag 4", "tag 5"]]], ["age": ["$exists": true]], [:],
  ]

  @Test func `ids and counts by indexes read no body`() throws {
    try Self.withPeople(2_000, [["name", "age"], ["pet.species"], ["tags"]]) { store in
      for selector in Self.covered {
        for output in [QueryOutput.ids, .count, .exists] where selector.count > 0 || output == .count {
          let visits = try store.visits(Query(selector), output)
          #expect(visits.documents == 0, "\(output) of \(selector.text)")
        }
      }
    }
  }

  /// The shapes of query that the benchmark has, and some beside them.
  static let shapes: [(name: String, request: String)] = [
    ("equality and range", #"{"selector": {"name": "name 7", "age": {"$gte": 50}}, "limit": 25}"#),
    ("equality", #"{"selector": {"name": "name 7"}}"#),
    ("frequent value", #"{"selector": {"pet.species": "species 0"}}"#),
    ("rare value", #"{"selector": {"pet.species": "species 19"}}"#),
    ("no such value", #"{"selector": {"pet.species": "wolf"}}"#),
    (
      "oldest of a species",
      #"{"selector": {"pet.species": "species 3"}, "sort": [{"age": "desc"}], "limit": 50}"#
    ),
    ("sorted page", #"{"selector": {}, "sort": ["age"], "limit": 50}"#),
    ("range", #"{"selector": {"age": {"$gte": 20, "$lt": 30}}}"#),
    ("wide range", #"{"selector": {"age": {"$gte": 20}}}"#),
    ("range with a limit", #"{"selector": {"age": {"$gte": 20}}, "limit": 100}"#),
    ("element", #"{"selector": {"tags": "tag 7"}, "limit": 100}"#),
    ("two elements", #"{"selector": {"tags": {"$all": ["tag 7", "tag 8"]}}}"#),
    ("several fields", #"{"selector": {"age": {"$lt": 10}, "pet.species": "species 2", "tags": "tag 9"}}"#),
    (
      "alternatives",
      #"{"selector": {"$or": [{"name": "name 7", "age": {"$gte": 50}}, {"pet.species": "species 9"}]}}"#
    ),
    (
      "alternatives and more",
      #"{"selector": {"$or": [{"name": "name 7"}, {"name": "name 8"}], "age": {"$lt": 50}}}"#
    ),
    ("list", #"{"selector": {"name": {"$in": ["name 1", "name 2", "name 3"]}}}"#),
    ("complement", #"{"selector": {"pet.species": {"$ne": "species 0"}}}"#),
    ("unindexed", #"{"selector": {"score": {"$gt": 900}}, "limit": 50}"#),
    (
      "unindexed and indexed",
      #"{"selector": {"score": {"$gt": 900}, "pet.species": "species 1"}, "limit": 50}"#
    ),
    ("everything", #"{"selector": {}}"#),
  ]

  static let indexSets: [[[SortField]]] = [
    [["name", "age"], ["pet.species"], ["tags"]],
    [["name", "age"], ["pet.species"], ["tags"], ["age"]],
    [["age", "name"], ["pet.species", "age"], ["name"]],
    [["age"], ["score"], ["tags", "age"]],
  ]

  @Test(arguments: indexSets.indices)
  func `the plan chosen meets at most twice what the best meets`(set: Int) throws {
    try Self.withPeople(4_000, Self.indexSets[set]) { store in
      let names = try store.listIndexes().map(\.name)
      for (name, request) in Self.shapes {
        for output in [QueryOutput.documents, .ids] {
          var query = try Query(parsing: request)
          let chosen = try store.visits(query, output)
          let plans = try store.read { try QueryEngine($0).everyPlan(query) }.count
          var least = (cost: try store.visits(query, output, plan: plans - 1).cost, by: "no index")
          for index in names {
            query.useIndex = index
            let cost = try store.visits(query, output).cost
            if cost < least.cost { least = (cost, index) }
          }
          query.useIndex = nil
          for plan in 0..<plans {
            let cost = try store.visits(query, output, plan: plan).cost
            if cost < least.cost { least = (cost, "plan \(plan)") }
          }
          let context = try store.read { try $0.explain(query) }
          #expect(
            chosen.cost <= 2 * least.cost + Self.slack,
            "\(name), \(output): \(chosen), \(chosen.cost) where \(least.by) takes \(least.cost)\n\(context)")
        }
      }
    }
  }

  /// What finding the beginning takes, whatever the plan.
  private static let slack = 1_000
}

/// What a query meets on its way to its results.
private struct QueryVisits {
  /// How many rows it gives.
  var rows = 0
  /// How many documents are read.
  var documents = 0
  /// How many instructions SQLite's machine takes: some for each row of a table or an index.
  var steps = 0

  /// Instructions of SQLite's machine, and a document for about as many as it takes to find one.
  var cost: Int { steps + 40 * documents }
}

extension Datastore {
  /// Runs a query to its end and counts what it meets.
  ///
  /// - Parameter plan: Which of all plans is taken; the planner's choice unless given.
  fileprivate func visits(
    _ query: Query, _ output: QueryOutput = .documents, plan: Int? = nil
  ) throws -> QueryVisits {
    let choose: (Planner) throws -> QueryPlan = { planner in
      if let plan { try planner.everyPlan()[plan] } else { try planner.plan() }
    }
    _ = try indexManager()
    return try read { state in
      try QueryEngine(state).choosing(choose).withRun(query, output) { run in
        var visits = QueryVisits()
        if output == .count {
          visits.rows = try run.count()
        } else {
          while try run.next() != nil { visits.rows += 1 }
        }
        visits.documents = run.documentsRead
        visits.steps = run.takeSteps()
        return visits
      }
    }
  }
}
