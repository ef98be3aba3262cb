public import CDTDatastore

extension ReadTransaction {
  /// Returns the documents that match a query.
  ///
  /// ```swift
  /// let page = try store.read { try $0.find(Query(["age": ["$gte": 18]], limit: 10, sort: ["name"])) }
  /// ```
  ///
  /// - Returns: The results, all in memory. ``Datastore/results(for:)`` reads them one at a time.
  /// - Throws: ``QueryError`` for an invalid query, before it runs; `DatastoreError`.
  /// - Complexity: O(log *n* + *results*) if an index decides and orders; otherwise each candidate is read.
  ///
  /// See <doc:QueryingDocuments#find>.
  public func find(_ query: Query) throws -> [DocumentRevision] {
    try QueryEngine(self).find(query)
  }

  /// Returns the documents that match a query, decoded.
  ///
  /// `undecodable` is called with the error of each document that can't be decoded, which is left out. The default throws the
  /// error.
  ///
  /// - Throws: The errors of `find`; `DatastoreError` with the code `.undecodable`, the document's id and the path of a
  ///   missing or mistyped value; the errors of `undecodable`.
  public func find<T: Decodable>(
    _ type: T.Type, _ query: Query, undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> [T] {
    try find(query).compactMap { try $0.model(type, undecodable) }
  }

  /// The first document that matches a query, in its order, or `nil` if none matches.
  public func firstDocument(_ query: Query) throws -> DocumentRevision? {
    var query = query
    query.limit = min(1, query.limit ?? 1)
    return try find(query).first
  }

  /// The ids of the documents that match a query, in its order. If an index decides and orders, no document is read.
  public func documentIDs(_ query: Query) throws -> [String] {
    try QueryEngine(self).ids(query)
  }

  /// The number of documents that match a query's selector, ignoring its page. If an index decides, no document is read.
  public func count(_ query: Query) throws -> Int {
    try QueryEngine(self).count(query)
  }

  /// Whether any document matches a query's selector, ignoring its page.
  public func contains(_ query: Query) throws -> Bool {
    try QueryEngine(self).hasMatch(query)
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
}

extension DocumentRevision {
  /// The decoded document; `nil` if it can't be decoded and `undecodable` takes the error.
  func model<T: Decodable>(_ type: T.Type, _ undecodable: (DatastoreError) throws -> Void) throws -> T? {
    do {
      return try decode(type)
    } catch  where error.code == .undecodable {
      try undecodable(error)
      return nil
    }
  }
}
