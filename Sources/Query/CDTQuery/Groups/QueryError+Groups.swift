import CDTJSON

// The messages about groups.
extension QueryError {
  static func undecodableRow(_ row: JSONObject, _ type: any Any.Type, _ error: DecodingError) -> QueryError {
    QueryError(
      .undecodable, at: "",
      "the row \(row.text) can't be decoded as \(type): \(error.text); make the property optional, or select documents that "
        + "have the field")
  }

  static var groupIsMissing: QueryError {
    QueryError(
      .invalidRequest, at: "group", "a request for groups needs a group, such as {\"by\": [\"city\"]}")
  }

  static func invalidGroup(_ found: JSONValue, _ wanted: String, at place: String) -> QueryError {
    QueryError(.invalidRequest, at: place, "this must be \(wanted), not \(found.text)")
  }

  static func unknownGroupKey(_ key: String) -> QueryError {
    QueryError(
      .invalidRequest, at: key,
      "a group has no key \"\(key)\"; its keys are by, aggregates, unwind and having")
  }

  static func unknownAggregate(_ name: String, at place: String) -> QueryError {
    let names = GroupQuery.Aggregate.Function.allCases.map(\.name)
    let all = "use \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")"
    return QueryError(
      .unknownOperator, at: place, "unknown function \"\(name)\" (\(meant(name, among: names) ?? all))")
  }

  static var groupWithoutMembers: QueryError {
    QueryError(.invalidRequest, at: "by", "a group needs fields or aggregates; name a field")
  }

  static func tooManyGroupMembers(_ count: Int, at place: String) -> QueryError {
    QueryError(
      .tooLarge, at: place,
      "a group has at most \(GroupQuery.maximumFields) \(place == "by" ? "fields" : "aggregates"), not \(count); use fewer"
    )
  }

  static func overlappingFields(_ path: String, at place: String) -> QueryError {
    QueryError(
      .invalidRequest, at: place,
      "\"\(path)\" overlaps another field of \"by\"; name one of them")
  }

  static func invalidAggregateName(_ name: String, at place: String) -> QueryError {
    QueryError(
      .invalidRequest, at: place,
      "\(JSONValue.string(name).text) can't be the name of an aggregate; use one without dots, dollar signs and backslashes, such as total"
    )
  }

  static func repeatedMember(_ name: String, at place: String) -> QueryError {
    QueryError(.invalidRequest, at: place, "the rows already have a member \"\(name)\"; use another name")
  }

  static func unwoundDocumentField(_ path: String) -> QueryError {
    QueryError(.invalidRequest, at: "unwind", "\"\(path)\" is never an array; name a field of the documents")
  }

  static func notOfRows(_ name: String, members: [String], at place: String) -> QueryError {
    let all = "they have \(members.joined(separator: ", "))"
    return QueryError(
      .invalidRequest, at: place,
      "the rows have no member \"\(name)\" (\(meant(name, among: members) ?? all))")
  }

  private static func meant(_ name: String, among names: [String]) -> String? {
    NearestName.of(name, among: names).map { "did you mean \"\($0)\"?" }
  }

  static func unusableWithGroups(_ key: String, _ remedy: String) -> QueryError {
    QueryError(.invalidRequest, at: key, "\"\(key)\" can't be combined with groups; \(remedy)")
  }
}
