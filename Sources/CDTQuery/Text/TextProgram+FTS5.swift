/// A search in FTS5's syntax, with every word quoted so that none is parsed as syntax.
///
/// ```
/// title:cat "in the hat" NOT dog   →   (c0 : "cat") AND (("in the hat") NOT ("dog"))
/// ```
///
/// FTS5 has no array elements, so a phrase may match across two of them; such results include every match and are
/// checked by the matcher.
extension TextProgram {
  /// The text to match, or `nil` if nothing can match.
  var fullTextQuery: (text: String, isExact: Bool)? {
    root.map { ($0.text(idColumn: context.fields.count), $0.isExact) }
  }

  /// The column of a field in the FTS5 table.
  static func column(_ field: Int, of fields: Int) -> String {
    field == fields ? "id" : "c\(field)"
  }
}

extension TextProgram.Node {
  fileprivate func text(idColumn: Int) -> String {
    switch self {
    case .term(let term): Self.text(term, idColumn)
    case .near(let terms, _): terms.map { "(\(Self.text($0, idColumn)))" }.joined(separator: " AND ")
    case .and(let members): members.map { "(\($0.text(idColumn: idColumn)))" }.joined(separator: " AND ")
    case .or(let members): members.map { "(\($0.text(idColumn: idColumn)))" }.joined(separator: " OR ")
    case .not(let wanted, let unwanted):
      // The excluded part must not exclude more than the search means.
      unwanted.isExact
        ? "(\(wanted.text(idColumn: idColumn))) NOT (\(unwanted.text(idColumn: idColumn)))"
        : wanted.text(idColumn: idColumn)
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
    case .term(let term): term.tokens.count == 1
    case .near: false
    case .and(let members), .or(let members): members.allSatisfy(\.isExact)
    case .not(let wanted, let unwanted): wanted.isExact && unwanted.isExact
    }
  }
}
