import CDTJSON

// The messages about indexes. A message says what is wrong and ends with the remedy.
extension QueryError {
  static var datastoreClosed: QueryError {
    QueryError(.closed, at: "", "the datastore is closed; open it again")
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
      .invalidIndex, at: "type",
      "the type \(JSONValue.string(type).text) is unknown; use json, text, place or vector")
  }

  static var indexWithoutName: QueryError {
    QueryError(
      .invalidIndex, at: "name", "an index name can't be empty; omit it to have one generated")
  }

  static func indexConflict(_ definition: IndexDefinition, existing: IndexDefinition) -> QueryError {
    let difference =
      definition.hasSameFields(as: existing)
      ? "other options, \(existing.otherOptions.text)"
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
    _ option: IndexOptions.Name, _ wanted: String, _ found: JSONValue
  ) -> QueryError {
    QueryError(
      .invalidIndex, at: option.rawValue,
      "\"\(option.rawValue)\" must be \(wanted), not \(found.typeWithArticle)")
  }

  /// An option that an index of another kind has.
  static func unusableOption(_ option: IndexOptions.Name, of kind: IndexOptions.Kind) -> QueryError {
    let message =
      switch (option, kind) {
      case (.filter, _): "a text index holds every document; leave out the filter"
      case (.tokenize, .place), (.milliseconds, .place), (.expireAfter, .place), (.sum, .place):
        "an index of places has no \"\(option.rawValue)\"; create another index for that"
      case (.unique, .place): "places can't be unique; create a unique index beside it"
      case (.collation, .place):
        "an index of places compares strings by their bytes; leave out the collation"
      case (.unique, .text): "the words of a text index can't be unique; use an index of type json"
      case (.unique, .vector): "vectors can't be unique; create a unique index beside it"
      case (.unique, _): "a summary can't be unique; create a unique index beside it"
      case (.collation, .text):
        "a text index can't have a collation; choose a tokenizer, such as unicode61, or use an index of type json"
      case (.collation, .vector): "vectors have no strings to compare; leave the collation out"
      case (.collation, _):
        "a summary, or an index by which documents expire, can't have a collation; leave it out"
      case (.sum, .vector): "vectors can't be summed; create a summary beside it"
      case (.sum, _): "the words of a text index can't be summed; use an index of type json"
      case (.vector, _): "\"vector\" is an option of indexes of type vector; leave it out, or use this type"
      case (.milliseconds, _):
        "milliseconds apply to the dates of expireAfter; add expireAfter, or leave milliseconds out"
      case (.expireAfter, _), (.tokenize, _):
        "expireAfter needs an index of type json with one ascending field, which is neither unique nor a summary"
      }
    return QueryError(.invalidIndex, at: option.rawValue, message)
  }

  static func invalidExpiry(_ seconds: Double, most: Double) -> QueryError {
    QueryError(
      .invalidIndex, at: "expireAfter",
      "expireAfter must be 0 to \(JSONValue(number: most).text) seconds, not \(JSONValue(number: seconds).text)"
    )
  }

  static func descendingSummary(_ path: String, at place: String) -> QueryError {
    QueryError(
      .invalidIndex, at: place,
      "the fields of a summary are always ascending; name \"\(path)\" without a direction, and sort the groups"
    )
  }

  static func descendingPlace(_ path: String, at place: String) -> QueryError {
    QueryError(
      .invalidIndex, at: place, "a place has no direction; name \"\(path)\" without one")
  }

  static func distanceOfDocument(_ path: String, at place: String) -> QueryError {
    QueryError(
      .invalidIndex, at: place,
      "\"\(path)\" is a string; name a field that has places or vectors")
  }

  static var filterWithNear: QueryError {
    QueryError(
      .invalidIndex, at: "where",
      "the filter of an index has no \"$near\", as it has no order; use \"$geoWithin\"")
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
}
