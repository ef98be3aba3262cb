import CDTJSON

// The messages about requests and index definitions. A message says what is wrong and ends with the remedy.
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

  static func unknownCollation(_ found: JSONValue, at place: String) -> QueryError {
    let known = Collation.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
    return QueryError(
      .invalidRequest, at: place, "\(found.text) is not a collation; use \(known)".boundedMessage)
  }

  static func directedFieldKeys(_ count: Int, at place: String) -> QueryError {
    QueryError(
      .invalidRequest, at: place,
      "a sort clause names one field and its direction, {\"age\": \"desc\"}, not \(count) fields; write one clause per field"
    )
  }

  static func unknownDirection(_ found: JSONValue, of path: String, at place: String) -> QueryError {
    QueryError(
      .invalidRequest, at: place,
      "the direction of \"\(path)\" must be \"asc\" or \"desc\", not \(found.text)")
  }

  static func notADirectedField(_ found: JSONValue, at place: String) -> QueryError {
    QueryError(
      .invalidRequest, at: place,
      "a sort clause must be a field path or an object such as {\"age\": \"desc\"}, not \(found.typeWithArticle)"
    )
  }

  static func doubtfulField(_ word: String, _ doubt: WordDoubt, at place: String) -> QueryError {
    let remedy =
      switch doubt {
      case .direction(let meant): "is not a field and a direction; write \(meant)"
      case .several(let fields):
        "names \(fields.count) fields; give them one by one: \(fields.joined(separator: " "))"
      case .spaces(let meant): "has spaces around the name; write \(meant)"
      case .json: "is JSON, not the name of a field; write a field as age or age:desc"
      }
    return QueryError(
      .invalidRequest, at: place,
      "\"\(word)\" \(remedy); a field of that name is written \"\(word):asc\"")
  }

  static func tooManySortFields(_ count: Int) -> QueryError {
    QueryError(
      .tooLarge, at: "sort",
      "a sort has at most \(Query.maximumSortFields) fields, not \(count); keep the first ones")
  }

  static var indexWithoutFields: QueryError {
    QueryError(
      .invalidIndex, at: "fields", "an index needs at least one field; name the fields that queries use")
  }

  package static func indexWithTooManyFields(_ count: Int) -> QueryError {
    QueryError(
      .invalidIndex, at: "fields",
      "an index has at most \(IndexDefinition.maximumFields) fields, not \(count); keep the most selective")
  }

  static func indexRepeatsField(_ path: String, at place: String) -> QueryError {
    QueryError(.invalidIndex, at: place, "the field \"\(path)\" is named twice; name it once")
  }

  package static func unknownIndexType(_ type: String) -> QueryError {
    QueryError(
      .invalidIndex, at: "type", "the type \(JSONValue.string(type).text) is unknown; use json or text")
  }

  static var indexWithoutName: QueryError {
    QueryError(
      .invalidIndex, at: "name", "an index name can't be empty; omit it to have one generated")
  }

  static func indexConflict(_ definition: IndexDefinition, existing: IndexDefinition) -> QueryError {
    let difference =
      definition.hasSameFields(as: existing)
      ? "other options, \(existing.options.text)"
      : "different fields, \(existing.fieldsJSON.text)"
    return QueryError(
      .indexConflict, at: "name",
      "the index \"\(definition.name)\" already exists with \(difference); delete it or choose another name")
  }

  static func indexOfDesignDocument(_ name: String, _ document: String) -> QueryError {
    QueryError(
      .invalidIndex, at: "name",
      "the index \"\(name)\" is defined by the document \(document); change or delete that document")
  }

  static func invalidOption(
    _ option: IndexDefinition.Option, _ wanted: String, _ found: JSONValue
  ) -> QueryError {
    QueryError(
      .invalidIndex, at: option.rawValue,
      "\"\(option.rawValue)\" must be \(wanted), not \(found.typeWithArticle)")
  }

  /// An option that an index of another kind has.
  static func unusableOption(_ option: IndexDefinition.Option, of kind: IndexDefinition.Kind) -> QueryError {
    let message =
      switch (option, kind) {
      case (.filter, _): "a text index holds every document; omit `where`"
      case (.unique, .text): "the words of a text index can't be unique; use an index of type json"
      case (.unique, _): "a summary can't be unique; create a unique index beside it"
      case (.collation, .text):
        "a text index has no collation; choose a tokenizer, such as unicode61, or use an index of type json"
      case (.collation, _):
        "a summary, or an index by which documents expire, has no collation; leave it out"
      case (.sum, _): "the words of a text index have no sum; use an index of type json"
      case (.milliseconds, _):
        "milliseconds are those of dates after which documents expire; add expireAfter, or leave it out"
      case (.expireAfter, _), (.tokenize, _):
        "documents expire by an index of type json with one ascending field, which is neither unique nor a summary"
      }
    return QueryError(.invalidIndex, at: option.rawValue, message)
  }

  static func invalidExpiry(_ seconds: Double, most: Double) -> QueryError {
    QueryError(
      .invalidIndex, at: "expireAfter",
      "documents expire after 0 to \(JSONValue(number: most).text) seconds, not \(JSONValue(number: seconds).text)"
    )
  }

  static func descendingSummary(_ path: String, at place: String) -> QueryError {
    QueryError(
      .invalidIndex, at: place,
      "the fields of a summary ascend; name \"\(path)\" without a direction, and sort the groups")
  }

  static var filterNeedsText: QueryError {
    QueryError(
      .invalidIndex, at: "where", "the filter of an index can't search text; use the other operators")
  }

  static var filterWithPattern: QueryError {
    QueryError(
      .invalidIndex, at: "where",
      "the filter of an index can't have a $regex, which could slow down every write; use $beginsWith or other operators"
    )
  }

  static func filterTooLong(_ length: Int) -> QueryError {
    QueryError(
      .invalidIndex, at: "where",
      "the filter of an index has at most \(IndexFilter.maximumLength) bytes, not \(length); shorten it")
  }

  package static func unknownIndex(_ name: String, known: [String], at place: String) -> QueryError {
    let names =
      known.isEmpty
      ? "there are none" : "there are " + known.map { "\"\($0)\"" }.joined(separator: ", ")
    return QueryError(.unknownIndex, at: place, "there is no index \"\(name)\"; \(names)")
  }

  static func indexGone(_ name: String) -> QueryError {
    QueryError(
      .unknownIndex, at: "name", "the index \"\(name)\" was deleted during its build; create it again"
    )
  }

  static var resultSetClosed: QueryError {
    QueryError(.closed, at: "", "the result set is closed; run the query again")
  }

  static var resultSetInUse: QueryError {
    QueryError(
      .inUse, at: "", "another call is reading the result set; wait until it returns, or run the query again")
  }

  package static func timedOut(_ limit: Duration) -> QueryError {
    QueryError(
      .timedOut, at: "",
      "the query exceeded its time limit of \(limit); create an index for it, or allow more time")
  }

  // MARK: Changes

  static func reservedField(at path: String) -> QueryError {
    QueryError(
      .invalidChange, at: path,
      "names that begin with _ are the document's own and can't be changed; use another field")
  }

  static func invalidAmount(_ amount: JSONValue, at path: String) -> QueryError {
    QueryError(.invalidChange, at: path, "the amount must be a number, not \(amount.typeWithArticle)")
  }

  static func invalidChange(_ message: String, of id: String, at path: String) -> QueryError {
    QueryError(.invalidChange, at: path, "document \"\(id)\": \(message)")
  }
}
