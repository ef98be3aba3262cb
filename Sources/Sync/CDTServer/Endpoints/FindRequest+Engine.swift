import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB

/// The use of the engine for a request.
extension FindRequest {
  /// The results, and a warning if the query names an index that does not serve it. Another is then used.
  ///
  /// - Throws: `CouchError` if that is not allowed, or if no index serves and only an index may.
  func cursor(by engine: QueryEngine) throws -> (cursor: Cursor, warning: String?) {
    var query = query
    for definition in engine.indexes.catalog.entries.map(\.definition)
    where index?.names(definition) == true {
      query.useIndex = definition.name
      do {
        let cursor = try engine.cursor(query)
        if cursor.isServed { return (cursor, nil) }
      } catch let error as QueryError where error.path == "use_index" {
        // It is a text index, or has been deleted.
      }
    }
    query.useIndex = nil
    if let index, !allowsFallback { throw CouchError(400, "invalid_index", index.warning) }
    let cursor = try engine.cursor(query)
    guard allowsFallback || cursor.isServed else {
      throw CouchError(
        400, "no_usable_index",
        "No index serves this query, and `allow_fallback` is false. Create one with POST _index.")
    }
    return (cursor, index?.warning)
  }

  /// The query for groups; `nil` if the request is one for documents.
  ///
  /// - Throws: `CouchError` if the selector names members that the server adds, which the engine does not see.
  func groupQuery(_ engine: QueryEngine) throws -> GroupQuery? {
    guard let group else { return nil }
    guard filter == nil else {
      throw CouchError.notTogether(
        "A group of documents that `_attachments` or `_conflicts` select", instead: "other members")
    }
    var query = query
    // A partial index is used if the selector implies its filter, also without being named.
    query.useIndex =
      engine.indexes.catalog.entries.map(\.definition).first {
        index?.names($0) == true && $0.filter == nil
          && ($0.type.isOrdered || $0.type == .text && query.selector.clause.textSearch != nil)
      }?.name
    do throws(QueryError) {
      return try GroupQuery(query, group: group)
    } catch {
      throw CouchError(400, "invalid_group_json", "\(error)")
    }
  }

  /// The query of a live feed.
  ///
  /// - Throws: `CouchError` if the results depend on members that the server adds.
  func liveQuery() throws(CouchError) -> Query {
    guard group == nil else {
      throw .notTogether("A feed of groups", instead: "`_find` without `feed`")
    }
    guard !needsWhole, !options.needsTree else {
      throw .notTogether(
        "A feed whose results depend on `_attachments` or `_conflicts`", instead: "`_find` without `feed`")
    }
    return query
  }

  /// The plan of the engine for the request, with what a run of it has met if the request asks for statistics.
  func explanation(by engine: QueryEngine) throws -> Explanation {
    if let groups = try groupQuery(engine) { return try engine.explain(groups, measuring: wantsStatistics) }
    let cursor = try cursor(by: engine).cursor
    defer { cursor.end() }
    return try cursor.explanation(measuring: wantsStatistics)
  }

  /// The reasons why the request may find nothing, as `cdtquery find` says them.
  func hints(by engine: QueryEngine) throws -> [String] {
    var hints = QueryHints()
    return hints.messages(about: query, foundNothing: true) { query, body in
      let cursor = try engine.cursor(query)
      defer { cursor.end() }
      try cursor.forEachText(attachmentsJSON: { DocumentText.stubs($1) }) { text in
        try body(text)
        return true
      }
    }
  }
}
