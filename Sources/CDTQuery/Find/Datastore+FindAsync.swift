public import CDTDatastore
public import CDTJSON

// The asynchronous forms run on the datastore's threads, end within milliseconds of their task's cancellation, and
// respect `Datastore.withDeadline`.
extension Datastore {
  /// Returns the documents that match a selector, on one of the datastore's threads.
  public func find(
    _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = []
  ) async throws -> [DocumentRevision] {
    try await find(Query(selector, skip: skip, limit: limit, fields: fields, sort: sort))
  }

  /// Returns the documents that match a query.
  public func find(_ query: Query) async throws -> [DocumentRevision] {
    try await readForQuery { try $0.find(query) }
  }

  /// Returns the documents that match a selector, decoded.
  ///
  /// ```swift
  /// let open = try await store.find(Todo.self, ["completed": false], sort: ["created"])
  /// ```
  ///
  /// - Throws: The errors of `find(_:skip:limit:fields:sort:)`; `DecodingError` with the path of a missing or mistyped
  ///   value.
  public func find<T: Decodable & Sendable>(
    _ type: T.Type, _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, sort: [SortField] = []
  ) async throws -> [T] {
    try await find(type, Query(selector, skip: skip, limit: limit, sort: sort))
  }

  /// Returns the documents that match a query, decoded.
  public func find<T: Decodable & Sendable>(_ type: T.Type, _ query: Query) async throws -> [T] {
    try await readForQuery { try $0.find(type, query) }
  }

  /// The first matching document in sort order, or `nil` if none matches.
  public func firstDocument(
    matching selector: JSONObject, sort: [SortField] = []
  ) async throws -> DocumentRevision? {
    try await readForQuery { try $0.firstDocument(matching: selector, sort: sort) }
  }

  /// The ids of the documents that match a query, in its order. If an index decides and orders, no document is read.
  public func documentIDs(matching query: Query) async throws -> [String] {
    try await readForQuery { try $0.documentIDs(matching: query) }
  }

  /// The number of documents that match a selector. If an index decides, no document is read.
  ///
  /// - Throws: ``QueryError``, `DatastoreError`.
  public func count(_ selector: JSONObject) async throws -> Int {
    try await count(Query(try QuerySelector(selector)))
  }

  /// The number of documents that match a query's selector, ignoring its page.
  public func count(_ query: Query) async throws -> Int {
    try await readForQuery { try $0.count(query) }
  }

  /// Whether a selector matches any document.
  public func containsDocuments(matching selector: JSONObject) async throws -> Bool {
    try await containsDocuments(matching: Query(try QuerySelector(selector)))
  }

  /// Whether any document matches a query's selector, ignoring its page.
  public func containsDocuments(matching query: Query) async throws -> Bool {
    try await readForQuery { try $0.containsDocuments(matching: query) }
  }

  /// Explains how a query would be answered, without running it.
  ///
  /// ```swift
  /// print(try await store.explain(["age": ["$gte": 18]], sort: ["name"]))
  /// ```
  public func explain(
    _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = []
  ) async throws -> Explanation {
    try await explain(Query(selector, skip: skip, limit: limit, fields: fields, sort: sort))
  }

  /// Explains how a query would be answered, without running it.
  public func explain(_ query: Query) async throws -> Explanation {
    try await readForQuery { try $0.explain(query) }
  }

  /// Reads one state on one of the datastore's threads for queries.
  package func readForQuery<R: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await runQuery { stop in
      _ = try self.indexManager()
      return try self.readState(stop: stop, body)
    }
  }

  /// Runs `body` on one of the datastore's threads, after creating the index manager.
  func withIndexManager<R: Sendable>(_ body: @escaping @Sendable (StopSignal) throws -> R) async throws -> R {
    try await runReading { stop in
      _ = try self.indexManager()
      return try body(stop)
    }
  }
}
