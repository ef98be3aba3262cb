import JSON

// The messages of refused requests and index definitions. A message says what is wrong and ends in the remedy.
extension QueryError {
  static func notARequest(_ found: JSONValue) -> QueryError {
    QueryError(
      .invalidRequest, at: "",
      "a request is an object such as {\"selector\": {…}, \"limit\": 10}, not \(found.typeWithArticle)")
  }

  static func unknownRequestKey(_ key: String) -> QueryError {
    QueryError(
      .invalidRequest, at: key,
      "a request has no \"\(key)\"; its keys are selector, sort, fields, skip, limit and use_index")
  }

  static var requestWithoutSelector: QueryError {
    QueryError(
      .invalidRequest, at: "selector", "a request needs a selector; {} selects every document")
  }

  static func notAWholeNumber(_ found: JSONValue, at key: String) -> QueryError {
    QueryError(.invalidRequest, at: key, "\"\(key)\" is a whole number from 0, not \(found.text)")
  }

  static func notAnArray(_ found: JSONValue, wanted: String, at key: String) -> QueryError {
    QueryError(.invalidRequest, at: key, "\"\(key)\" is \(wanted), not \(found.typeWithArticle)")
  }

  static func notAPath(_ found: JSONValue, at place: String) -> QueryError {
    QueryError(
      .invalidRequest, at: place, "a field is named by its path in a string, not by \(found.typeWithArticle)")
  }

  static func invalidUseIndex(_ found: JSONValue) -> QueryError {
    QueryError(
      .invalidRequest, at: "use_index", "\"use_index\" is the name of one index, not \(found.typeWithArticle)"
    )
  }

  static func directedFieldKeys(_ count: Int, at place: String) -> QueryError {
    QueryError(
      .invalidRequest, at: place,
      "a clause names one field and its direction, {\"age\": \"desc\"}, not \(count); write one clause a field"
    )
  }

  static func unknownDirection(_ found: JSONValue, of path: String, at place: String) -> QueryError {
    QueryError(
      .invalidRequest, at: place, "the direction of \"\(path)\" is \"asc\" or \"desc\", not \(found.text)")
  }

  static func notADirectedField(_ found: JSONValue, at place: String) -> QueryError {
    QueryError(
      .invalidRequest, at: place,
      "a clause is a field's path or {\"age\": \"desc\"}, not \(found.typeWithArticle)")
  }

  static var indexWithoutFields: QueryError {
    QueryError(.invalidIndex, at: "fields", "an index needs at least one field; name what queries ask for")
  }

  static func indexWithTooManyFields(_ count: Int) -> QueryError {
    QueryError(
      .invalidIndex, at: "fields",
      "an index has at most \(IndexDefinition.maximumFields) fields, not \(count); name the most selective")
  }

  static func indexRepeatsField(_ path: String, at place: String) -> QueryError {
    QueryError(.invalidIndex, at: place, "the field \"\(path)\" is named twice; name it once")
  }

  package static func unknownIndexType(_ type: String) -> QueryError {
    QueryError(
      .invalidIndex, at: "type", "the type \(JSONValue.string(type).text) is unknown; it is json or text")
  }

  static var indexWithoutName: QueryError {
    QueryError(
      .invalidIndex, at: "name", "an index's name can't be empty; leave it out to have one made")
  }

  static func indexConflict(_ name: String, existing: IndexDefinition) -> QueryError {
    QueryError(
      .indexConflict, at: "name",
      "the index \"\(name)\" exists with other fields, \(existing.fieldsJSON.text); "
        + "delete it first or choose another name")
  }

  static func unknownIndex(_ name: String, known: [String], at place: String) -> QueryError {
    let names =
      known.isEmpty
      ? "there are none" : "there are " + known.map { "\"\($0)\"" }.joined(separator: ", ")
    return QueryError(.unknownIndex, at: place, "there is no index \"\(name)\"; \(names)")
  }

  static func indexGone(_ name: String) -> QueryError {
    QueryError(
      .unknownIndex, at: "name", "the index \"\(name)\" was deleted while it was being built; create it again"
    )
  }

  static var resultSetClosed: QueryError {
    QueryError(.closed, at: "", "the result set was closed; run the query again")
  }

  static var resultSetInUse: QueryError {
    QueryError(
      .inUse, at: "", "the result set is being read by another call; let that return, or run the query again")
  }

  static var cancelled: QueryError {
    QueryError(.cancelled, at: "", "the query was cancelled; run it again for its results")
  }

  static func timedOut(_ limit: Duration) -> QueryError {
    QueryError(
      .timedOut, at: "",
      "the query took longer than its limit of \(limit); make an index for it, or allow more time")
  }
}
