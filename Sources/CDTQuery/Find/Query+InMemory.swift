public import CDTDatastore
import JSON

extension Query {
  /// The results of the query among documents that are at hand, without a datastore.
  ///
  /// ```swift
  /// let adults = try Query(["age": ["$gte": 18]], sort: ["name"]).find(in: documents)
  /// ```
  ///
  /// It is what a datastore answers that holds these documents and no others: the matcher is asked about each of them.
  /// Without a sort the results keep the order of the documents. ``useIndex`` and ``timeLimit`` have no meaning here.
  ///
  /// - Parameter textIndex: What `$text` goes by: the fields searched, and how words are cut.
  /// - Throws: ``QueryError`` when a pattern exceeds its limits; `.textSearch` for `$text` without a text index, and for an
  ///   order by scores, which only an index has.
  /// - Complexity: O(*bytes of the documents*), and O(*matches* log *matches*) with a sort.
  public func find(
    in documents: [DocumentRevision], textIndex: IndexDefinition? = nil
  ) throws(QueryError) -> [DocumentRevision] {
    guard !sort.isByScore else { throw .scoreInMemory }
    let matcher = Matcher(selector.clause, text: try TextProgram.of(selector.clause, textIndex))
    var matches: [(key: OrderKey, document: DocumentRevision)] = []
    for document in documents {
      let (id, revision) = (document.id ?? "", document.revision?.description ?? "")
      var key = OrderKey()
      let isMatch = try DocumentBytes.with(document.body, id: id, revision: revision) {
        bytes throws(QueryError) in
        guard try matcher.accepts(bytes) else { return false }
        if !sort.isEmpty { sort.write(bytes, to: &key) }
        return true
      }
      if isMatch { matches.append((key, document)) }
    }
    if !sort.isEmpty { matches.sort { $0.key < $1.key } }
    return matches.dropFirst(skip).prefix(limit > 0 ? limit : .max).map { projected($0.document) }
  }

  private func projected(_ document: DocumentRevision) -> DocumentRevision {
    projection.isEverything ? document : document.projected(to: projection.apply(to: document.body))
  }
}
