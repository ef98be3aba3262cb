/// The parameters of a URL's query, in order.
///
/// ```swift
/// let query = try QueryString("rev=1-a&revs=true")
/// query["revs"]  // "true"
/// query.text     // "rev=1-a&revs=true"
/// ```
package struct QueryString: Sendable {
  /// A name with its value, both decoded.
  package struct Parameter: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The parameters in their written order, repeated names included.
  package var parameters: [Parameter]

  package init(_ parameters: [Parameter] = []) {
    self.parameters = parameters
  }

  /// Splits and decodes the text between `?` and `#`, as CouchDB does: `&` and `;` separate parameters, and a parameter
  /// without `=` has an empty value. Empty parameters are skipped.
  ///
  /// - Throws: ``CouchError`` with status 400; see ``PercentCoding/decode(_:)``.
  package init(_ text: some StringProtocol) throws(CouchError) {
    parameters = []
    for part in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }) {
      let name = part.prefix { $0 != UInt8(ascii: "=") }
      let value = part.dropFirst(name.count + 1)
      parameters.append(
        Parameter(
          try PercentCoding.decode(Substring(decoding: name, as: UTF8.self)),
          try PercentCoding.decode(Substring(decoding: value, as: UTF8.self))))
    }
  }

  /// The value of the first parameter with a name, compared byte by byte.
  package subscript(_ name: String) -> String? {
    parameters.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The encoded parameters, without a `?`.
  package var text: String {
    parameters.map { "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value))" }.joined(
      separator: "&")
  }
}
