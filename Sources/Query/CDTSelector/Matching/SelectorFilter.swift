package import CDTDatastore
import CDTJSON

/// Decides by a selector on one revision after the other, with the limits of one query for all their patterns.
package struct SelectorFilter: Sendable {
  package let selector: QuerySelector
  private let matcher: Matcher

  /// - Throws: ``QueryError`` with the code `.textSearch` for a selector with `$text`, which needs a text index.
  package init(_ selector: QuerySelector) throws(QueryError) {
    guard selector.clause.textSearch == nil else { throw QueryError(.textWithoutIndex) }
    self.selector = selector
    matcher = Matcher(selector.clause)
  }

  /// The same filter with its limits unused.
  package var renewed: SelectorFilter {
    get throws(QueryError) { try SelectorFilter(selector) }
  }

  /// Whether a revision matches. As at CouchDB, a deleted one also has the member `_deleted`.
  ///
  /// - Parameter members: Other members that the document has besides its body, such as `_attachments`.
  /// - Throws: ``QueryError`` with the code `.matchLimit` if a pattern exceeds its limits.
  package func matches(
    _ revision: DocumentRevision, with members: JSONObject = [:]
  ) throws(QueryError) -> Bool {
    var body = revision.body
    if revision.isDeleted { body["_deleted"] = true }
    for (name, value) in members { body[name] = value }
    let text = revision.revisionID.description
    return try DocumentBytes.with(body, id: revision.id, revision: text) { document throws(QueryError) in
      try matcher.accepts(document)
    }
  }
}
