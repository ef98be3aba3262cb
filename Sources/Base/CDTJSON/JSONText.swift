/// The text of an object prepared for storage, in one pass over untrusted bytes.
package struct NormalizedObject: Sendable {
  /// Compact text: members in written order, strings with the stored escapes, numbers as written.
  package var text: [UInt8]
  /// The canonical text of the same members, see ``JSONCanonical``.
  package var canonical: [UInt8]
  /// The top-level members that are not part of the body, see ``ReservedMember``.
  package var reserved: [(name: String, value: JSONValue)]
  /// The offset after the object in the bytes it was read from.
  package var end: Int
}

package enum JSONText {
  /// Validates the object at an offset and returns the text to store.
  ///
  /// - Throws: ``JSONError``; line and column count from the start of the bytes.
  /// - Complexity: O(*n*), without building a tree.
  package static func normalize(
    _ bytes: UnsafeRawBufferPointer, from start: Int = 0, options: JSONParsingOptions = .init()
  ) throws(JSONError) -> NormalizedObject {
    var normalizer = JSONNormalizer()
    let end = try normalizer.normalize(bytes, from: start, options: options)
    return NormalizedObject(
      text: normalizer.text, canonical: normalizer.canonical, reserved: normalizer.reserved, end: end)
  }

  /// Validates text that is one object and nothing else, and returns the text to store.
  package static func normalize(whole bytes: UnsafeRawBufferPointer) throws(JSONError) -> NormalizedObject {
    var normalizer = JSONNormalizer()
    try normalizer.normalize(whole: bytes)
    return NormalizedObject(
      text: normalizer.text, canonical: normalizer.canonical, reserved: normalizer.reserved, end: bytes.count)
  }
}
