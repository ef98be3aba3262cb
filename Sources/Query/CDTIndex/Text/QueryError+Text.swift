import CDTJSON

// The messages about text indexes.
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
}
