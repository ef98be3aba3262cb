import CDTPlatform

/// The boundary of a multipart body: 1 to 70 characters of RFC 2046, the last one not a space.
package struct MultipartBoundary: Sendable, Hashable {
  package static let maximumLength = 70

  package let text: String

  /// - Returns: `nil` if the text can't be a boundary.
  package init?(_ text: String) {
    let bytes = text.utf8
    guard !bytes.isEmpty, bytes.count <= Self.maximumLength, bytes.allSatisfy(Self.isAllowed),
      bytes.last != UInt8(ascii: " ")
    else { return nil }
    self.text = text
  }

  /// Reads the boundary from the Content-Type of a multipart body, in which it may be quoted.
  ///
  /// - Throws: ``CouchError`` with status 400 if the type is not `multipart/related`, `multipart/mixed` or
  ///   `multipart/form-data`, or does not have exactly one valid boundary.
  package init(contentType: String) throws(CouchError) {
    let type = String(contentType.prefix { $0 != ";" })
    guard let type = HeaderValue(type), Self.types.contains(type.value) else {
      throw .notMultipart(contentType)
    }
    let boundaries = HeaderValue(contentType)?.parameters.filter { $0.name == "boundary" } ?? []
    guard boundaries.count == 1, let boundary = boundaries.first.flatMap({ Self($0.value) }) else {
      throw .invalidBoundary(contentType)
    }
    self = boundary
  }

  /// Generates a boundary of 32 random hexadecimal digits.
  package static func random() -> Self {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  /// Generates a boundary from given random numbers.
  package static func random(using generator: inout some RandomNumberGenerator) -> Self {
    Self(digits: Hexadecimal.text(generator.next()) + Hexadecimal.text(generator.next()))
  }

  private init(digits: String) {
    text = digits
  }

  private static let types: Set = ["multipart/related", "multipart/mixed", "multipart/form-data"]

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || "'()+_,-./:=? ".utf8.contains(byte)
  }
}
