/// A `$search`, parsed: what must occur, before words are cut into tokens.
///
/// ```
/// title:cat "in the hat" NOT dog   →   (title:cat) AND ("in the hat" NOT dog)
/// ```
package struct TextSearch: Sendable, Hashable {
  /// A word, a prefix or a phrase, perhaps in one field only.
  package struct Term: Sendable, Hashable {
    package var text: String
    package var isPhrase = false
    package var isPrefix = false
    /// The field's path as it is written before the colon.
    package var field: String?
  }

  package indirect enum Expression: Sendable, Hashable {
    case term(Term)
    /// Terms in a row, each at most so many words from the next.
    case near([Term], distances: [Int])
    case and([Expression])
    case or([Expression])
    case not(Expression, Expression)
  }

  package let expression: Expression
  /// The search as it was given.
  package let text: String

  /// How many terms a search may have, and how deep parentheses may nest.
  package static let maximumTerms = 1_000
  package static let maximumDepth = 50

  /// - Throws: ``Failure`` for a search that does not parse.
  package init(_ text: String) throws(Failure) {
    var parser = TextSearchParser(text)
    expression = try parser.parse()
    self.text = text
  }

  /// Why a search was refused.
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
