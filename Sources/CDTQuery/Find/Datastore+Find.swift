public import CDTDatastore
public import CDTJSON

extension Datastore {
  /// Returns the documents that match a selector.
  ///
  /// ```swift
  /// for adult in try store.find(["age": ["$gte": 18]], limit: 10, sort: ["name"]) {
  ///   print(adult.id, adult.body["name"] ?? nil)
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
  /// Source: `docs/query.md`, find.
  public func find(
    _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = []
  ) throws -> [DocumentRevision] {
    try find(Query(selector, skip: skip, limit: limit, fields: fields, sort: sort))
  }

  /// Returns the documents that match a query.
  public func find(_ query: Query) throws -> [DocumentRevision] {
    try readForQuery { try $0.find(query) }
  }

  /// Returns the documents that match a selector, decoded.
  ///
  /// ```swift
  /// let open = try store.find(Todo.self, ["completed": false], sort: ["created"])
  /// ```
  ///
  /// - Throws: The errors of `find(_:skip:limit:fields:sort:)`; `DecodingError` with the path of a missing or mistyped
  ///   value.
  public func find<T: Decodable>(
    _ type: T.Type, _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, sort: [SortField] = []
  ) throws -> [T] {
    try find(type, Query(selector, skip: skip, limit: limit, sort: sort))
  }

  /// Returns the documents that match a query, decoded.
  public func find<T: Decodable>(_ type: T.Type, _ query: Query) throws -> [T] {
    try readForQuery { try $0.find(type, query) }
  }

  /// The first matching document in sort order, or `nil` if none matches.
  public func firstDocument(
    matching selector: JSONObject, sort: [SortField] = []
  ) throws -> DocumentRevision? {
    try readForQuery { try $0.firstDocument(matching: selector, sort: sort) }
  }

  /// The ids of the documents that match a query, in its order. If an index decides and orders, no document is read.
  public func documentIDs(matching query: Query) throws -> [String] {
    try readForQuery { try $0.documentIDs(matching: query) }
  }

  /// The number of documents that match a selector. If an index decides, no document is read.
  ///
  /// - Throws: ``QueryError``, `DatastoreError`.
  public func count(_ selector: JSONObject) throws -> Int {
    try count(Query(try QuerySelector(selector)))
  }

  /// The number of documents that match a query's selector, ignoring its page.
  public func count(_ query: Query) throws -> Int {
    try readForQuery { try $0.count(query) }
  }

  /// Whether a selector matches any document.
  public func containsDocuments(matching selector: JSONObject) throws -> Bool {
    try containsDocuments(matching: Query(try QuerySelector(selector)))
  }

  /// Whether any document matches a query's selector, ignoring its page.
  public func containsDocuments(matching query: Query) throws -> Bool {
    try readForQuery { try $0.containsDocuments(matching: query) }
  }

  /// Explains how a query would be answered, without running it.
  ///
  /// ```swift
  /// print(try store.explain(["age": ["$gte": 18]], sort: ["name"]))
  /// ```
  public func explain(
    _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = []
  ) throws -> Explanation {
    try explain(Query(selector, skip: skip, limit: limit, fields: fields, sort: sort))
  }

  /// Explains how a query would be answered, without running it.
  public func explain(_ query: Query) throws -> Explanation {
    try readForQuery { try $0.explain(query) }
  }

  /// The results of a query, read one at a time from one state.
  ///
  /// - Throws: ``QueryError`` for an invalid query; `DatastoreError`.
  public func results(for query: Query) throws -> ResultSet {
    try ResultSet(query, in: self)
  }

  private func readForQuery<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
    // Created before the state is read, so that the state includes the indexes.
    _ = try indexManager()
    return try readState(body)
  }
}
