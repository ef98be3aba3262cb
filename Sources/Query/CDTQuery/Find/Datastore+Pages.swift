public import CDTDatastore

/// A page of the results of a query.
public struct DocumentPage: Sendable {
  /// The documents of the page, in the order of the query.
  public let documents: [DocumentRevision]
  /// The position after the last document, for ``Query/bookmark`` of the next page; `nil` if the page is empty.
  public let bookmark: Bookmark?
}

extension Datastore {
  /// The results of a query, and where the next page begins.
  ///
  /// ```swift
  /// var query = try Query(["species": "cat"], limit: 10, sort: ["name"])
  /// let first = try store.page(query)
  /// query.bookmark = first.bookmark
  /// let second = try store.page(query)
  /// ```
  ///
  /// For the page before, see ``ResultSet/firstBookmark()``.
  ///
  /// - Throws: The errors of `find`.
  /// - Complexity: That of `find`.
  ///
  /// Source: `docs/query.md`, Pages.
  public func page(_ query: Query) throws -> DocumentPage {
    try page(query, StopSignal())
  }

  /// The results of a query, and where the next page begins, on one of the datastore's threads.
  public func page(_ query: Query) async throws -> DocumentPage {
    try await runQuery { try self.page(query, $0) }
  }

  private func page(_ query: Query, _ signal: StopSignal) throws -> DocumentPage {
    let results = try ResultSet(query, in: self, signal: signal)
    let documents = try results.documents()
    return DocumentPage(documents: documents, bookmark: try results.bookmark())
  }
}
