public import CDTDatastore
import CDTJSON

/// A part of a document's text with words that a search has found.
///
/// Source: `docs/query.md`, Snippets.
public struct TextSnippet: Sendable, Hashable {
  /// The path of the field, or `_id`.
  public let field: String
  /// The words around the matches, with the marks of ``SnippetOptions``. An ellipsis stands for what precedes and follows.
  public let text: String
  /// Where the matches are, without their marks: offsets in the UTF-8 of ``text``.
  public let ranges: [Range<Int>]

  /// The member of results with their snippets.
  package static let member = "_snippets"

  package var json: JSONValue {
    [
      "field": .string(field), "text": .string(text),
      "ranges": .array(ranges.map { [.int(Int64($0.lowerBound)), .int(Int64($0.upperBound))] }),
    ]
  }

  init(field: String, text: String, ranges: [Range<Int>]) {
    (self.field, self.text, self.ranges) = (field, text, ranges)
  }

  fileprivate init?(json: JSONValue) {
    guard let field = json["field"]?.stringValue, let text = json["text"]?.stringValue else { return nil }
    let ranges = (json["ranges"]?.arrayValue ?? []).compactMap { pair -> Range<Int>? in
      guard let lower = pair[0]?.intValue, let upper = pair[1]?.intValue, lower <= upper else { return nil }
      return lower..<upper
    }
    self.init(field: field, text: text, ranges: ranges)
  }
}

extension DocumentRevision {
  /// The snippets of a result of a query that asks for them, which are the member `_snippets` of its body; empty for any other
  /// document. Like a result with some of its fields, it can't be saved.
  public var snippets: [TextSnippet] {
    (body[TextSnippet.member]?.arrayValue ?? []).compactMap(TextSnippet.init)
  }
}
