package import CDTDatastore
package import CDTPlan
import CDTSQLite

/// Answers queries in a transaction: reads its indexes, plans, and runs the plan.
package struct QueryEngine {
  let transaction: ReadTransaction
  package private(set) var indexes: IndexView
  /// Chooses a plan; tests try each of them.
  var choose: (Planner) throws -> QueryPlan = { try $0.plan() }

  private var store: Datastore { transaction.store }

  init(_ transaction: ReadTransaction) throws {
    self.transaction = transaction
    indexes = try QueryFailure.publishing {
      try Self.mapping(transaction, usesIndex: true, QueryStop(signal: transaction.stop)) {
        var view = try transaction.indexView(transaction.store.indexManager())
        view.hidden = try transaction.hiddenDocuments()
        return view
      }
    }
  }

  /// Runs `body` with an engine, and once more with one without indexes if the index file turns out to be damaged. The file is
  /// then replaced.
  package static func answering<R>(
    in transaction: ReadTransaction, _ body: (QueryEngine) throws -> R
  ) throws -> R {
    try QueryEngine(transaction).answering(body)
  }

  func answering<R>(_ body: (QueryEngine) throws -> R) throws -> R {
    try transaction.withoutDamagedIndex { isAgain in try body(isAgain ? withoutIndexes() : self) }
  }

  func withoutIndexes() throws -> QueryEngine {
    try transaction.abandonIndexes(transaction.store.indexManager())
    var engine = try QueryEngine(transaction)
    engine.choose = choose
    return engine
  }

  func find(_ query: Query) throws -> [DocumentRevision] {
    try query.checkIncludesNothing("call page(_:), or leave out include")
    return try answering { engine in
      let cursor = try engine.cursor(query)
      defer { cursor.end() }
      return try cursor.documents()
    }
  }

  func ids(_ query: Query) throws -> [String] {
    try answering { engine in
      let cursor = try engine.cursor(query)
      defer { cursor.end() }
      var ids: [String] = []
      try cursor.forEachID {
        ids.append($0)
        return true
      }
      return ids
    }
  }

  /// The results, read one at a time. The cursor must end before the transaction.
  package func cursor(_ query: Query) throws -> Cursor {
    let resolved = try ResolvedQuery(query)
    let stop = QueryStop(timeLimit: query.timeLimit, signal: transaction.stop)
    return Cursor(self, query, resolved, plan: try plan(resolved, stop), stop: stop)
  }

  func plan(_ query: ResolvedQuery, _ stop: QueryStop) throws -> QueryPlan {
    try mapping(stop) {
      let plan = try choose(planner(query, .documents))
      guard query.isBackward, !query.hasOrder else { return plan }
      // The order that is read backwards is the one that the plan has forwards.
      return try choose(planner(query.ordered(by: plan.sort), .documents))
    }
  }

  func count(_ query: Query) throws -> Int {
    try answering { try $0.withRun(query.withoutPage, .count) { try $0.count() } }
  }

  func hasMatch(_ query: Query) throws -> Bool {
    try answering { try $0.withRun(query.withoutPage, .exists) { try $0.next() != nil } }
  }

  /// Every possible plan for a query, for tests that compare them.
  package func everyPlan(_ query: Query) throws -> [QueryPlan] {
    try planner(ResolvedQuery(query), .documents).everyPlan()
  }

  /// Calls `body` with a run of a query's plan.
  func withRun<R>(_ query: Query, _ output: QueryOutput, _ body: (QueryRun) throws -> R) throws -> R {
    let resolved = try ResolvedQuery(query)
    return try running(timeLimit: query.timeLimit) { stop in
      let run = try QueryRun(choose(planner(resolved, output)), output: output, in: transaction, stop)
      defer { run.end() }
      return try body(run)
    }
  }

  /// Calls `body` with what ends it after a time, or when the transaction is to end.
  func running<R>(timeLimit: Duration?, _ body: (QueryStop) throws -> R) throws -> R {
    let stop = QueryStop(timeLimit: timeLimit, signal: transaction.stop)
    let check = stop.watch(transaction)
    defer { check.map(transaction.removeProgressCheck) }
    return try mapping(stop) { try body(stop) }
  }

  func planner(_ query: ResolvedQuery, _ output: QueryOutput) throws -> Planner {
    guard let visible = try transaction.visibleClause else {
      return try Planner(query, indexes, output: output)
    }
    var query = query
    try query.restrict(to: visible)
    return try Planner(query, indexes, output: output, basis: .structure(seen: visible.conjuncts.count))
  }

  /// The same engine over indexes of which only the definitions are known.
  var withAssumedIndexes: QueryEngine {
    var engine = self
    engine.indexes = indexes.assumed
    return engine
  }

  func mapping<R>(_ stop: QueryStop, _ body: () throws -> R) throws -> R {
    try Self.mapping(transaction, usesIndex: indexes.isReadable, stop, body)
  }

  private static func mapping<R>(
    _ transaction: ReadTransaction, usesIndex: Bool, _ stop: QueryStop, _ body: () throws -> R
  ) throws -> R {
    // A failure inside a write is recorded, so that the write is not committed.
    try transaction.use { _ in
      try QueryFailure.mapping(of: transaction.store, usesIndex: usesIndex, stop, body)
    }
  }
}
