public import CDTDatastore

/// A page of the results of a query.
public struct DocumentPage: Sendable {
  /// The documents of the page, in the order of the query.
  public let documents: [DocumentRevision]
  /// The position after the last document, for ``Query/bookmark`` of the next page; `nil` if the page is empty.
  public let bookmark: Bookmark?
  /// The documents that the results link, under the names of ``Query/include``.
  public let included: [String: Linked<DocumentRevision>]
}

extension ReadTransaction {
  /// The results of a query, where the next page begins, and the documents that the query includes.
  public func page(_ query: Query) throws -> DocumentPage {
    try QueryEngine.answering(in: self) { engine in
      let cursor = try engine.cursor(query)
      defer { cursor.end() }
      var documents: [DocumentRevision] = []
      try cursor.forEachDocument { document, _, _ in documents.append(document) }
      return DocumentPage(
        documents: documents, bookmark: try cursor.bookmark(), included: try cursor.included())
    }
  }
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
    try readForQuery { try $0.page(query) }
  }

  /// The results of a query, and where the next page begins, on one of the datastore's threads.
  public func page(_ query: Query) async throws -> DocumentPage {
    try await readForQuery { try $0.page(query) }
  }
}
