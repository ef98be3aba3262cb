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
