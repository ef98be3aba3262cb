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
    var encoded: [UInt8] = []
    encoded.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if isUnreserved(byte), !isDots {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
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
        guard let high = bytes.next().flatMap(hexValue), let low = bytes.next().flatMap(hexValue)
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

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  private static func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
