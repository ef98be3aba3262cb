/// A search as FTS5 takes it: every word of the user's is quoted, so nothing of it is read as syntax.
///
/// ```
/// title:cat "in the hat" NOT dog   →   (c0 : "cat") AND (("in the hat") NOT ("dog"))
/// ```
///
/// FTS5 knows no array elements, so a phrase may be found across two of them; such an answer holds every match and is
/// put to the matcher.
extension TextProgram {
  /// The text to match, or `nil` when nothing can.
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
      // What is taken away must not be more than what is meant.
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

  /// Whether FTS5's answer needs no matcher.
  var isExact: Bool {
    switch self {
    case .term(let term): term.tokens.count == 1
    case .near: false
    case .and(let members), .or(let members): members.allSatisfy(\.isExact)
    case .not(let wanted, let unwanted): wanted.isExact && unwanted.isExact
    }
  }
}
