import CDTJSON

// The messages about text indexes and scores.
extension QueryError {
  static func textIndexUnavailable(_ reason: String) -> QueryError {
    QueryError(
      .textSearch, at: "$text", "the text index can't be used: \(reason); install an SQLite with FTS5")
  }

  static func settingsOfJSONIndex(_ key: String) -> QueryError {
    QueryError(
      .invalidIndex, at: "settings.\(key)",
      "an index of type \"json\" takes no settings; remove \"\(key)\", or use the type \"text\"")
  }

  static func unknownSetting(_ key: String) -> QueryError {
    QueryError(
      .invalidIndex, at: "settings.\(key)",
      "a text index has no setting \"\(key)\"; its only setting is \"tokenize\"")
  }

  static func unknownTokenizer(_ value: JSONValue) -> QueryError {
    let known = TextTokenizerName.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    return QueryError(
      .invalidIndex, at: "settings.tokenize", "\(value.text) is not a tokenizer; use one of \(known)")
  }

  static func severalTextIndexes(_ names: [String]) -> QueryError {
    let names = names.map { JSONValue.string($0).text }.joined(separator: ", ")
    return QueryError(
      .textSearch, at: "$text",
      "several text indexes can answer it: \(names); name one of them with use_index".boundedMessage)
  }

  static func noTextIndexWithFields(_ fields: [String]) -> QueryError {
    let fields = fields.map { JSONValue.string($0).text }.joined(separator: ", ")
    return QueryError(
      .textSearch, at: "$text",
      "no text index has all fields that the search names, \(fields); create one with them".boundedMessage)
  }

  static func textIndexUnused(_ name: String, at path: String) -> QueryError {
    QueryError(
      .unknownIndex, at: path,
      "\"\(name)\" is a text index, but the selector has no \"$text\"; name another index, or remove use_index"
    )
  }

  static func scoreAlone(at path: String) -> QueryError {
    QueryError(
      .invalidRequest, at: path,
      "a sort by the score of \"$text\" can't have other clauses; remove them, ties are sorted by _id")
  }

  static func scoreWithoutText(at path: String) -> QueryError {
    QueryError(
      .invalidRequest, at: path,
      "only a query with a \"$text\" outside \"$or\" has scores; sort by a field")
  }

  static func scoreOfOtherIndex(_ name: String, at path: String) -> QueryError {
    QueryError(
      .unknownIndex, at: path,
      "a sort by the score of \"$text\" needs the text index, which \"\(name)\" is not; remove use_index")
  }

  static var scoreInMemory: QueryError {
    QueryError(
      .textSearch, at: "sort[0]",
      "a query over documents in memory has no text scores; remove the sort")
  }
}
