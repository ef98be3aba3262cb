import CDTPlatform

/// Writes a multipart body: for each part `begin`, then its bytes; after the last one `end`.
///
/// ```swift
/// var writer = MultipartWriter()
/// let type = writer.contentType("multipart/related")
/// try await send(writer.begin(.document) + document)
/// try await send(writer.begin(.attachment(named: "cat.jpg", contentType: "image/jpeg", length: 2_048)))
/// try await send(picture)
/// try await send(writer.end())
/// ```
package struct MultipartWriter: Sendable {
  package let boundary: MultipartBoundary
  private var hasParts = false

  package init(boundary: MultipartBoundary = .random()) {
    self.boundary = boundary
  }

  /// The value of the Content-Type of the body.
  ///
  /// - Parameter type: Such as `multipart/related`.
  package func contentType(_ type: String) -> String {
    "\(type); boundary=\"\(boundary.text)\""
  }

  /// The bytes before the content of a part.
  package mutating func begin(_ head: MultipartHead) -> [UInt8] {
    defer { hasParts = true }
    return Array((hasParts ? "\r\n--" : "--").utf8) + Array(boundary.text.utf8) + [0x0D, 0x0A] + head.bytes
  }

  /// The bytes after the last part.
  package func end() -> [UInt8] {
    Array((hasParts ? "\r\n--" : "--").utf8) + Array(boundary.text.utf8) + Array("--".utf8)
  }

  /// The number of bytes of a body with these parts, for its Content-Length; `nil` if it exceeds an `Int64` or a length
  /// is negative.
  package func contentLength(of parts: [(head: MultipartHead, length: Int64)]) -> Int64? {
    var writer = MultipartWriter(boundary: boundary)
    var total: Int64 = 0
    for part in parts {
      guard part.length >= 0, Self.add(Int64(writer.begin(part.head).count), to: &total),
        Self.add(part.length, to: &total)
      else { return nil }
    }
    return Self.add(Int64(writer.end().count), to: &total) ? total : nil
  }

  private static func add(_ count: Int64, to total: inout Int64) -> Bool {
    let (sum, overflow) = total.addingReportingOverflow(count)
    total = sum
    return !overflow
  }
}

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
