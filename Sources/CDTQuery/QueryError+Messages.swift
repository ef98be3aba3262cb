import JSON

// Every message of a refused selector, in one place. A message says what is wrong and ends in the remedy.
extension QueryError {
  static func unknownOperator(_ name: String, at path: String) -> QueryError {
    let remedy =
      OperatorNames.nearest(to: name).map { "(did you mean \"\($0)\"?)" }
      ?? "; to name a field that begins with a dollar, write \"\\\(name)\""
    let gap = remedy.hasPrefix("(") ? " " : ""
    return QueryError(.unknownOperator, at: path, "unknown operator \"\(name)\"\(gap)\(remedy)")
  }

  static func operatorNeedsField(_ name: String, at path: String) -> QueryError {
    QueryError(
      .unknownOperator, at: path,
      "\"\(name)\" asks about a field's value; put it under one: {\"field\": {\"\(name)\": …}}")
  }

  static func combinationUnderField(_ name: String, at path: String) -> QueryError {
    QueryError(
      .unknownOperator, at: path,
      "\"\(name)\" can't stand under a field; put it outside, around clauses that each name the field")
  }

  static func notAnObject(_ found: JSONValue, at path: String) -> QueryError {
    QueryError(
      .invalidSelector, at: path,
      "a selector is an object such as {\"age\": {\"$gt\": 18}}, not \(found.typeWithArticle)")
  }

  static func emptyMember(_ name: String, at path: String) -> QueryError {
    QueryError(.invalidSelector, at: path, "an empty selector in \"\(name)\" is refused; leave it out")
  }

  static func emptyFieldValue(at path: String) -> QueryError {
    QueryError(
      .invalidSelector, at: path,
      "{} asks nothing of the field; for an empty object write {\"$eq\": {}}, for any value {\"$exists\": true}"
    )
  }

  static func emptyComplement(at path: String) -> QueryError {
    QueryError(
      .invalidSelector, at: path,
      "{} asks nothing; write what \"$not\" should exclude, such as {\"$eq\": {}} for an empty object")
  }

  static func emptyElementSelector(_ name: String, at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "{} asks nothing; write what \"\(name)\" should ask, such as {\"$exists\": true}")
  }

  static func mixedKeys(_ key: String, _ other: String, at path: String) -> QueryError {
    QueryError(
      .invalidSelector, at: path,
      "the operator \"\(key)\" and the name \"\(other)\" can't stand in one object; "
        + "write them as two clauses of \"$and\"")
  }

  static func wrongArgument(
    of name: String, wanted: String, found: JSONValue, at path: String
  ) -> QueryError {
    QueryError(.invalidArgument, at: path, "\"\(name)\" takes \(wanted), not \(found.typeWithArticle)")
  }

  static func optionsWithoutRegex(at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path, "\"$options\" belongs beside a \"$regex\"; add one or leave it out")
  }

  static func unknownRegexOption(_ option: Character, at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path, "\"\(option)\" is no option of \"$regex\"; use letters of \"imsx\"")
  }

  static func regexRefused(_ message: String, offset: Int, at path: String) -> QueryError {
    QueryError(
      .invalidRegex, at: path, "the pattern does not compile: \(message) at offset \(offset); fix the pattern"
    )
  }

  static func moduloCount(_ count: Int, at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path, "\"$mod\" takes [divisor, remainder], two numbers, not \(count) of them")
  }

  static func moduloByZero(at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "the divisor of \"$mod\" is 0 once its fraction is cut off; use a divisor of 1 or more")
  }

  static func unknownType(_ name: String, at path: String) -> QueryError {
    let names = JSONType.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " ")
    return QueryError(.invalidArgument, at: path, "\"\(name)\" is no type; use one of \(names)")
  }

  static func tooDeep(at path: String) -> QueryError {
    QueryError(
      .tooDeep, at: path,
      "the selector is nested deeper than \(Selector.maximumDepth) levels; make it flatter")
  }

  static func valueTooDeep(at path: String) -> QueryError {
    QueryError(
      .tooDeep, at: path,
      "it holds values nested deeper than \(JSONParsingOptions().maximumDepth) levels, which no document has; "
        + "make it flatter")
  }

  static func notANumber(at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "a number that is infinite or none at all is in no document; compare with one that JSON can hold")
  }

  static func tooManyClauses(at path: String) -> QueryError {
    QueryError(
      .tooLarge, at: path,
      "the selector has more than \(Selector.maximumClauses) clauses; use \"$in\" for many values of one field"
    )
  }

  static func invalidPath(_ path: String, _ fault: FieldPath.Fault, at place: String) -> QueryError {
    let message =
      switch fault {
      case .emptySegment:
        "the path \"\(path)\" has an empty segment; name every segment, and write \"\\.\" for a dot in a name"
      case .unescapedDollar(let remedy):
        "a name that begins with a dollar must be escaped; write \"\(remedy)\""
      case .tooLong:
        "the path has more than \(FieldPath.maximumSegments) segments; use a shorter one"
      }
    return QueryError(.invalidPath, at: place, message)
  }

  static func invalidJSON(_ error: JSONError, what: String) -> QueryError {
    QueryError(.invalidSelector, at: "", "the \(what) is not JSON: \(error)")
  }

  static func matchLimit(pattern: String, documentID: String) -> QueryError {
    QueryError(
      .matchLimit, at: "$regex",
      "the pattern \"\(pattern)\" needs more work than a match is given, on document \"\(documentID)\"; "
        + "rewrite it without nested repetition")
  }
}

extension JSONValue {
  /// What the value is, for a message: `a string`, `an array`.
  var typeWithArticle: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .int, .double, .bigInteger: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
