package import CDTJSON

/// The options for the text around matches of `$text` that a query returns with each document.
///
/// ```swift
/// var query = try Query(["$text": ["$search": "cat"]], sort: [.score])
/// query.snippets = SnippetOptions(words: 3, before: "<b>", after: "</b>")
/// for hat in try store.read({ try $0.find(query) }) {
///   print(hat.id, hat.snippets.map(\.text))  // hat ["The <b>Cat</b> in the Hat"]
/// }
/// ```
///
/// See <doc:QueryingDocuments#Snippets>.
public struct SnippetOptions: Sendable, Hashable {
  /// The maximum of ``words`` and ``limit``, and of the length of a mark in bytes.
  package static let maximum = 100

  /// The number of words on each side of a match. In an index with the tokenizer `trigram` it is that of characters.
  public var words: Int
  /// The marks that are put before and after each match.
  public var before: String, after: String
  /// The maximum number of snippets of a document.
  public var limit: Int

  /// Creates options; ``Query`` validates them when it is used.
  public init(words: Int = 8, before: String = "", after: String = "", limit: Int = 3) {
    (self.words, self.before, self.after, self.limit) = (words, before, after, limit)
  }

  /// Throws for numbers out of range, and marks that are too long.
  package func check() throws(QueryError) {
    for (key, value, least) in [
      ("words", words, 0), ("limit", limit, 1), ("before", before.utf8.count, 0),
      ("after", after.utf8.count, 0),
    ] where !(least...Self.maximum).contains(value) {
      throw QueryError(.snippetOption(key, least: least))
    }
  }

  /// Reads the member `snippets` of a request: `true`, or an object with the options.
  package init?(json: JSONValue?) throws(QueryError) {
    self.init()
    switch json {
    case nil, .null?, false?: return nil
    case true?: return
    case .object(let members)?:
      for (key, value) in members {
        switch (key, value.intValue, value.stringValue) {
        case ("words", let number?, _): words = number
        case ("limit", let number?, _): limit = number
        case ("before", _, let text?): before = text
        case ("after", _, let text?): after = text
        default: throw QueryError(.invalidSnippets(.object(members)))
        }
      }
      try check()
    case .some(let found): throw QueryError(.invalidSnippets(found))
    }
  }

  package var json: JSONValue {
    [
      "words": .int(Int64(words)), "before": .string(before), "after": .string(after),
      "limit": .int(Int64(limit)),
    ]
  }
}
