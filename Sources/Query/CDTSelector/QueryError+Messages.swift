package import CDTJSON

// All messages about selectors. A message says what is wrong and ends with the remedy.
extension QueryError {
  static func unknownOperator(_ name: String, at path: String) -> QueryError {
    if let instead = OperatorNames.instead(of: name) {
      return QueryError(.unknownOperator, at: path, "unknown operator \"\(name)\"; \(instead)")
    }
    let remedy =
      OperatorNames.nearest(to: name).map { "(did you mean \"\($0)\"?)" }
      ?? "; for a field name that begins with a dollar sign, write \"\\\(name)\""
    let gap = remedy.hasPrefix("(") ? " " : ""
    return QueryError(.unknownOperator, at: path, "unknown operator \"\(name)\"\(gap)\(remedy)")
  }

  static func operatorNeedsField(_ name: String, at path: String) -> QueryError {
    QueryError(
      .unknownOperator, at: path,
      "\"\(name)\" tests a field's value; put it under a field: {\"field\": {\"\(name)\": …}}")
  }

  static func combinationUnderField(_ name: String, at path: String) -> QueryError {
    QueryError(
      .unknownOperator, at: path,
      "\"\(name)\" is not allowed under a field; put it outside, around clauses that each name the field")
  }

  package static func notAnObject(_ found: JSONValue, at path: String) -> QueryError {
    QueryError(
      .invalidSelector, at: path,
      "a selector is an object such as {\"age\": {\"$gt\": 18}}, not \(found.typeWithArticle)")
  }

  static func emptyMember(_ name: String, at path: String) -> QueryError {
    QueryError(.invalidSelector, at: path, "\"\(name)\" contains an empty selector; remove it")
  }

  static func emptyFieldValue(at path: String) -> QueryError {
    QueryError(
      .invalidSelector, at: path,
      "{} has no condition; to match an empty object write {\"$eq\": {}}, to match any value {\"$exists\": true}"
    )
  }

  static func emptyComplement(at path: String) -> QueryError {
    QueryError(
      .invalidSelector, at: path,
      "{} has no condition; write the condition that \"$not\" negates, such as {\"$eq\": {}} for an empty object"
    )
  }

  static func emptyElementSelector(_ name: String, at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "{} has no condition; write one for \"\(name)\", such as {\"$exists\": true}")
  }

  static func mixedKeys(_ key: String, _ other: String, at path: String) -> QueryError {
    QueryError(
      .invalidSelector, at: path,
      "the operator \"\(key)\" and the name \"\(other)\" can't be in one object; "
        + "write them as two clauses of \"$and\"")
  }

  static func wrongArgument(
    of name: String, wanted: String, found: JSONValue, at path: String
  ) -> QueryError {
    QueryError(.invalidArgument, at: path, "\"\(name)\" takes \(wanted), not \(found.typeWithArticle)")
  }

  static func optionsWithoutRegex(at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path, "\"$options\" needs a \"$regex\" beside it; add one or remove \"$options\"")
  }

  static func unknownRegexOption(_ option: Character, at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "\"\(option)\" is not an option of \"$regex\"; use only the letters \"imsx\"")
  }

  static func regexRefused(_ message: String, offset: Int, at path: String) -> QueryError {
    QueryError(
      .invalidRegex, at: path, "the pattern does not compile: \(message) at offset \(offset); fix the pattern"
    )
  }

  static func regexTooLong(at path: String) -> QueryError {
    QueryError(
      .invalidRegex, at: path,
      "the pattern is longer than \(RegularExpression.maximumLength) bytes; use a shorter one")
  }

  static func moduloCount(_ count: Int, at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path, "\"$mod\" takes two numbers, [divisor, remainder], not \(count)")
  }

  static func moduloByZero(at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "the divisor of \"$mod\" truncates to 0; use a divisor of 1 or more")
  }

  static func unknownType(_ name: String, at path: String) -> QueryError {
    let names = JSONType.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " ")
    return QueryError(.invalidArgument, at: path, "\"\(name)\" is not a type; use one of \(names)")
  }

  static func tooDeep(at path: String) -> QueryError {
    QueryError(
      .tooDeep, at: path,
      "the selector is nested deeper than \(QuerySelector.maximumDepth) levels; flatten it")
  }

  static func valueTooDeep(at path: String) -> QueryError {
    QueryError(
      .tooDeep, at: path,
      "the value is nested deeper than \(JSONParsingOptions().maximumDepth) levels, the most that a document can have; "
        + "flatten it")
  }

  static func notANumber(at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "no document contains infinity or NaN; compare with a finite number")
  }

  static func tooManyClauses(at path: String) -> QueryError {
    QueryError(
      .tooLarge, at: path,
      "the selector has more than \(QuerySelector.maximumClauses) clauses; use \"$in\" for many values of one field"
    )
  }

  package static func invalidPath(_ path: String, _ fault: FieldPath.Fault, at place: String) -> QueryError {
    let message =
      switch fault {
      case .emptySegment:
        "the path \"\(path)\" has an empty segment; name every segment; write \"\\.\" for a dot in a name"
      case .unescapedDollar where path.splitBytes(at: ".").contains(where: OperatorNames.isPositional):
        "there are no positional operators; name an element of an array by its position, as in pets.0.name"
      case .unescapedDollar(let remedy):
        "a name that begins with a dollar sign must be escaped; write \"\(remedy)\""
      case .tooLong:
        "the path has more than \(FieldPath.maximumSegments) segments; use a shorter one"
      }
    return QueryError(.invalidPath, at: place, message)
  }

  package static func invalidJSON(_ error: JSONError, what: String) -> QueryError {
    QueryError(.invalidSelector, at: "", "the \(what) is not JSON: \(error)")
  }

  // MARK: Requests

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

  package static func timedOut(_ limit: Duration) -> QueryError {
    QueryError(
      .timedOut, at: "",
      "the query exceeded its time limit of \(limit); create an index for it, or allow more time")
  }

  static func matchLimit(pattern: String, documentID: String) -> QueryError {
    QueryError(
      .matchLimit, at: "$regex",
      "the pattern \"\(pattern)\" exceeded the match limit on document \"\(documentID)\"; "
        + "rewrite it so that no two repetitions can match the same text, or begin it with \"^\"")
  }
}

extension JSONValue {
  /// The type of the value for a message: `a string`, `an array`.
  package var typeWithArticle: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .int, .double, .spelled: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
