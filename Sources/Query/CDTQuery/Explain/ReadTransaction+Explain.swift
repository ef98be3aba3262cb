public import CDTDatastore
import CDTPlan

extension ReadTransaction {
  /// Explains how a query would be answered, without running it.
  ///
  /// ```swift
  /// try store.read { transaction in
  ///   print(try transaction.explain(Query(["age": ["$gte": 18]], sort: ["name"])))
  /// }
  /// ```
  public func explain(_ query: Query) throws -> Explanation {
    try QueryEngine(self).explain(query)
  }

  /// Explains how a query for groups would be answered, without running it.
  public func explain(_ query: GroupQuery) throws -> Explanation {
    try QueryEngine(self).explain(query)
  }
}

extension QueryEngine {
  func explain(_ query: Query) throws -> Explanation {
    try answering { engine in
      let cursor = try engine.cursor(query)
      defer { cursor.end() }
      return try cursor.explanation()
    }
  }

  /// - Parameter measuring: Whether to run the query, and the sources of its plan to their ends.
  package func explain(_ query: GroupQuery, measuring: Bool = false) throws -> Explanation {
    let groups = try ResolvedGroups(query)
    return try answering { engine in
      let plan = try engine.plan(groups)
      let stop = QueryStop(timeLimit: query.query.timeLimit, signal: transaction.stop)
      return try engine.explanation(
        of: query.query, groups.documents, plan.plan, groups: plan, stop, measuring: measuring
      ) {
        let (rows, examined) = try engine.run(plan)
        return (rows.count, examined)
      }
    }
  }
}

extension Cursor {
  /// Explains how the query is answered.
  ///
  /// - Parameter measuring: Whether to run the query, and the sources of its plan to their ends. The cursor then has no more results.
  package func explanation(measuring: Bool = false) throws -> Explanation {
    try engine.explanation(of: request, query, plan, stop, measuring: measuring) {
      var results = 0
      while try nextDocument() != nil { results += 1 }
      return (results, examined)
    }
  }
}
