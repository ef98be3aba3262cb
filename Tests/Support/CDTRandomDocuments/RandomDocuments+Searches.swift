import CDTJSON

extension RandomDocuments {
  private static let vocabulary = [
    "cat", "Cats", "running", "run", "hat", "he's", "Käse", "kase", "a", "naïve", "12:30", "x-y", "😀", "日本語",
    "cat\u{0}dog", "o'\"neil", "title", "AND", "not", "ox", "Ox", "健康", "注意健康和护城河", "护城河", "é",
  ]

  /// Pieces of FTS5's syntax and of ours, which no search may pass on to SQLite.
  private static let syntax = [
    "\"", "*", "(", ")", "^", ":", "+", "-", "{", "}", "[", "]", "'", "''", "\"\"", "AND", "OR", "NOT",
    "NEAR",
    "NEAR(", "NEAR/", "NEAR/2", "c0", "c0:", "c0 :", "{c0 c1}:", "id:", "_id:", "text_1", "rank", "sequence",
    "\u{0}",
    "\\", "é", ";", "--", "cat", " ", " ", "\n", "title:", "a:", "/*", ",", "% ?1", "e\u{301}",
  ]

  package mutating func word() -> String { pick(Self.vocabulary) }

  /// Text of some words.
  package mutating func words(below bound: Int = 7) -> String {
    (0..<number(below: bound)).map { _ in word() }.joined(separator: pick([" ", ", ", "\n"]))
  }

  /// A `$search` that mostly parses.
  package mutating func search(depth: Int = 0) -> String {
    if scope == .everything, depth == 0, chance(15) { return syntaxSearch() }
    var text = searchUnit(depth: depth)
    for _ in 0..<number(below: 3) {
      text += pick([" ", " AND ", " OR ", " NOT ", " NEAR ", " NEAR/1 "]) + searchUnit(depth: depth)
    }
    return text
  }

  /// Pieces of syntax in a row.
  package mutating func syntaxSearch() -> String {
    (0..<number(below: 9)).map { _ in pick(Self.syntax) }.joined()
  }

  private mutating func searchUnit(depth: Int) -> String {
    let field =
      chance(20) ? pick(["title:", "body:", "a:", "b:", "x\\.y:", "_id:", "none:"]) : ""
    switch number(below: 6) {
    case 0: return "\(field)\"\(unquotedWord()) \(pick(["cat", "hat", "x"]))\""
    case 1: return "\(field)\(pick(["ca", "ru", "Kä", "1", "日", "健康", "o"]))*"
    case 2 where depth < 3: return "(\(search(depth: depth + 1)))"
    default: return field + unquotedWord()
    }
  }

  private mutating func unquotedWord() -> String { word().split(separator: "\"").joined() }
}
