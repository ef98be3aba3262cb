import CDTSQLite

extension TextTokenizerName {
  /// SQLite's name of the tokenizer and its arguments.
  var arguments: [String] {
    switch self {
    case .simple: ["ascii"]
    case .porter: ["porter", "ascii"]
    case .unicode61: ["unicode61"]
    case .trigram: ["trigram"]
    }
  }
}

extension TextTokenizer: WordTokenizer {}

extension IndexDefinition {
  /// Whether SQLite can keep the index: a text index needs FTS5.
  var isUsable: Bool { type != .text || SQLiteLibrary.hasFullText }

  /// Throws if SQLite can't keep the index.
  func checkUsable() throws(QueryError) {
    if !isUsable { throw .textIndexUnavailable(Self.unusableReason) }
  }

  static var unusableReason: String { "SQLite \(SQLiteLibrary.version) was built without FTS5" }

  /// Whether a search can name a field; every text index has `_id`.
  func searches(_ field: FieldPath) -> Bool {
    field.documentField == .id || fields.contains { $0.fieldPath == field }
  }
}

extension TextProgram {
  /// The program of a clause's search, if any.
  ///
  /// - Throws: ``QueryError`` if there is no text index.
  package static func of(_ clause: Clause, _ index: IndexDefinition?) throws(QueryError) -> TextProgram? {
    guard let search = clause.textSearch else { return nil }
    guard let index, let tokenizer = index.options.tokenizer else { throw QueryError(.textWithoutIndex) }
    try index.checkUsable()
    let arguments = tokenizer.arguments
    do {
      return TextProgram(
        search, in: TextContext(fields: index.fields.map(\.fieldPath), tokenizer),
        try TextTokenizer(arguments[0], arguments.dropFirst().first))
    } catch {
      throw .textIndexUnavailable(error.message)
    }
  }
}
