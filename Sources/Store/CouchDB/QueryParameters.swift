package import CDTDatastore
package import CDTJSON
import CDTPlatform

/// The parameters of a request's query, with CouchDB's rules for their values. The last of several wins.
package struct QueryParameters: Sendable {
  private let values: [KeyBytes: String]

  /// Reads the text between `?` and `#` of a URL, or a form.
  ///
  /// - Throws: ``CouchError`` with status 400; see ``PercentCoding/decode(_:)``.
  package init(_ query: String) throws(CouchError) {
    var values: [KeyBytes: String] = [:]
    for (name, value) in try Self.pairs(query) { values[KeyBytes(name)] = value }
    self.values = values
  }

  /// The names and values in their written order. As at CouchDB, `&` and `;` separate parameters, and a parameter without `=` has
  /// an empty value. Empty parameters are skipped.
  package static func pairs(_ text: some StringProtocol) throws(CouchError) -> [(name: String, value: String)]
  {
    var pairs: [(name: String, value: String)] = []
    for part in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }) {
      let name = part.prefix { $0 != UInt8(ascii: "=") }
      let value = part.dropFirst(name.count + 1)
      pairs.append(
        (
          try PercentCoding.decode(Substring(decoding: name, as: UTF8.self)),
          try PercentCoding.decode(Substring(decoding: value, as: UTF8.self))
        ))
    }
    return pairs
  }

  package subscript(name: String) -> String? { values[KeyBytes(name)] }

  /// Each value as JSON, or as a string if it isn't.
  ///
  /// - Parameter names: The parameters that must be JSON.
  package func members(areJSON names: Set<String>) throws(CouchError) -> JSONObject {
    var members = JSONObject()
    for (key, value) in values {
      let name = key.string
      members[name] =
        names.contains(name) ? try json(name) : (try? JSONValue(parsing: value)) ?? .string(value)
    }
    return members
  }

  /// Whether a parameter is `true`. As at CouchDB, any other value is ignored.
  package func flag(_ name: String) -> Bool { self[name] == "true" }

  /// A number that is not negative.
  package func count(_ name: String) throws(CouchError) -> Int? {
    guard let value = self[name] else { return nil }
    guard let number = Int(value), number >= 0 else {
      throw .invalidParameter(name, value, expected: "a number that is not negative")
    }
    return number
  }

  /// A JSON value, under one of several names.
  package func json(_ names: String...) throws(CouchError) -> JSONValue? {
    guard let name = names.first(where: { self[$0] != nil }), let value = self[name] else { return nil }
    do throws(JSONError) {
      return try JSONValue(parsing: value)
    } catch {
      throw .invalidParameter(name, value, expected: "JSON")
    }
  }

  /// A revision id, which may be in quotation marks.
  package func revision(_ name: String) throws(CouchError) -> RevisionID? {
    guard let value = self[name] else { return nil }
    guard let revision = RevisionID(value) else { throw .invalidRevision }
    return revision
  }
}

extension CouchError {
  package static func invalidParameter(_ name: String, _ value: String, expected: String) -> CouchError {
    CouchError(
      400, "query_parse_error", "Invalid value for \(name): \(value.prefix(100)); expected \(expected)")
  }
}

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
