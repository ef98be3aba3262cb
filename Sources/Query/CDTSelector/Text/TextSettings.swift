/// The tokenizer of a text index, which splits text into words.
///
/// Source: `docs/query.md`, Text search.
public enum TextTokenizerName: String, Sendable, Hashable, CaseIterable {
  /// Words consist of letters, digits and non-ASCII characters; ASCII letters match regardless of case.
  case simple
  /// Like `simple`, and English words match by their stems: *running* finds *run*.
  case porter
  /// Words by Unicode's categories; case and accents are ignored.
  case unicode61
  /// Every three characters: a word matches anywhere within words. Of a search for words of one or two characters alone, every document
  /// is read.
  case trigram
}

/// The settings of a text search: the fields of a text index and its tokenizer.
package struct TextContext: Sendable {
  package let fields: [FieldPath]
  package let tokenizerName: TextTokenizerName

  package init(fields: [FieldPath], _ tokenizerName: TextTokenizerName) {
    self.fields = fields
    self.tokenizerName = tokenizerName
  }
}
