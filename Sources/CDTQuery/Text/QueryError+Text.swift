import JSON

// The messages of text search.
extension QueryError {
  static func textUnderNegation(at path: String) -> QueryError {
    QueryError(
      .textSearch, at: path,
      "\"$text\" can't stand under \"$not\" or \"$nor\"; put it outside, and take words away with NOT in the search"
    )
  }

  static func secondText(at path: String) -> QueryError {
    QueryError(
      .textSearch, at: path, "a query has one \"$text\"; join the searches with AND or OR in one \"$search\"")
  }

  static func textWithoutIndex(store: String?) -> QueryError {
    let command = "cdtquery index create \(store ?? "STORE") FIELD… --type text"
    return QueryError(
      .textSearch, at: "$text", "\"$text\" needs a text index, and there is none; make one: \(command)")
  }

  static func textIndexUnavailable(_ reason: String) -> QueryError {
    QueryError(
      .textSearch, at: "$text", "the text index can't be used: \(reason); install an SQLite with FTS5")
  }

  static func settingsOfJSONIndex(_ key: String) -> QueryError {
    QueryError(
      .invalidIndex, at: "settings.\(key)",
      "an index of values takes no settings; leave \"\(key)\" out, or make the index one of type \"text\"")
  }

  static func unknownSetting(_ key: String) -> QueryError {
    QueryError(
      .invalidIndex, at: "settings.\(key)",
      "a text index has no setting \"\(key)\"; the one it has is \"tokenize\"")
  }

  static func unknownTokenizer(_ value: JSONValue) -> QueryError {
    let known = TextTokenizerName.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    return QueryError(
      .invalidIndex, at: "settings.tokenize", "\(value.text) is no tokenizer; use one of \(known)")
  }

  static func secondTextIndex(_ name: String) -> QueryError {
    QueryError(
      .indexConflict, at: "type",
      "there is a text index \"\(name)\", and a datastore has one; delete it first: cdtquery index delete STORE \(name)"
    )
  }

  static func textIndexUnused(_ name: String, at path: String) -> QueryError {
    QueryError(
      .unknownIndex, at: path,
      "\"\(name)\" is a text index, and the selector has no \"$text\" for it; name another index, or none")
  }

  static func scoreAlone(at path: String) -> QueryError {
    QueryError(
      .invalidRequest, at: path,
      "the order by \"$text\" is the only one of its sort; leave the other clauses out, ties go by _id")
  }

  static func scoreDirection(_ direction: JSONValue, at path: String) -> QueryError {
    QueryError(
      .invalidRequest, at: path, "the order by \"$text\" is {\"$text\": \"score\"}, not \(direction.text)")
  }

  static func scoreWithoutText(at path: String) -> QueryError {
    QueryError(
      .invalidRequest, at: path,
      "only a query that asks for \"$text\", and not under \"$or\", has scores; sort by a field")
  }

  static func scoreOfOtherIndex(_ name: String, at path: String) -> QueryError {
    QueryError(
      .unknownIndex, at: path,
      "the order by \"$text\" goes by the scores of the text index, which \"\(name)\" is not; leave it out")
  }

  static var scoreInMemory: QueryError {
    QueryError(
      .textSearch, at: "sort[0]",
      "only a datastore's text index has scores, documents at hand have none; leave the sort out")
  }

  static func invalidSearch(_ failure: TextSearch.Failure, at path: String) -> QueryError {
    let message =
      switch failure {
      case .emptyParentheses: "() holds nothing; put words in the parentheses, or leave them out"
      case .openQuote: "a quotation mark is not closed; end the phrase with another"
      case .openParenthesis: "a parenthesis is not closed; close it, or quote it"
      case .closingParenthesis: "a parenthesis is closed that was not opened; leave it out, or quote it"
      case .missingOperand(let name):
        "\"\(name)\" lacks a word beside it; add one, or quote \"\(name)\" to search for it"
      case .invalidDistance(let name):
        "\"\(name)\" is no distance; write NEAR, or NEAR/5 for up to five words between"
      case .nearNeedsTerms: "NEAR stands between words or phrases, not beside parentheses"
      case .tooManyTerms: "the search has more than \(TextSearch.maximumTerms) words; shorten it"
      case .tooDeep: "parentheses nest deeper than \(TextSearch.maximumDepth); flatten them"
      }
    return QueryError(.textSearch, at: path, message)
  }
}
