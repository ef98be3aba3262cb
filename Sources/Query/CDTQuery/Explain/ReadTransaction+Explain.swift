public import CDTDatastore

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
    let resolved = try ResolvedQuery(query)
    return try answering { engine in
      let plan = try engine.plan(resolved, QueryStop(signal: transaction.stop))
      return Explanation(
        query: resolved, plan: plan, indexes: engine.indexes, store: transaction.store.directory)
    }
  }

  func explain(_ query: GroupQuery) throws -> Explanation {
    let groups = try ResolvedGroups(query)
    return try answering { engine in
      let plan = try engine.plan(groups)
      return Explanation(
        query: groups.documents, plan: plan.plan, groups: plan, indexes: engine.indexes,
        store: transaction.store.directory)
    }
  }
}
