public import CDTJSON

/// A selector with the other parts of a query: order, page, fields, index.
///
/// ```swift
/// var query = try Query(["species": "cat"], sort: ["name", .descending("age")])
/// query.limit = 10
/// let cats = try store.read { try $0.find(query) }
/// ```
///
/// You can read and change all parts. Parts set after the selector are validated when the query is used.
///
/// See <doc:QueryingDocuments#find>.
public struct Query: Sendable, Hashable {
  /// The maximum number of fields of a sort.
  package static let maximumSortFields = 32

  /// The maximum number of includes.
  package static let maximumIncludes = 32

  /// The selector of the documents.
  public var selector: QuerySelector

  /// The number of matches to skip before the first result.
  public var skip = 0

  /// The maximum number of results, or `nil` for all.
  public var limit: Int?

  /// The paths of the fields to return; empty for all fields.
  public var fields: [String] = []

  /// The sort order. Ties are sorted by `_id`. Without a sort the order is that of the index that is used, then of
  /// `_id`; or of `_id` alone if no index or several are used, or the selector has no condition, or one on `_id`. With `$near`
  /// it is that of the distances, and then of `_id`.
  public var sort: [SortField] = []

  /// The position after which the results begin, or before which they end if ``isBackward`` is set; `nil` for the first page, or the
  /// last. ``skip`` counts from there.
  public var bookmark: Bookmark?

  /// Whether the page is read backwards: it ends before ``bookmark``, or without one with the last result. ``skip`` then counts
  /// from the end of the page. The results are in the order of the sort in any case. Pages by score can't be read backwards.
  public var isBackward = false

  /// The collation by which the query compares strings, or `nil` to compare their bytes. It applies to `$eq`, `$ne`, `$lt`, `$lte`,
  /// `$gt`, `$gte`, `$in`, `$nin`, `$all`, `$beginsWith` and the sort, not to `_id` and `_rev`.
  public var collation: Collation?

  /// The index to use, or `nil` to let the planner choose.
  public var useIndex: String?

  /// The parts of the text around what `$text` has found, to be returned with each result; `nil` for none.
  public var snippets: SnippetOptions?

  /// Whether each result has its distance, by the selector's `$near`, as the member `_distance` (`DocumentRevision.distance`).
  public var returnsDistance = false

  /// The documents to return beside the results: for each name the path of their ids, `["owner": "ownerId", "items":
  /// "items[].product"]`. They are read in the transaction of the results. See <doc:QueryingDocuments#Linked-documents>.
  public var include: [String: String] = [:]

  /// The maximum duration of the query, or `nil` for no limit. When it is exceeded, the query throws the code
  /// `.timedOut`. Time between your reads of results counts, too.
  public var timeLimit: Duration?

  /// Whether design documents can be results. Those of a selector never are, as in CouchDB.
  package var includesDesignDocuments = false

  /// Creates a query for all documents that match a selector, without a sort.
  public init(_ selector: QuerySelector) {
    self.selector = selector
  }

  /// Creates a query from the parameters of `find`.
  ///
  /// - Throws: ``QueryError`` with the path of the invalid part.
  public init(
    _ selector: JSONObject, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = [],
    useIndex: String? = nil, collation: Collation? = nil, include: [String: String] = [:]
  ) throws(QueryError) {
    self.init(try QuerySelector(selector))
    self.skip = skip
    self.limit = limit
    self.fields = fields
    self.sort = sort
    self.useIndex = useIndex
    self.collation = collation
    self.include = include
    _ = try ResolvedQuery(self)
  }

  /// Creates a query from a literal with variables.
  ///
  /// ```swift
  /// let query = try Query(["$or": [["owner": name], ["due": ["$lt": now]]]], sort: ["due"])
  /// ```
  @_disfavoredOverload
  public init(
    _ selector: JSONLiteral, skip: Int = 0, limit: Int? = nil, fields: [String] = [], sort: [SortField] = [],
    useIndex: String? = nil, collation: Collation? = nil, include: [String: String] = [:]
  ) throws(QueryError) {
    try self.init(
      JSONObject(selector), skip: skip, limit: limit, fields: fields, sort: sort, useIndex: useIndex,
      collation: collation, include: include)
  }

  /// All documents, also design documents, in the order of their ids, for copies of a whole datastore.
  package static var everything: Query {
    var query = Query(QuerySelector(clause: .always))
    query.sort = ["_id"]
    query.includesDesignDocuments = true
    return query
  }

  /// Whether the query has an order of its own, by a sort or by distances.
  package var isOrdered: Bool { !sort.isEmpty || selector.clause.near != nil }

  /// The members that results have beside the fields of their documents.
  package var addedMembers: [String] {
    (snippets == nil ? [] : [TextSnippet.member]) + (returnsDistance ? [NearCondition.member] : [])
  }

  /// The same selector, collation and index, without sort, page or fields.
  package var withoutPage: Query {
    var query = Query(selector)
    query.includesDesignDocuments = includesDesignDocuments
    query.collation = collation
    query.useIndex = useIndex
    query.timeLimit = timeLimit
    return query
  }
}
