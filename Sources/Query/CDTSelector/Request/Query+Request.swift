public import CDTJSON

// A query as one JSON object, like the body of a Mango request:
//
//   {"selector": {"age": {"$gte": 18}}, "sort": ["name"], "fields": ["name"], "skip": 20, "limit": 10, "use_index": "by_name",
//    "collation": "unicode"}
extension Query {
  private static let requestKeys =
    ["selector", "sort", "fields", "skip", "limit", "use_index"] + laterKeys
  /// Without a selector beside them, these are the names of fields.
  private static let laterKeys = ["collation", "snippets", "distance", "bookmark", "backward", "include"]

  /// Creates a query from a request, which has a `selector`, and any of the other keys: `{"selector", "sort", "fields", "skip", "limit",
  /// "use_index", "collation", "snippets", "distance", "bookmark", "backward", "include"}`. A
  /// `limit` of 0 means no limit.
  ///
  /// - Throws: ``QueryError``. An unknown key is an error; a null value is ignored.
  public init(request: JSONObject) throws(QueryError) {
    for (key, _) in request where !Self.requestKeys.contains(key) {
      throw QueryError(.unknownRequestKey(key))
    }
    guard let selector = request["selector"] else { throw QueryError(.requestWithoutSelector) }
    try self.init(selector: selector)
    for (key, value) in request where key != "selector" { try set(key, to: value) }
    _ = try ResolvedQuery(self)
  }

  /// Creates a query from the member `selector` of a request.
  package init(selector: JSONValue) throws(QueryError) {
    guard case .object(let object) = selector else {
      throw QueryError(.notAnObject(selector), at: "selector")
    }
    self.init(try QuerySelector(object))
  }

  /// Sets a part of the query from a member of a request, other than the selector. A null value is ignored.
  ///
  /// - Throws: ``QueryError``. Parts that don't fit together are found when the query is used.
  package mutating func set(_ key: String, to value: JSONValue) throws(QueryError) {
    switch (key, value) {
    case (_, .null): break
    case ("sort", .array(let clauses)): sort = try SortField.fields(clauses, at: "sort")
    case ("sort", _):
      throw QueryError(
        .notAnArray(value, "sort", wanted: "an array of fields, [\"name\", {\"age\": \"desc\"}]"))
    case ("fields", .array(let paths)): fields = try Self.paths(paths)
    case ("fields", _): throw QueryError(.notAnArray(value, "fields", wanted: "an array of paths"))
    case ("skip", _): skip = try Self.wholeNumber(key, value)
    case ("limit", _):
      let limit = try Self.wholeNumber(key, value)
      self.limit = limit > 0 ? limit : nil
    case ("use_index", .string(let name)): useIndex = name
    case ("use_index", _): throw QueryError(.invalidUseIndex(value))
    case ("bookmark", .string(let text)): bookmark = try Bookmark(text)
    case ("bookmark", _): throw QueryError(.notABookmark)
    case ("backward", .bool(let isBackward)): self.isBackward = isBackward
    case ("backward", _): throw QueryError(.notABoolean(value, "backward"))
    case ("collation", _): collation = try Collation(json: value, at: "collation")
    case ("snippets", _): snippets = try SnippetOptions(json: value)
    case ("distance", .bool(let isReturned)): returnsDistance = isReturned
    case ("distance", _): throw QueryError(.notABoolean(value, "distance"))
    case ("include", _): include = try Self.include(json: value)
    default: throw QueryError(.unknownRequestKey(key))
    }
  }

  /// Creates a query from the text of a selector or of a whole request.
  ///
  /// A nonempty object with only the keys of requests is a request; every other object is a selector. For a condition
  /// on a field named `selector`, write `{"selector": {"selector": …}}`.
  ///
  /// - Throws: ``QueryError``, also if the text is not JSON or not an object.
  public init(parsing text: String) throws(QueryError) {
    let value = try JSONValue(parsing: text, as: "query")
    guard case .object(let object) = value else { throw QueryError(.notARequest(value)) }
    if Self.isRequest(object) {
      try self.init(request: object)
    } else {
      self.init(try QuerySelector(object))
    }
  }

  private static func isRequest(_ object: JSONObject) -> Bool {
    !object.isEmpty && object.allSatisfy { requestKeys.contains($0.key) }
      && (object["selector"] != nil || !laterKeys.contains { object[$0] != nil })
  }

  private static func paths(_ values: [JSONValue]) throws(QueryError) -> [String] {
    var paths: [String] = []
    for (number, value) in values.enumerated() {
      guard case .string(let path) = value else {
        throw QueryError(.notAPath(value), at: "fields[\(number)]")
      }
      paths.append(path)
    }
    return paths
  }

  private static func wholeNumber(_ key: String, _ value: JSONValue) throws(QueryError) -> Int {
    guard let number = value.intValue, number >= 0 else { throw QueryError(.notAWholeNumber(value, key)) }
    return number
  }
}

extension Query: CustomStringConvertible {
  /// The query as a request, which ``init(parsing:)`` reads: the selector with its operators spelled out, and what else is
  /// set.
  public var description: String {
    var request: JSONObject = ["selector": .object(selector.clause.selector)]
    if !sort.isEmpty { request["sort"] = .array(sort.map(\.json)) }
    if !fields.isEmpty { request["fields"] = .array(fields.map(JSONValue.string)) }
    if skip != 0 { request["skip"] = skip.jsonValue }
    request["limit"] = limit?.jsonValue
    request["use_index"] = useIndex?.jsonValue
    request["bookmark"] = bookmark?.text.jsonValue
    if isBackward { request["backward"] = true }
    request["collation"] = collation?.rawValue.jsonValue
    request["snippets"] = snippets?.json
    if returnsDistance { request["distance"] = true }
    if !include.isEmpty {
      let names = include.sorted { $0.key.precedesInBytes($1.key) }
      request["include"] = .object(JSONObject(names.map { ($0.key, .string($0.value)) }))
    }
    return request.text
  }
}
