import SQLite

/// How a text index cuts text into words.
///
/// Source: `docs/query.md`, Text search.
public enum TextTokenizerName: String, Sendable, Hashable, CaseIterable {
  /// Letters, digits and everything beyond ASCII make words; ASCII letters match in either case.
  case simple
  /// As `simple`, and English words match by their stems: *running* finds *run*.
  case porter
  /// Words by Unicode's classes; case and accents do not count.
  case unicode61
  /// Every three characters: a word matches anywhere within words, if it has three characters.
  case trigram

  /// SQLite's name for it, and what that takes.
  var arguments: [String] {
    switch self {
    case .simple: ["ascii"]
    case .porter: ["porter", "ascii"]
    case .unicode61: ["unicode61"]
    case .trigram: ["trigram"]
    }
  }

  func makeTokenizer() throws(SQLiteError) -> TextTokenizer {
    try TextTokenizer(arguments[0], arguments.dropFirst().first)
  }
}

/// What a text search is asked of: the fields of a text index, and how it cuts words.
package struct TextContext: Sendable {
  package let fields: [FieldPath]
  package let tokenizerName: TextTokenizerName

  package init(_ definition: IndexDefinition) {
    fields = definition.fields.map(\.fieldPath)
    tokenizerName = definition.tokenizer
  }
}
