/// Splits text into words, as the tokenizer of a text index does.
package protocol WordTokenizer: Sendable {
  /// Splits text into tokens, in order.
  func tokens(of text: UnsafeRawBufferPointer) -> [TextToken]
}

/// A token and its byte range in the text.
package typealias TextToken = (text: [UInt8], range: Range<Int>)

extension WordTokenizer {
  /// A token for each character of a text, by a tokenizer of trigrams: the character and the two that follow. Its range is that of the
  /// character. The last two tokens end with padding.
  func characters(of text: [UInt8]) -> [TextToken] {
    guard !text.isEmpty else { return [] }
    let padded = text + trigramPadding
    let tokens = padded.withUnsafeBytes { self.tokens(of: $0) }
    return tokens.indices.map { index in
      let end = index + 1 < tokens.count ? tokens[index + 1].range.lowerBound : text.count
      return (tokens[index].text, tokens[index].range.lowerBound..<end)
    }
  }
}

/// The bytes that make a trigram of the last characters of a text.
let trigramPadding: [UInt8] = [1, 1]
