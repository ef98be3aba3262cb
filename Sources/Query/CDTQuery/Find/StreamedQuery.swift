import CDTDatastore
import CDTJSON

/// A query over documents that come one after another and are not kept, such as those of a file.
///
/// Every document is checked by the matcher. Without a sort, matches are passed on in the order in which they come, and memory
/// does not grow. With a sort, they are kept until the last document: those up to the end of the page, or all of them.
package struct StreamedQuery: ~Copyable {
  private let query: ResolvedQuery
  private let matcher: Matcher
  private var page: ResultPage
  private var kept: FirstElements<Match>
  private var key = OrderKey()
  private var added = 0

  private struct Match {
    let key: OrderKey
    let position: Int
    let id: [UInt8]
    let body: [UInt8]

    /// Documents with the same values and id keep their order.
    static func precedes(_ left: Match, _ right: Match) -> Bool {
      left.key < right.key || !(right.key < left.key) && left.position < right.position
    }
  }

  /// - Throws: ``QueryError`` for what such documents can't answer: `$text`, and conditions on revisions.
  package init(_ query: Query) throws(QueryError) {
    let resolved = try ResolvedQuery(query)
    guard resolved.selector.clause.textSearch == nil else { throw QueryError(.textInFile) }
    guard !resolved.reads(.revision) else { throw QueryError(.revisionInFile) }
    guard resolved.start == nil, !resolved.isBackward else { throw QueryError(.bookmarkWithoutStore) }
    try query.checkIncludesNothing("import the file into a store, or leave out include")
    self.query = resolved
    matcher = Matcher(resolved.selector.clause)
    page = ResultPage(skip: resolved.skip, limit: resolved.limit)
    kept = FirstElements(page.end, by: Match.precedes)
  }

  /// Whether the selector or the sort uses the ids.
  package var readsIDs: Bool { query.reads(.id) }

  /// Whether the page is complete, so that no further document is needed.
  package var isComplete: Bool { !query.hasOrder && page.isComplete }

  /// Adds the next document.
  ///
  /// - Parameter body: Called with the document if it is the next result.
  /// - Throws: ``QueryError`` if a pattern exceeds its limits, and what `body` throws.
  package mutating func add(_ document: DocumentBytes, _ body: (DocumentBytes) throws -> Void) throws {
    guard !query.hidesDesignDocuments || !DocumentID.isDesign(document.id), try matcher.accepts(document)
    else {
      return
    }
    guard query.hasOrder else { return try pass(document, body) }
    query.sort.write(document, to: &key)
    let text = document.body.slice(0, document.body.count)
    kept.add(Match(key: key, position: added, id: Array(document.id), body: Array(text)))
    added += 1
  }

  /// Ends the documents.
  ///
  /// - Parameter body: Called with the results that a sort has kept.
  package mutating func finish(_ body: (DocumentBytes) throws -> Void) throws {
    for match in kept.sorted() {
      let empty = UnsafeRawBufferPointer(start: nil, count: 0)
      try match.id.withUnsafeBytes { id in
        try match.body.withUnsafeBytes { text in
          try pass(DocumentBytes(id: id, revision: empty, body: text), body)
        }
      }
    }
    kept = FirstElements(page.end, by: Match.precedes)
  }

  private mutating func pass(_ document: DocumentBytes, _ body: (DocumentBytes) throws -> Void) throws {
    if page.take() { try body(document) }
  }
}

extension ResolvedQuery {
  fileprivate func reads(_ field: FieldPath.DocumentField) -> Bool {
    selector.clause.reads(field) || sort.fields.contains { $0.documentField == field }
  }
}
