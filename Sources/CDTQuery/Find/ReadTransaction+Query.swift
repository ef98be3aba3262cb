public import CDTDatastore
public import CDTJSON

extension ReadTransaction {
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
    try QueryEngine(self).find(query)
  }

  /// Calls a closure with the JSON text of each result, `_id` and `_rev` first. The bytes are valid only during the call.
  package func forEachJSON(_ query: Query, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let cursor = try QueryEngine(self).cursor(query)
    defer { cursor.end() }
    try cursor.forEachText(attachmentsJSON: nil) { text in
      try body(text)
      return true
    }
  }

  /// Returns the documents that match a query, decoded.
  ///
  /// - Throws: The errors of `find`; `DecodingError` with the path of a missing or mistyped value.
  public func find<T: Decodable>(_ type: T.Type, _ query: Query) throws -> [T] {
    try find(query).map { try $0.decode(type) }
  }

  /// Finds documents and decodes their bodies.
  public func find<T: Decodable>(
    _ type: T.Type, _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, sort: [SortField] = []
  ) throws -> [T] {
    try find(type, Query(selector, skip: skip, limit: limit, sort: sort))
  }

  /// The first document in an order, or `nil` when none matches.
  public func firstDocument(
    matching selector: JSONObject, sort: [SortField] = []
  ) throws -> DocumentRevision? {
    try find(Query(selector, limit: 1, sort: sort)).first
  }

  /// The ids of the documents that match a query, in its order. If an index decides and orders, no document is read.
  public func documentIDs(matching query: Query) throws -> [String] {
    try QueryEngine(self).ids(query)
  }

  /// The number of documents that match a selector. If an index decides, no document is read.
  ///
  /// - Throws: ``QueryError``, `DatastoreError`.
  public func count(_ selector: JSONObject) throws -> Int {
    try count(Query(try QuerySelector(selector)))
  }

  /// The number of documents that match a query's selector, ignoring its page.
  public func count(_ query: Query) throws -> Int {
    try QueryEngine(self).count(query)
  }

  /// Whether a selector matches any document.
  public func containsDocuments(matching selector: JSONObject) throws -> Bool {
    try containsDocuments(matching: Query(try QuerySelector(selector)))
  }

  /// Whether any document matches a query's selector, ignoring its page.
  public func containsDocuments(matching query: Query) throws -> Bool {
    try QueryEngine(self).hasMatch(query)
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
    try QueryEngine(self).explain(query)
  }
}
