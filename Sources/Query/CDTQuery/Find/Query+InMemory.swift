public import CDTDatastore
import CDTJSON

extension Query {
  /// Returns the results of the query among documents in memory, without a datastore.
  ///
  /// ```swift
  /// let adults = try Query(["age": ["$gte": 18]], sort: ["name"]).find(in: documents)
  /// ```
  ///
  /// The results are those of a datastore with exactly these documents: none is a design document. Every document is checked by the matcher.
  /// Without a sort or a `$near`, the results are in the order of `_id`. ``useIndex`` and ``timeLimit`` are ignored.
  ///
  /// - Parameters:
  ///   - documents: The documents to search.
  ///   - textIndex: The definition that `$text` needs: the fields to search and the tokenizer.
  /// - Throws: ``QueryError`` if a pattern exceeds its limits; `.textSearch` for `$text` without a text index, and for
  ///   a sort by score, which needs an index.
  /// - Complexity: O(*bytes of the documents*), and O(*matches* log *matches*) with a sort.
  public func find(
    in documents: [DocumentRevision], textIndex: IndexDefinition? = nil
  ) throws(QueryError) -> [DocumentRevision] {
    try checkIncludesNothing("query a store, or leave out include")
    let query = try ResolvedQuery(self)
    let sort = query.sort
    guard !sort.isByScore else { throw QueryError(.scoreInMemory) }
    let clause = query.selector.clause
    let text = try TextProgram.of(clause, textIndex)
    let matcher = Matcher(clause, text: text)
    let start = query.start.map { start in
      var key = OrderKey()
      sort.write(start.values, id: start.id, to: &key)
      return key
    }
    var matches: [(key: OrderKey, document: DocumentRevision)] = []
    for document in documents where !query.hidesDesignDocuments || !DocumentID.isDesign(document.id) {
      var key = OrderKey()
      let revision = document.revisionID.description
      let isMatch = try DocumentBytes.with(document.body, id: document.id, revision: revision) {
        bytes throws(QueryError) in
        guard try matcher.accepts(bytes) else { return false }
        sort.write(bytes, to: &key)
        return start.map { $0 < key } ?? true
      }
      if isMatch { matches.append((key, document)) }
    }
    matches.sort { $0.key < $1.key }
    let part = ResultPage(skip: skip, limit: limit).part(of: matches).map(\.document)
    let page = query.isBackward ? part.reversed() : part
    return query.returnsDocuments
      ? page
      : try page.map { document throws(QueryError) in
        let revision = document.revisionID.description
        return try DocumentBytes.with(document.body, id: document.id, revision: revision) { bytes in
          document.projected(to: query.result(document.body, of: bytes, text))
        }
      }
  }
}
