import CDTPlatform

/// Percent-encoding of path segments and of the parts of a query string, as CouchDB reads them.
///
/// ```swift
/// PercentCoding.encode("a/b +c")  // a%2Fb%20%2Bc
/// try PercentCoding.decode("a%2Fb+c")  // a/b c
/// ```
package enum PercentCoding {
  /// Encodes a path segment, or a name or value of a query: everything but letters, digits and `-._~`.
  ///
  /// `.` and `..` are encoded as well, as clients remove such segments from a path.
  package static func encode(_ text: String) -> String {
    let isDots = text == "." || text == ".."
    return text.percentEncoded(keeping: isDots ? "" : "-._~")
  }

  /// Decodes a path segment, or a name or value of a query, once. A `+` is a space.
  ///
  /// Split the path or the query string first: a decoded `/` or `&` is part of its segment.
  ///
  /// - Throws: ``CouchError`` with status 400 if a `%` is not followed by two hexadecimal digits, or the bytes are not
  ///   UTF-8.
  package static func decode(_ text: some StringProtocol) throws(CouchError) -> String {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(text.utf8.count)
    var bytes = text.utf8.makeIterator()
    while let byte = bytes.next() {
      switch byte {
      case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = bytes.next().flatMap(Hexadecimal.value),
          let low = bytes.next().flatMap(Hexadecimal.value)
        else {
          throw .invalidPercentEncoding(String(text))
        }
        decoded.append(high << 4 | low)
      default: decoded.append(byte)
      }
    }
    guard let string = String(validating: decoded, as: UTF8.self) else {
      throw .urlNotUTF8(String(text))
    }
    return string
  }
}
