public import JSON

/// A selector with everything else that a query can ask for: order, page, fields, index.
///
/// ```swift
/// var query = Query(try Selector(["species": "cat"]))
/// query.limit = 10
/// try query.setSort(["name", ["age": "desc"]])
/// ```
///
/// Source: `docs/query.md`, find.
public struct Query: Sendable, Hashable {
  /// Which documents.
  public var selector: Selector

  /// How many matches are passed over before the first result; never negative.
  public private(set) var skip = 0

  /// How many results at most; 0 is no limit.
  public private(set) var limit = 0

  /// The index to use, or `nil` for the planner's choice.
  public var useIndex: String?

  /// How long the query may take, or `nil` for as long as it needs. Beyond that it fails with the code `.timedOut`. Time
  /// in which you do not ask for results counts, too.
  public var timeLimit: Duration?

  package private(set) var sort = SortOrder(fields: [])
  package private(set) var projection = Projection.everything

  /// A query for all documents that a selector matches, in no particular order.
  public init(_ selector: Selector) {
    self.selector = selector
  }

  /// A query from its parts, as `find` takes them.
  ///
  /// - Throws: ``QueryError`` with the path of the part that is refused.
  public init(
    _ selector: JSONObject, skip: Int = 0, limit: Int = 0, fields: [String] = [], sort: [JSONValue] = [],
    useIndex: String? = nil
  ) throws(QueryError) {
    self.init(try Selector(selector))
    try setPage(skip: skip, limit: limit)
    try setFields(fields)
    try setSort(sort)
    self.useIndex = useIndex
  }

  /// The same selector and index, without an order, a page or a projection.
  var withoutPage: Query {
    var query = Query(selector)
    query.useIndex = useIndex
    query.timeLimit = timeLimit
    return query
  }

  private static let requestKeys = ["selector", "sort", "fields", "skip", "limit", "use_index"]

  /// A query from one JSON object, as Mango's requests are:
  /// `{"selector", "sort", "fields", "skip", "limit", "use_index"}`.
  ///
  /// - Throws: ``QueryError``; an unknown key is refused, and a key that is null is as if absent.
  public init(request: JSONObject) throws(QueryError) {
    for (key, _) in request where !Self.requestKeys.contains(key) { throw .unknownRequestKey(key) }
    guard let selector = request["selector"] else { throw .requestWithoutSelector }
    guard case .object(let object) = selector else { throw .notAnObject(selector, at: "selector") }
    self.init(try Selector(object))
    skip = try Self.wholeNumber("skip", in: request)
    limit = try Self.wholeNumber("limit", in: request)
    switch request["sort"] {
    case nil, .null?: break
    case .array(let clauses)?: try setSort(clauses)
    case .some(let found):
      throw .notAnArray(found, wanted: "an array of fields, [\"name\", {\"age\": \"desc\"}]", at: "sort")
    }
    switch request["fields"] {
    case nil, .null?: break
    case .array(let paths)?: try setFields(try Self.paths(paths))
    case .some(let found): throw .notAnArray(found, wanted: "an array of paths", at: "fields")
    }
    switch request["use_index"] {
    case nil, .null?: break
    case .string(let name)?: useIndex = name
    case .some(let found): throw .invalidUseIndex(found)
    }
  }

  /// A query from the text of a selector or of a whole request.
  ///
  /// An object that has at least one key, all of which are keys of requests, is a request; every other object is a
  /// selector. So a field named `selector` is asked for as `{"selector": {"selector": …}}`.
  ///
  /// - Throws: ``QueryError``, also for text that is not JSON or not an object.
  public init(parsing text: String) throws(QueryError) {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: text)
    } catch {
      throw .invalidJSON(error, what: "query")
    }
    guard case .object(let object) = value else { throw .notARequest(value) }
    if Self.isRequest(object) {
      try self.init(request: object)
    } else {
      self.init(try Selector(object))
    }
  }

  private static func isRequest(_ object: JSONObject) -> Bool {
    !object.isEmpty && object.allSatisfy { requestKeys.contains($0.key) }
  }

  /// Sets which of the matches are the results.
  ///
  /// - Throws: ``QueryError`` for a negative number.
  public mutating func setPage(skip: Int = 0, limit: Int = 0) throws(QueryError) {
    guard skip >= 0 else { throw .notAWholeNumber(.int(Int64(skip)), at: "skip") }
    guard limit >= 0 else { throw .notAWholeNumber(.int(Int64(limit)), at: "limit") }
    self.skip = skip
    self.limit = limit
  }

  /// Sets the order: paths, ascending, or objects of one path and its direction.
  ///
  /// - Throws: ``QueryError`` with the path of the clause, such as `sort[0]`.
  public mutating func setSort(_ clauses: [JSONValue]) throws(QueryError) {
    var fields: [SortOrder.Field] = []
    for (number, clause) in clauses.enumerated() {
      let place = "sort[\(number)]"
      if case .object(let object) = clause, let direction = object["$text"] {
        guard direction == "score", object.count == 1 else { throw .scoreDirection(direction, at: place) }
        guard clauses.count == 1 else { throw .scoreAlone(at: place) }
        guard selector.clause.conjuncts.contains(where: \.isText) else { throw .scoreWithoutText(at: place) }
        sort = SortOrder(fields: [], isByScore: true)
        return
      }
      let (path, isDescending) = try DirectedField.read(clause, at: place)
      fields.append(
        SortOrder.Field(path: try Self.path(path, at: place), isDescending: isDescending))
    }
    sort = SortOrder(fields: fields)
  }

  /// Sets which fields the results have; none is every field.
  ///
  /// - Throws: ``QueryError`` with the path of the field, such as `fields[1]`.
  public mutating func setFields(_ paths: [String]) throws(QueryError) {
    var parsed: [FieldPath] = []
    for (number, path) in paths.enumerated() {
      parsed.append(try Self.path(path, at: "fields[\(number)]"))
    }
    projection = parsed.isEmpty ? .everything : Projection(paths: parsed)
  }

  private static func path(_ text: String, at place: String) throws(QueryError) -> FieldPath {
    do {
      return try FieldPath(text, allowsDollar: true)
    } catch {
      throw .invalidPath(text, error, at: place)
    }
  }

  private static func paths(_ values: [JSONValue]) throws(QueryError) -> [String] {
    var paths: [String] = []
    for (number, value) in values.enumerated() {
      guard case .string(let path) = value else { throw .notAPath(value, at: "fields[\(number)]") }
      paths.append(path)
    }
    return paths
  }

  private static func wholeNumber(_ key: String, in request: JSONObject) throws(QueryError) -> Int {
    switch request[key] {
    case nil, .null?: return 0
    case .int(let int)? where int >= 0: return Int(int)
    case .double(let double)?:
      guard let exact = Int(exactly: double), exact >= 0 else {
        throw .notAWholeNumber(.double(double), at: key)
      }
      return exact
    case .some(let found): throw .notAWholeNumber(found, at: key)
    }
  }
}
