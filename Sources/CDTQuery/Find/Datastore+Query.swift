public import CDTDatastore
public import JSON
import SQLite

extension Datastore {
  /// Finds the documents that a selector matches.
  ///
  /// ```swift
  /// let adults = try store.find(["age": ["$gte": 18]], limit: 10, sort: ["name"])
  /// for document in try adults.documents() { print(document.body["name"] ?? nil) }
  /// ```
  ///
  /// - Parameters:
  ///   - selector: Which documents; `[:]` is every one.
  ///   - skip: How many matches are passed over.
  ///   - limit: How many results at most; 0 is no limit.
  ///   - fields: Paths of the fields that the results have; none is every field.
  ///   - sort: Paths, or objects of one path and its direction. Ties go by `_id`. Without a sort the order is
  ///     unspecified and may change from call to call: sort what is read in pages.
  /// - Returns: The results, read as they are asked for, from one snapshot.
  /// - Throws: ``QueryError`` for a selector or request that is refused, before anything runs; ``DatastoreError``.
  /// - Complexity: With an index that decides and orders, O(log *n* + *results*); otherwise each candidate is read.
  ///
  /// Source: `docs/query.md`, find.
  public func find(
    _ selector: JSONObject, skip: Int = 0, limit: Int = 0, fields: [String] = [], sort: [JSONValue] = []
  ) throws -> ResultSet {
    try find(try Query(selector, skip: skip, limit: limit, fields: fields, sort: sort))
  }

  /// Finds the documents that a query asks for.
  public func find(_ query: Query) throws -> ResultSet {
    try QueryEngine(self).find(query)
  }

  /// How many documents a selector matches. Where an index decides, no document is read.
  ///
  /// - Throws: ``QueryError``, ``DatastoreError``.
  public func count(_ selector: JSONObject) throws -> Int {
    try count(Query(try Selector(selector)))
  }

  /// How many documents a query's selector matches; its page does not matter.
  public func count(_ query: Query) throws -> Int {
    try QueryEngine(self).count(query.withoutPage)
  }

  /// Whether a selector matches any document.
  public func exists(_ selector: JSONObject) throws -> Bool {
    try exists(Query(try Selector(selector)))
  }

  /// Whether a query's selector matches any document; its page does not matter.
  public func exists(_ query: Query) throws -> Bool {
    try QueryEngine(self).exists(query.withoutPage)
  }

  /// Explains how a query would be answered, without running it.
  ///
  /// ```swift
  /// print(try store.explain(["age": ["$gte": 18]], sort: ["name"]))
  /// ```
  public func explain(
    _ selector: JSONObject, skip: Int = 0, limit: Int = 0, fields: [String] = [], sort: [JSONValue] = []
  ) throws -> Explanation {
    try explain(try Query(selector, skip: skip, limit: limit, fields: fields, sort: sort))
  }

  /// Explains how a query would be answered, without running it.
  public func explain(_ query: Query) throws -> Explanation {
    try QueryEngine(self).explain(query)
  }
}

/// Answers queries: a snapshot, a plan in it, and a run of the plan.
package struct QueryEngine {
  private let store: Datastore
  private let manager: IndexManager

  package init(_ store: Datastore) throws {
    try store.checkOpen()
    self.store = store
    manager = try store.extensionObject(IndexManager.self)
  }

  func find(_ query: Query) throws -> ResultSet {
    try find(query) { try $0.plan() }
  }

  /// - Parameter choose: Chooses a plan; tests choose each of them in turn.
  package func find(_ query: Query, _ choose: (Planner) throws -> QueryPlan) throws -> ResultSet {
    let cancellation = Cancellation()
    let stop = QueryStop(timeLimit: query.timeLimit, cancellation: cancellation)
    return try mapping(stop) {
      let snapshot = try snapshot(stop)
      let plan = try choose(planner(query, .documents, snapshot))
      return ResultSet(Cursor(store, query, plan: plan, snapshot: snapshot, stop: stop), cancellation)
    }
  }

  func count(_ query: Query) throws -> Int {
    try withRun(query, .count) { try $0.count() }
  }

  func exists(_ query: Query) throws -> Bool {
    try withRun(query, .exists) { try $0.next() != nil }
  }

  func explain(_ query: Query) throws -> Explanation {
    try mapping(QueryStop()) {
      let snapshot = try snapshot(QueryStop())
      let plan = try planner(query, .documents, snapshot).plan()
      return Explanation(query: query, plan: plan, indexes: snapshot.indexes, store: store.directory)
    }
  }

  /// Every plan there is for a query, for tests that compare them.
  package func everyPlan(_ query: Query) throws -> [QueryPlan] {
    let snapshot = try snapshot(QueryStop())
    return try planner(query, .documents, snapshot).everyPlan()
  }

  /// Calls `body` with a run of a query's plan.
  func withRun<R>(
    _ query: Query, _ output: QueryOutput, _ choose: (Planner) throws -> QueryPlan = { try $0.plan() },
    _ body: (QueryRun) throws -> R
  ) throws -> R {
    let stop = QueryStop(timeLimit: query.timeLimit)
    return try mapping(stop) {
      let snapshot = try snapshot(stop)
      let plan = try choose(planner(query, output, snapshot))
      let run = try QueryRun(plan, output: output, in: snapshot, stop)
      defer { run.end() }
      return try body(run)
    }
  }

  private func snapshot(_ stop: QueryStop) throws -> QuerySnapshot {
    let snapshot = try QuerySnapshot(of: store, manager)
    stop.watch(snapshot.connection)
    return snapshot
  }

  private func planner(
    _ query: Query, _ output: QueryOutput, _ snapshot: borrowing QuerySnapshot
  ) throws -> Planner {
    try Planner(query, snapshot.indexes, output: output, store: store.directory)
  }

  private func mapping<R>(_ stop: QueryStop, _ body: () throws -> R) throws -> R {
    try QueryFailure.mapping(of: store, usesIndex: true, stop, body)
  }
}
