/// Cuts snippets from a text.
struct TextFragments {
  private let text: [UInt8]
  private let field: String
  /// The bytes of each token.
  private let tokens: [Range<Int>]
  private let options: SnippetOptions

  init(_ text: [UInt8], of field: String, tokens: [Range<Int>], _ options: SnippetOptions) {
    (self.text, self.field, self.tokens, self.options) = (text, field, tokens, options)
  }

  /// The snippets around matches, which are ranges of tokens in their order. A snippet has every match that fits into it.
  func snippets(around matches: [Range<Int>], atMost limit: Int) -> [TextSnippet] {
    var snippets: [TextSnippet] = []
    var rest = matches[...]
    var end = 0
    while snippets.count < limit, let match = rest.first {
      let first = min(match.lowerBound, max(end, match.lowerBound - options.words))
      end = min(tokens.count, match.upperBound + options.words)
      let inside = rest.prefix { [end] in $0.upperBound <= end }
      guard !inside.isEmpty else { break }
      snippets.append(snippet(of: first..<end, marked(inside)))
      rest = rest.dropFirst(inside.count)
    }
    return snippets
  }

  /// The bytes of matches; those that overlap are one.
  private func marked(_ matches: ArraySlice<Range<Int>>) -> [Range<Int>] {
    matches.reduce(into: []) { ranges, match in
      let range = tokens[match.lowerBound].lowerBound..<tokens[match.upperBound - 1].upperBound
      guard let last = ranges.last, range.lowerBound < last.upperBound else { return ranges.append(range) }
      ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
    }
  }

  private func snippet(of part: Range<Int>, _ ranges: [Range<Int>]) -> TextSnippet {
    let isWhole = (start: part.lowerBound == 0, end: part.upperBound == tokens.count)
    var bytes = isWhole.start ? [] : Self.ellipsis
    var place = isWhole.start ? 0 : tokens[part.lowerBound].lowerBound
    var marks: [Range<Int>] = []
    for range in ranges {
      bytes += text[place..<range.lowerBound] + Array(options.before.utf8)
      marks.append(bytes.count..<bytes.count + range.count)
      bytes += text[range] + Array(options.after.utf8)
      place = range.upperBound
    }
    bytes += text[place..<(isWhole.end ? text.count : tokens[part.upperBound - 1].upperBound)]
    if !isWhole.end { bytes += Self.ellipsis }
    return TextSnippet(field: field, text: String(decoding: bytes, as: UTF8.self), ranges: marks)
  }

  private static let ellipsis = Array("…".utf8)
}
