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
  /// Without a sort the results keep the order of the documents. ``useIndex`` has no meaning here.
  ///
  /// - Parameter textIndex: What `$text` goes by: the fields searched, and how words are cut.
  /// - Throws: ``QueryError`` when a pattern passes its limits; `.textSearch` for `$text` without a text index, and for an
  ///   order by scores, which only an index has.
  /// - Complexity: O(*bytes of the documents*), and O(*matches* log *matches*) with a sort.
  public func find(
    in documents: [DocumentRevision], textIndex: IndexDefinition? = nil
  ) throws(QueryError) -> [DocumentRevision] {
    guard !sort.isByScore else { throw .scoreInMemory }
    let matcher = Matcher(selector.clause, text: try TextProgram.of(selector.clause, textIndex))
    var matches: [(key: OrderKey, document: DocumentRevision)] = []
    for document in documents {
      let body = document.body
      let (id, revision) = (document.id ?? "", document.revision?.description ?? "")
      guard try selector.matches(body, id: id, revision: revision, matcher: matcher) else { continue }
      matches.append((sort.isEmpty ? OrderKey() : placeKey(of: body, id: id, revision: revision), document))
    }
    if !sort.isEmpty { matches.sort { $0.key < $1.key } }
    return matches.dropFirst(skip).prefix(limit > 0 ? limit : .max).map { projected($0.document) }
  }

  /// The sort's key with the id behind it, so that no two documents tie.
  private func placeKey(of body: JSONObject, id: String, revision: String) -> OrderKey {
    var (id, revision) = (id, revision)
    let text = JSONValue.object(body).utf8Text
    return text.withUnsafeBytes { text in
      id.withUTF8 { id in
        revision.withUTF8 { revision in
          let id = UnsafeRawBufferPointer(id)
          var key = OrderKey()
          sort.write(JSONBytes(text), id: id, revision: UnsafeRawBufferPointer(revision), to: &key)
          key.append(string: id)
          return key
        }
      }
    }
  }

  private func projected(_ document: DocumentRevision) -> DocumentRevision {
    projection.isEverything ? document : document.projected(to: projection.apply(to: document.body))
  }
}
