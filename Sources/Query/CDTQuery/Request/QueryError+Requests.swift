import CDTJSON

// The messages about requests. A message says what is wrong and ends with the remedy.
extension QueryError {
  static func notARequest(_ found: JSONValue) -> QueryError {
    QueryError(
      .invalidRequest, at: "",
      "a request is an object such as {\"selector\": {…}, \"limit\": 10}, not \(found.typeWithArticle)")
  }

  static func unknownRequestKey(_ key: String) -> QueryError {
    QueryError(
      .invalidRequest, at: key,
      "a request has no key \"\(key)\"; its keys are selector, sort, fields, skip, limit, use_index, collation, snippets, bookmark and backward"
    )
  }

  static var requestWithoutSelector: QueryError {
    QueryError(
      .invalidRequest, at: "selector", "a request needs a selector; {} selects every document")
  }

  static func notAWholeNumber(_ found: JSONValue, at key: String) -> QueryError {
    QueryError(.invalidRequest, at: key, "\"\(key)\" must be a whole number, 0 or more, not \(found.text)")
  }

  static func notABoolean(_ found: JSONValue, at key: String) -> QueryError {
    QueryError(.invalidRequest, at: key, "\"\(key)\" must be true or false, not \(found.typeWithArticle)")
  }

  static func notAnArray(_ found: JSONValue, wanted: String, at key: String) -> QueryError {
    QueryError(.invalidRequest, at: key, "\"\(key)\" must be \(wanted), not \(found.typeWithArticle)")
  }

  static func notAPath(_ found: JSONValue, at place: String) -> QueryError {
    QueryError(
      .invalidRequest, at: place, "a field path must be a string, not \(found.typeWithArticle)")
  }

  static func invalidUseIndex(_ found: JSONValue) -> QueryError {
    QueryError(
      .invalidRequest, at: "use_index",
      "\"use_index\" must be the name of one index, not \(found.typeWithArticle)"
    )
  }

  static func tooManySortFields(_ count: Int) -> QueryError {
    QueryError(
      .tooLarge, at: "sort",
      "a sort has at most \(Query.maximumSortFields) fields, not \(count); keep the first ones")
  }
}
