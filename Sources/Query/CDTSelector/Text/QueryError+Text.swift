import CDTJSON

// The messages about text search.
extension QueryError {
  static func textUnderNegation(at path: String) -> QueryError {
    QueryError(
      .textSearch, at: path,
      "\"$text\" is not allowed under \"$not\" or \"$nor\"; put it outside, and exclude words with NOT in the search"
    )
  }

  static func secondText(at path: String) -> QueryError {
    QueryError(
      .textSearch, at: path,
      "a query can have only one \"$text\"; combine the searches with AND or OR in one \"$search\"")
  }

  package static func textWithoutIndex(store: String?) -> QueryError {
    let command = "cdtquery index create \(store ?? "STORE") FIELD… --type text"
    return QueryError(
      .textSearch, at: "$text",
      "\"$text\" needs a text index, and the datastore has none; create one: \(command)")
  }

  static func scoreDirection(_ direction: JSONValue, at path: String) -> QueryError {
    QueryError(
      .invalidRequest, at: path,
      "a sort by the score of \"$text\" is written {\"$text\": \"score\"}, not \(direction.text)")
  }

  static func invalidSearch(_ failure: TextSearch.Failure, at path: String) -> QueryError {
    let message =
      switch failure {
      case .emptyParentheses: "() is empty; put words in the parentheses, or remove them"
      case .openQuote: "a quotation mark is not closed; close it"
      case .openParenthesis: "a parenthesis is not closed; close it, or quote it"
      case .closingParenthesis: "a closing parenthesis has no opening one; remove it, or quote it"
      case .missingOperand(let name):
        "\"\(name)\" has no word beside it; add one, or quote \"\(name)\" to search for it"
      case .invalidDistance(let name):
        "\"\(name)\" has no valid distance; write NEAR, or NEAR/5 for at most five words between"
      case .nearNeedsTerms: "NEAR joins words and phrases; remove the parentheses beside it"
      case .tooManyTerms: "the search has more than \(TextSearch.maximumTerms) words; shorten it"
      case .tooDeep: "parentheses are nested deeper than \(TextSearch.maximumDepth) levels; flatten them"
      }
    return QueryError(.textSearch, at: path, message)
  }
}
