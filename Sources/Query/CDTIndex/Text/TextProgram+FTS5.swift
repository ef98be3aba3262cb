/// A search in FTS5's syntax, with every word quoted so that none is parsed as syntax.
///
/// ```
/// title:cat "in the hat" NOT dog   →   (c0 : "cat") AND (("in the hat") NOT ("dog"))
/// ```
///
/// FTS5 has no array elements, so a phrase may match across two of them; such results include every match and are
/// checked by the matcher.
extension TextProgram {
  /// The text to match, or `nil` if FTS5 can't narrow the documents.
  package var fullTextQuery: (text: String, isExact: Bool)? {
    root.flatMap { root in
      root.text(idColumn: context.fields.count).map { ($0, root.isExact) }
    }
  }

  /// The column of a field in the FTS5 table.
  static func column(_ field: Int, of fields: Int) -> String {
    field == fields ? "id" : "c\(field)"
  }
}

extension TextProgram.Node {
  /// The text of documents among which all matches are; `nil` if any document can match.
  fileprivate func text(idColumn: Int) -> String? {
    switch self {
    case .term(let term): return term.isIndexed ? Self.text(term, idColumn) : nil
    case .near(let terms, _):
      return TextProgram.Node.and(terms.map(TextProgram.Node.term)).text(idColumn: idColumn)
    case .and(let members):
      let texts = members.compactMap { $0.text(idColumn: idColumn) }
      return texts.isEmpty ? nil : texts.map { "(\($0))" }.joined(separator: " AND ")
    case .or(let members):
      let texts = members.compactMap { $0.text(idColumn: idColumn) }
      return texts.count < members.count ? nil : texts.map { "(\($0))" }.joined(separator: " OR ")
    case .not(let wanted, let unwanted):
      guard let text = wanted.text(idColumn: idColumn) else { return nil }
      // The excluded part must not exclude more than the search means.
      guard unwanted.isExact, let excluded = unwanted.text(idColumn: idColumn) else { return text }
      return "(\(text)) NOT (\(excluded))"
    }
  }

  private static func text(_ term: TextProgram.Term, _ idColumn: Int) -> String {
    let column = term.field.map { TextProgram.column($0, of: idColumn) + " : " } ?? ""
    let quoted = term.spelling.split(separator: "\"", omittingEmptySubsequences: false).joined(
      separator: "\"\"")
    return column + "\"\(quoted)\"" + (term.isPrefix ? " *" : "")
  }

  /// Whether FTS5's results need no check by the matcher.
  var isExact: Bool {
    switch self {
    // A phrase with a line feed may match across two elements.
    case .term(let term):
      term.isIndexed && term.tokens.count == 1 && !term.spelling.utf8.contains(UInt8(ascii: "\n"))
    case .near: false
    case .and(let members), .or(let members): members.allSatisfy(\.isExact)
    case .not(let wanted, let unwanted): wanted.isExact && unwanted.isExact
    }
  }
}
