public import CDTDatastore
public import CDTJSON

// Shorthands for `read { try $0.find(Query(…)) }` and similar calls. The asynchronous forms run on the threads of the pool, end
// within milliseconds of their task's cancellation, and respect `Datastore.withDeadline`.
extension Datastore {
  /// Returns the documents that match a selector.
  ///
  /// ```swift
  /// for adult in try store.find(["age": ["$gte": 18]], limit: 10, sort: ["name"]) {
  ///   print(adult.id, adult.body.text)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - selector: The selector; `[:]` matches every document.
  ///   - skip: The number of matches to skip.
  ///   - limit: The maximum number of results, or `nil` for all.
  ///   - fields: The paths of the fields to return; empty for all fields.
  ///   - sort: The sort order. Ties are sorted by `_id`. For the order without a sort, see ``Query/sort``.
  /// - Returns: The results, all in memory. ``Datastore/results(for:)`` reads them one at a time.
  /// - Throws: ``QueryError`` for an invalid selector or request, before the query runs; `DatastoreError`.
  /// - Complexity: O(log *n* + *results*) if an index decides and orders; otherwise each candidate is read.
  ///
  /// See <doc:QueryingDocuments#find>.
  public func find(
    _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = []
  ) throws -> [DocumentRevision] {
    let query = try Query(selector, skip: skip, limit: limit, fields: fields, sort: sort)
    return try readForQuery { try $0.find(query) }
  }

  /// Returns the documents that match a selector, on one of the datastore's threads.
  public func find(
    _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = []
  ) async throws -> [DocumentRevision] {
    let query = try Query(selector, skip: skip, limit: limit, fields: fields, sort: sort)
    return try await readForQuery { try $0.find(query) }
  }

  /// Returns the documents that match a selector with variables. See `JSONLiteral`.
  ///
  /// ```swift
  /// let mine = try store.find(["$or": [["owner": name], ["due": ["$lt": now]]]])
  /// ```
  @_disfavoredOverload
  public func find(
    _ selector: JSONLiteral, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = []
  ) throws -> [DocumentRevision] {
    try find(JSONObject(selector), skip: skip, limit: limit, fields: fields, sort: sort)
  }

  /// Returns the documents that match a selector with variables, on one of the datastore's threads.
  @_disfavoredOverload
  public func find(
    _ selector: JSONLiteral, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = []
  ) async throws -> [DocumentRevision] {
    try await find(JSONObject(selector), skip: skip, limit: limit, fields: fields, sort: sort)
  }

  /// Returns the documents that match a selector, decoded.
  ///
  /// ```swift
  /// let open = try store.find(Todo.self, ["completed": false], sort: ["created"])
  /// ```
  ///
  /// `undecodable` is called with the error of each document that can't be decoded, which is left out; `limit` counts it.
  /// The default throws the error.
  ///
  /// - Throws: The errors of `find(_:skip:limit:fields:sort:)`; `DatastoreError` with the code `.undecodable`, the
  ///   document's id and the path of a missing or mistyped value.
  public func find<T: Decodable>(
    _ type: T.Type, _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, sort: [SortField] = [],
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> [T] {
    let query = try Query(selector, skip: skip, limit: limit, sort: sort)
    return try readForQuery { try $0.find(type, query, undecodable: undecodable) }
  }

  /// Returns the documents that match a selector, decoded, on one of the datastore's threads.
  nonisolated(nonsending) public func find<T: Decodable & Sendable>(
    _ type: T.Type, _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, sort: [SortField] = [],
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) async throws -> [T] {
    try await find(type, Query(selector, skip: skip, limit: limit, sort: sort), undecodable)
  }

  /// Returns the documents that match a selector, read on one of the datastore's threads and decoded where it is called, as the type
  /// can't be used elsewhere.
  nonisolated(nonsending) public func find<T: Decodable>(
    _ type: T.Type, _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, sort: [SortField] = [],
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) async throws -> [T] {
    try await find(selector, skip: skip, limit: limit, sort: sort).compactMap {
      try $0.model(type, undecodable)
    }
  }

  /// Returns the documents that match a selector with variables, decoded.
  @_disfavoredOverload
  public func find<T: Decodable>(
    _ type: T.Type, _ selector: JSONLiteral, skip: Int = 0, limit: Int? = nil, sort: [SortField] = [],
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> [T] {
    try find(
      type, JSONObject(selector), skip: skip, limit: limit, sort: sort, undecodable: undecodable)
  }

  /// Returns the documents that match a selector with variables, decoded, on one of the datastore's threads.
  @_disfavoredOverload
  nonisolated(nonsending) public func find<T: Decodable & Sendable>(
    _ type: T.Type, _ selector: JSONLiteral, skip: Int = 0, limit: Int? = nil, sort: [SortField] = [],
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) async throws -> [T] {
    try await find(
      type, JSONObject(selector), skip: skip, limit: limit, sort: sort, undecodable: undecodable)
  }

  /// Returns the documents that match a selector with variables, read on one of the datastore's threads and decoded where it is called.
  @_disfavoredOverload
  nonisolated(nonsending) public func find<T: Decodable>(
    _ type: T.Type, _ selector: JSONLiteral, skip: Int = 0, limit: Int? = nil, sort: [SortField] = [],
    undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) async throws -> [T] {
    try await find(
      type, JSONObject(selector), skip: skip, limit: limit, sort: sort, undecodable: undecodable)
  }

  /// The number of documents that match a selector. If an index decides, no document is read.
  ///
  /// - Throws: ``QueryError``, `DatastoreError`.
  public func count(_ selector: JSONObject) throws -> Int {
    let query = Query(try QuerySelector(selector))
    return try readForQuery { try $0.count(query) }
  }

  /// The number of documents that match a selector, counted on one of the datastore's threads.
  public func count(_ selector: JSONObject) async throws -> Int {
    let query = Query(try QuerySelector(selector))
    return try await readForQuery { try $0.count(query) }
  }

  /// The number of documents that match a selector with variables.
  @_disfavoredOverload
  public func count(_ selector: JSONLiteral) throws -> Int { try count(JSONObject(selector)) }

  /// The number of documents that match a selector with variables, counted on one of the datastore's threads.
  @_disfavoredOverload
  public func count(_ selector: JSONLiteral) async throws -> Int { try await count(JSONObject(selector)) }

  /// The results of a query, read one at a time from one state.
  ///
  /// - Throws: ``QueryError`` for an invalid query; `DatastoreError`.
  public func results(for query: Query) throws -> ResultSet {
    try ResultSet(query, in: self)
  }

  /// The results of a query, read as you iterate.
  ///
  /// ```swift
  /// for try await adult in store.stream(try Query(["age": ["$gte": 18]], sort: ["name"])) {
  ///   print(adult.id)
  ///   if adult.id == last { break }  // ends the query
  /// }
  /// ```
  ///
  /// An invalid query throws when you ask for the first document.
  public func stream(_ query: Query) -> DocumentStream {
    DocumentStream(store: self, query: query)
  }

  func readForQuery<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
    // Created before the state is read, so that the state includes the indexes.
    _ = try indexManager()
    return try readSnapshot(body)
  }

  /// Reads one state on one of the datastore's threads for queries.
  package func readForQuery<R: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await runQuery { stop in
      _ = try self.indexManager()
      return try self.readSnapshot(stop: stop, body)
    }
  }

  /// Reads one state as a user on one of the datastore's threads for queries.
  package func readForQuery<R: Sendable>(
    as rules: any DocumentRules, _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await runQuery { stop in
      _ = try self.indexManager()
      return try self.readSnapshot(as: rules, stop: stop, body)
    }
  }
}
