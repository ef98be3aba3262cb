public import CDTDatastore

extension Datastore {
  /// Explains how a query would be answered, without running it.
  ///
  /// ```swift
  /// print(try store.explain(try Query(["age": ["$gte": 18]], sort: ["name"])))
  /// ```
  ///
  /// - Throws: ``QueryError`` for an invalid query; `DatastoreError` if the datastore can't be read.
  /// - Complexity: O(*indexes*).
  public func explain(_ query: Query) throws -> Explanation {
    try readForQuery { try $0.explain(query) }
  }

  /// Explains how a query for groups would be answered, without running it.
  ///
  /// - Throws: ``QueryError`` for an invalid query; `DatastoreError` if the datastore can't be read.
  /// - Complexity: O(*indexes*).
  public func explain(_ query: GroupQuery) throws -> Explanation {
    try readForQuery { try $0.explain(query) }
  }
}
