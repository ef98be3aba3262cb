/// A query with validated and parsed parts, for the planner and the matcher.
package struct ResolvedQuery: Sendable, Hashable {
  package let selector: Selector
  package let skip: Int
  package let limit: Int?
  package let useIndex: String?
  let timeLimit: Duration?
  package let sort: SortOrder
  package let projection: Projection

  /// - Throws: ``QueryError`` with the path of the invalid part, such as `sort[0]`.
  package init(_ query: Query) throws(QueryError) {
    guard query.skip >= 0 else { throw .notAWholeNumber(.int(Int64(query.skip)), at: "skip") }
    if let limit = query.limit, limit < 0 { throw .notAWholeNumber(.int(Int64(limit)), at: "limit") }
    selector = query.selector
    skip = query.skip
    limit = query.limit
    useIndex = query.useIndex
    timeLimit = query.timeLimit
    sort = try Self.order(query.sort, of: query.selector)
    projection = try Self.projection(query.fields)
  }

  private static func order(_ fields: [SortField], of selector: Selector) throws(QueryError) -> SortOrder {
    guard fields.count <= Query.maximumSortFields else { throw .tooManySortFields(fields.count) }
    var resolved: [SortOrder.Field] = []
    for (number, field) in fields.enumerated() {
      let place = "sort[\(number)]"
      if field.isScore {
        guard fields.count == 1 else { throw .scoreAlone(at: place) }
        guard selector.clause.conjuncts.contains(where: \.isText) else { throw .scoreWithoutText(at: place) }
        return SortOrder(fields: [], isByScore: true)
      }
      resolved.append(
        SortOrder.Field(
          path: try path(field.path, at: place), isDescending: field.direction == .descending))
    }
    return SortOrder(fields: resolved)
  }

  private static func projection(_ paths: [String]) throws(QueryError) -> Projection {
    var parsed: [FieldPath] = []
    for (number, text) in paths.enumerated() {
      parsed.append(try path(text, at: "fields[\(number)]"))
    }
    return parsed.isEmpty ? .everything : Projection(paths: parsed)
  }

  private static func path(_ text: String, at place: String) throws(QueryError) -> FieldPath {
    do {
      return try FieldPath(text, allowsDollar: true)
    } catch {
      throw .invalidPath(text, error, at: place)
    }
  }
}
