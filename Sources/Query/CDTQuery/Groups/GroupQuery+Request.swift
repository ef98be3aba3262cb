public import CDTJSON

// A query for groups as one JSON object:
//
//   {"selector": {"type": "order"},
//    "group": {"by": ["city"], "aggregates": {"orders": {"$count": {}}, "total": {"$sum": "amount"}},
//              "unwind": "items", "having": {"orders": {"$gte": 2}}},
//    "sort": [{"total": "desc"}], "limit": 10}
extension GroupQuery {
  /// Creates a query from a request, which has a member `group` and any of those of `Query(request:)` but `fields`.
  ///
  /// - Throws: ``QueryError`` with the path of the invalid part.
  public init(request: JSONObject) throws(QueryError) {
    var rest = request
    guard let group = rest.removeValue(forKey: "group") else { throw QueryError(.groupIsMissing) }
    try self.init(Query(request: rest), group: group)
  }

  /// - Parameter group: The member `group` of a request.
  package init(_ query: Query, group: JSONValue) throws(QueryError) {
    guard case .object(let members) = group else {
      throw QueryError(.invalidGroup(group, "an object"), at: "group")
    }
    var (fields, unwind, having) = ([String](), String?.none, JSONObject())
    var aggregates: [Aggregate] = []
    for (key, value) in members where value != .null {
      switch (key, value) {
      case ("by", .array(let paths)):
        for (number, path) in paths.enumerated() {
          guard case .string(let text) = path else {
            throw QueryError(.invalidGroup(path, "the path of a field"), at: "by[\(number)]")
          }
          fields.append(text)
        }
      case ("by", _): throw QueryError(.invalidGroup(value, "an array of paths"), at: "by")
      case ("aggregates", .object(let named)):
        for (name, value) in named { aggregates.append(try Aggregate(name, json: value)) }
      case ("aggregates", _):
        throw QueryError(
          .invalidGroup(value, "an object such as {\"total\": {\"$sum\": \"amount\"}}"), at: "aggregates")
      case ("unwind", .string(let path)): unwind = path
      case ("unwind", _): throw QueryError(.invalidGroup(value, "the path of an array"), at: "unwind")
      case ("having", .object(let selector)): having = selector
      case ("having", _): throw QueryError(.notAnObject(value), at: "having")
      default: throw QueryError(.unknownGroupKey(key))
      }
    }
    try self.init(query, by: fields, aggregates, unwind: unwind, having: having)
  }
}

extension GroupQuery.Aggregate {
  /// Parses `{"$sum": "amount"}`.
  fileprivate init(_ name: String, json value: JSONValue) throws(QueryError) {
    let place = "aggregates.\(name)"
    guard let object = value.objectValue, object.count == 1,
      let (key, argument) = object.first(where: { _ in true })
    else {
      throw QueryError(.invalidGroup(value, "an object with one function, {\"$sum\": \"amount\"}"), at: place)
    }
    guard let function = Function.allCases.first(where: { $0.name == key }) else {
      throw QueryError(
        .unknownAggregate(key, known: GroupQuery.Aggregate.Function.allCases.map(\.name)),
        at: "\(place).\(key)")
    }
    switch (function, argument) {
    case (.count, .object([:])): self.init(function, of: nil, as: name)
    case (.count, _): throw QueryError(.invalidGroup(argument, "{}"), at: "\(place).\(key)")
    case (_, .string(let path)): self.init(function, of: path, as: name)
    default: throw QueryError(.invalidGroup(argument, "the path of a field"), at: "\(place).\(key)")
    }
  }
}
