package import CDTJSON

/// A query with validated and parsed parts, for the planner and the matcher.
package struct ResolvedQuery: Sendable, Hashable {
  /// The selector, in which the collation is a part of the conditions.
  package private(set) var selector: QuerySelector
  package let collation: Collation?
  private(set) package var skip: Int
  private(set) package var limit: Int?
  package let useIndex: String?
  package let timeLimit: Duration?
  /// The order of the results, if there is one.
  private(set) package var sort: SortOrder
  /// Whether the query determines the order; otherwise the plan does.
  package private(set) var hasOrder: Bool
  /// The position after which the results begin.
  package private(set) var start: Bookmark?
  /// Whether the results are read from their end, in the order of ``sort``, and returned in the opposite order.
  package let isBackward: Bool
  package let hidesDesignDocuments: Bool
  package let projection: Projection
  package let includes: [Include]
  private let snippets: SnippetOptions?
  /// The selector's `$near`.
  package let near: NearField?
  private let returnsDistance: Bool
  /// Whether the results are whole documents.
  package let returnsDocuments: Bool

  /// - Throws: ``QueryError`` with the path of the invalid part, such as `sort[0]`.
  package init(_ query: Query) throws(QueryError) {
    guard query.skip >= 0 else { throw QueryError(.notAWholeNumber(.int(Int64(query.skip)), "skip")) }
    if let limit = query.limit, limit < 0 { throw QueryError(.notAWholeNumber(.int(Int64(limit)), "limit")) }
    collation = query.collation
    selector =
      query.collation.map { QuerySelector(clause: query.selector.clause.collated(by: $0)) } ?? query.selector
    skip = query.skip
    limit = query.limit
    useIndex = query.useIndex
    timeLimit = query.timeLimit
    near = selector.clause.near
    let sort = try Self.order(of: query, near)
    start = try query.bookmark?.position(in: sort)
    isBackward = query.isBackward
    let order = start?.sort ?? sort
    guard !isBackward || !order.isByScore else { throw QueryError(.backwardByScore) }
    self.sort = isBackward ? order.reversed : order
    hasOrder = !sort.isEmpty || start != nil
    hidesDesignDocuments = !query.includesDesignDocuments
    projection = try Self.projection(query.fields)
    includes = try Include.all(query.include)
    snippets = query.snippets
    returnsDistance = query.returnsDistance
    if returnsDistance, near == nil { throw .distanceWithoutNear }
    returnsDocuments = projection.isEverything && snippets == nil && !returnsDistance
    try snippets?.check()
    if snippets != nil, selector.clause.textSearch == nil { throw QueryError(.snippetsWithoutText) }
  }

  /// The same query with an order that its plan has chosen.
  package func ordered(by order: SortOrder) -> ResolvedQuery {
    var query = self
    (query.sort, query.hasOrder) = (isBackward ? order.reversed : order, true)
    return query
  }

  /// Leaves the documents that also match a clause, which the collation does not concern.
  ///
  /// - Throws: ``QueryError`` for an order by score, which depends on the words of all documents.
  package mutating func restrict(to clause: Clause) throws(QueryError) {
    if sort.isByScore { throw QueryError(.scoreOfAllDocuments) }
    selector = QuerySelector(clause: .all([clause, selector.clause]))
  }

  /// The rest of the query after some results, of which a position is the last.
  package func after(_ last: Bookmark, results: Int) -> ResolvedQuery {
    var query = self
    (query.start, query.sort, query.hasOrder) = (last, last.sort, true)
    (query.skip, query.limit) = (0, limit.map { max(0, $0 - results) })
    return query
  }

  /// The body of a result: the wanted fields of a document, its snippets, and its distance.
  package func result(_ body: JSONObject, of document: DocumentBytes, _ text: TextProgram?) -> JSONObject {
    var result = projection.isEverything ? body : projection.apply(to: body)
    if let snippets, let text {
      result[TextSnippet.member] = .array(text.snippets(of: document, snippets).map(\.json))
    }
    if returnsDistance, let distance = near?.distance(of: document) {
      result[NearCondition.member] = .double(distance)
    }
    return result
  }

  private static func order(of query: Query, _ near: NearField?) throws(QueryError) -> SortOrder {
    let fields = query.sort
    guard fields.count <= Query.maximumSortFields else {
      throw QueryError(.tooManySortFields(fields.count, most: Query.maximumSortFields))
    }
    if let number = fields.firstIndex(where: \.isScore) {
      let place = "sort[\(number)]"
      guard fields.count == 1 else { throw QueryError(.scoreAlone, at: place) }
      guard query.selector.clause.conjuncts.contains(where: \.isText) else {
        throw QueryError(.scoreWithoutText, at: place)
      }
      return SortOrder(fields: [], isByScore: true)
    }
    if fields.isEmpty, let near {
      return SortOrder(
        fields: [SortOrder.Field(path: near.path, isDescending: false, distance: near.condition.distance)])
    }
    return SortOrder(fields: try SortOrder.fields(fields), collation: query.collation)
  }

  private static func projection(_ paths: [String]) throws(QueryError) -> Projection {
    var parsed: [FieldPath] = []
    for (number, text) in paths.enumerated() {
      parsed.append(try path(text, at: "fields[\(number)]"))
    }
    return parsed.isEmpty ? .everything : Projection(paths: parsed)
  }

  static func path(_ text: String, at place: String) throws(QueryError) -> FieldPath {
    do {
      return try FieldPath(text, allowsDollar: true)
    } catch {
      throw QueryError(.invalidPath(text, error), at: place)
    }
  }
}

extension SortOrder {
  /// Parses the fields of a sort.
  static func fields(_ fields: [SortField]) throws(QueryError) -> [Field] {
    var resolved: [Field] = []
    for (number, field) in fields.enumerated() {
      if let failure = field.failure { throw failure }
      resolved.append(
        Field(
          path: try ResolvedQuery.path(field.path, at: "sort[\(number)]"),
          isDescending: field.direction == .descending))
    }
    return resolved
  }
}
