import CDTJSON
import CDTSQLite

/// A search split into tokens for one text index, which the matcher evaluates on a document's words.
///
/// A word with several tokens, as *he's* with *he* and *s*, requires all of them; with trigrams, consecutively. A word
/// without tokens, such as punctuation, is ignored.
package final class TextProgram: Sendable {
  /// Consecutive tokens.
  struct Term: Sendable, Hashable {
    let tokens: [[UInt8]]
    /// Whether the last token is a prefix.
    let isPrefix: Bool
    /// The only field to search; `nil` is every field and the id.
    let field: Int?
    /// The text that FTS5 splits into the same tokens.
    let spelling: String
  }

  indirect enum Node: Sendable, Hashable {
    case term(Term)
    case near([Term], distances: [Int])
    case and([Node])
    case or([Node])
    case not(Node, Node)
  }

  /// `nil` if the search has no words, so that nothing matches.
  let root: Node?
  let context: TextContext
  let tokenizer: TextTokenizer

  /// - Throws: ``SQLiteError`` if SQLite lacks the tokenizer.
  init(_ search: TextSearch, in context: TextContext) throws(SQLiteError) {
    self.context = context
    tokenizer = try context.tokenizerName.makeTokenizer()
    root = Compiler(context: context, tokenizer: tokenizer).node(search.expression)
  }

  /// The program of a clause's search, if any.
  ///
  /// - Throws: ``QueryError`` if there is no text index.
  static func of(_ clause: Clause, _ index: IndexDefinition?, store: String? = nil) throws(QueryError)
    -> TextProgram?
  {
    guard let search = clause.textSearch else { return nil }
    guard let index, index.type == .text else { throw .textWithoutIndex(store: store) }
    do {
      return try TextProgram(search, in: TextContext(index))
    } catch {
      throw .textIndexUnavailable(error.message)
    }
  }

  private struct Compiler {
    let context: TextContext
    let tokenizer: TextTokenizer

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
            spelling: Self.slice(text, token.range)))
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
      _ text: String, _ tokens: [TextTokenizer.Token], _ term: TextSearch.Term, _ field: Int?
    ) -> Term? {
      guard !tokens.isEmpty else { return nil }
      let isTrigram = context.tokenizerName == .trigram
      let spelling =
        isTrigram
        ? text
        : tokens.map { Self.slice(text, $0.range) }.joined(separator: " ")
      return Term(
        tokens: tokens.map(\.text), isPrefix: term.isPrefix && !isTrigram, field: field, spelling: spelling)
    }

    /// The field of a term and the rest of its text. A name that is not a field is part of the word.
    private func resolve(_ term: TextSearch.Term) -> (field: Int?, text: String) {
      let text = Self.searchable(term.text)
      guard let name = term.field else { return (nil, text) }
      guard let field = number(ofField: name) else {
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

    private func number(ofField name: String) -> Int? {
      if name == "_id" { return context.fields.count }
      guard let path = try? FieldPath(name) else { return nil }
      return context.fields.firstIndex(of: path)
    }

    private func tokens(of text: String) -> [TextTokenizer.Token] {
      var text = text
      return text.withUTF8 { tokenizer.tokens(of: UnsafeRawBufferPointer($0)) }
    }

    private static func slice(_ text: String, _ range: Range<Int>) -> String {
      String(decoding: Array(text.utf8)[range], as: UTF8.self)
    }
  }
}
