/// A parsed `$search`, before words are split into tokens.
///
/// ```
/// title:cat "in the hat" NOT dog   →   (title:cat) AND ("in the hat" NOT dog)
/// ```
package struct TextSearch: Sendable, Hashable {
  /// A word, a prefix or a phrase, optionally in one field only.
  package struct Term: Sendable, Hashable {
    package var text: String
    package var isPhrase = false
    package var isPrefix = false
    /// The field's path as written before the colon.
    package var field: String?
  }

  package indirect enum Expression: Sendable, Hashable {
    case term(Term)
    /// Consecutive terms, each at most a given number of words from the next.
    case near([Term], distances: [Int])
    case and([Expression])
    case or([Expression])
    case not(Expression, Expression)
  }

  package let expression: Expression
  /// The search as given.
  package let text: String

  /// The maximum number of terms, and the maximum nesting of parentheses.
  package static let maximumTerms = 1_000
  package static let maximumDepth = 50

  /// - Throws: ``Failure`` if the search does not parse.
  package init(_ text: String) throws(Failure) {
    var parser = TextSearchParser(text)
    expression = try parser.parse()
    self.text = text
  }

  /// The expression for an index: a name before a phrase that is not one of its fields is a word.
  ///
  /// ```
  /// cat NOT none:"a hat"   →   (cat NOT none) "a hat"
  /// ```
  func expression(where isField: @escaping (String) -> Bool) -> Expression {
    guard expression.terms.contains(where: { $0.isPhrase && $0.field.map(isField) == false }) else {
      return expression
    }
    var parser = TextSearchParser(text, isField: isField)
    // It only fails if the words make it too long.
    return (try? parser.parse()) ?? expression
  }

  /// The fields that its terms name.
  package var fields: Set<FieldPath> {
    Set(expression.terms.compactMap { $0.field.flatMap { try? FieldPath($0) } })
  }

  /// An error in a search.
  package enum Failure: Error, Hashable {
    case emptyParentheses
    case openQuote
    case openParenthesis
    case closingParenthesis
    case missingOperand(String)
    case invalidDistance(String)
    case nearNeedsTerms
    case tooManyTerms
    case tooDeep
  }
}

extension TextSearch.Expression {
  fileprivate var terms: [TextSearch.Term] {
    switch self {
    case .term(let term): [term]
    case .near(let terms, _): terms
    case .and(let members), .or(let members): members.flatMap(\.terms)
    case .not(let wanted, let unwanted): wanted.terms + unwanted.terms
    }
  }
}
