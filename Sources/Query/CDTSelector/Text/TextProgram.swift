/// A search split into tokens for one text index, which the matcher evaluates on a document's words.
///
/// A word with several tokens, as *he's* with *he* and *s*, requires all of them; with trigrams, consecutively. A word
/// without tokens, such as punctuation, is ignored. With trigrams, a word of one or two characters has no token in FTS5, so only the
/// matcher looks for it.
package final class TextProgram: Sendable {
  /// Consecutive tokens.
  package struct Term: Sendable, Hashable {
    package let tokens: [[UInt8]]
    /// Whether the last token is a prefix.
    package let isPrefix: Bool
    /// The only field to search; `nil` is every field and the id.
    package let field: Int?
    /// The text that FTS5 splits into the same tokens.
    package let spelling: String
    /// The number of tokens of a text that it covers. With trigrams a token of a text is a character and the two that follow.
    let width: Int
    /// Whether FTS5 can look for it.
    package var isIndexed = true
  }

  package indirect enum Node: Sendable, Hashable {
    case term(Term)
    case near([Term], distances: [Int])
    case and([Node])
    case or([Node])
    case not(Node, Node)
  }

  /// `nil` if the search has no words, so that nothing matches.
  package let root: Node?
  package let context: TextContext
  let tokenizer: any WordTokenizer

  package init(_ search: TextSearch, in context: TextContext, _ tokenizer: any WordTokenizer) {
    self.context = context
    self.tokenizer = tokenizer
    let fields = context.fields
    let expression = search.expression { fields.number(of: $0) != nil }
    root = Compiler(context: context, tokenizer: tokenizer).node(expression)
  }

  private struct Compiler {
    let context: TextContext
    let tokenizer: any WordTokenizer

    func node(_ expression: TextSearch.Expression) -> Node? {
      switch expression {
      case .term(let term): return word(term)
      case .near(let terms, let distances): return near(terms, distances)
      case .and(let members): return joined(members.compactMap(node), Node.and)
      case .or(let members): return joined(members.compactMap(node), Node.or)
      case .not(let wanted, let unwanted):
        guard let wanted = node(wanted) else { return nil }
        return node(unwanted).map { .not(wanted, $0) } ?? wanted
      }
    }

    private func joined(_ members: [Node], _ join: ([Node]) -> Node) -> Node? {
      members.count > 1 ? join(members) : members.first
    }

    private func word(_ term: TextSearch.Term) -> Node? {
      let (field, text) = resolve(term)
      let tokens = tokens(of: text)
      if term.isPhrase || context.tokenizerName == .trigram {
        return phrase(text, tokens, term, field).map(Node.term)
      }
      let words = tokens.enumerated().map { number, token in
        Node.term(
          Term(
            tokens: [token.text], isPrefix: term.isPrefix && number == tokens.count - 1, field: field,
            spelling: Self.slice(text, token.range), width: 1))
      }
      return joined(words, Node.and)
    }

    private func near(_ terms: [TextSearch.Term], _ distances: [Int]) -> Node? {
      var phrases: [Term] = []
      var kept: [Int] = []
      for (number, term) in terms.enumerated() {
        let (field, text) = resolve(term)
        guard let phrase = phrase(text, tokens(of: text), term, field) else { continue }
        if !phrases.isEmpty { kept.append(distances[number - 1]) }
        phrases.append(phrase)
      }
      guard let first = phrases.first else { return nil }
      return phrases.count > 1 ? .near(phrases, distances: kept) : .term(first)
    }

    private func phrase(
      _ text: String, _ tokens: [TextToken], _ term: TextSearch.Term, _ field: Int?
    ) -> Term? {
      if context.tokenizerName == .trigram { return characters(text, tokens, field) }
      guard !tokens.isEmpty else { return nil }
      return Term(
        tokens: tokens.map(\.text), isPrefix: term.isPrefix, field: field,
        spelling: tokens.map { Self.slice(text, $0.range) }.joined(separator: " "), width: tokens.count)
    }

    /// Consecutive characters.
    private func characters(_ text: String, _ tokens: [TextToken], _ field: Int?) -> Term? {
      guard tokens.isEmpty else {
        return Term(
          tokens: tokens.map(\.text), isPrefix: false, field: field, spelling: text,
          width: tokens.count + trigramPadding.count)
      }
      let padded = tokenizer.characters(of: Array(text.utf8))
      guard let first = padded.first else { return nil }
      // What follows the text in the token of its first character is padding.
      let missing = trigramPadding.count + 1 - padded.count
      return Term(
        tokens: [Array(first.text.dropLast(missing))], isPrefix: true, field: field, spelling: text,
        width: padded.count, isIndexed: false)
    }

    /// The field of a term and the rest of its text. A name that is not a field is part of the word.
    private func resolve(_ term: TextSearch.Term) -> (field: Int?, text: String) {
      let text = Self.searchable(term.text)
      guard let name = term.field else { return (nil, text) }
      guard let field = context.fields.number(of: name) else {
        return (nil, term.isPhrase ? "\(name) \(text)" : text)
      }
      return (
        field,
        term.isPhrase
          ? text : String(decoding: text.utf8.dropFirst(name.utf8.count + 1), as: UTF8.self)
      )
    }

    private static func searchable(_ text: String) -> String {
      var text = text
      return text.withUTF8 {
        String(decoding: TextContext.searchable(UnsafeRawBufferPointer($0)), as: UTF8.self)
      }
    }

    private func tokens(of text: String) -> [TextToken] {
      var text = text
      return text.withUTF8 { tokenizer.tokens(of: UnsafeRawBufferPointer($0)) }
    }

    private static func slice(_ text: String, _ range: Range<Int>) -> String {
      String(decoding: Array(text.utf8)[range], as: UTF8.self)
    }
  }
}

extension [FieldPath] {
  /// The number of the field with a name; that of the id is the number of the fields.
  fileprivate func number(of name: String) -> Int? {
    if name == "_id" { return count }
    guard let path = try? FieldPath(name) else { return nil }
    return firstIndex(of: path)
  }
}
