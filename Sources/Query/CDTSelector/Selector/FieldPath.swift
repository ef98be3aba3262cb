import CDTJSON
import CDTPlatform

/// The path of a field: `pet.species` has the segments `pet` and `species`.
///
/// On an object, a segment is a member's name. On an array, a whole number selects one element, and any other segment
/// applies to each element that is an object.
///
/// See <doc:QueryingDocuments#Paths>.
@usableFromInline
package struct FieldPath: Sendable, Hashable {
  @usableFromInline
  package struct Segment: Sendable, Hashable {
    /// The member's name in UTF-8.
    @usableFromInline package let name: [UInt8]
    /// The name as escaped in stored JSON, without quotation marks.
    package let spelling: [UInt8]
    /// The element that this segment selects in an array: `0` and `12` are positions, `01` and `-1` are names.
    package let position: Int?

    package init(name: [UInt8]) {
      self.name = name
      spelling = name.withUnsafeBytes(JSONString.isItsSpelling) ? name : JSONString.spelling(of: name)
      position = Self.position(of: name)
    }

    /// The other properties depend on the name.
    @inlinable
    package static func == (left: Segment, right: Segment) -> Bool { left.name == right.name }

    @usableFromInline
    package func hash(into hasher: inout Hasher) {
      // As one run of bytes: an array would be hashed byte by byte.
      hasher.combine(name.count)
      name.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    private static func position(of name: [UInt8]) -> Int? {
      guard let first = name.first, name.count <= 18, name.allSatisfy(\.isDigit),
        first != 0x30 || name.count == 1
      else { return nil }
      return name.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
  }

  /// The maximum number of segments.
  package static let maximumSegments = 100

  @usableFromInline package let segments: [Segment]

  /// Whether it stands for the cells of the places that the path reaches (``PlaceCells``), as the last field of an index of places
  /// does, and not for their values.
  @usableFromInline package private(set) var isCell = false

  package init(segments: [Segment]) {
    self.segments = segments
  }

  @inlinable
  package static func == (left: FieldPath, right: FieldPath) -> Bool {
    left.segments == right.segments && left.isCell == right.isCell
  }

  /// The cells of the places that the path reaches.
  package var cells: FieldPath {
    var path = self
    path.isCell = true
    return path
  }

  /// An error in a path.
  package enum Fault: Error, Hashable {
    case emptySegment
    case unescapedDollar(remedy: String)
    case tooLong
  }

  /// Parses a path as users write it: `\.` is a dot in a name, `\$` a leading dollar sign; other backslashes are
  /// literal.
  ///
  /// - Parameter allowsDollar: Whether an unescaped leading `$` is a name, as in `sort` and `fields`.
  package init(_ text: String, allowsDollar: Bool = false) throws(Fault) {
    let bytes = Array(text.utf8)
    if let first = bytes.first, first != Self.dollar, !bytes.contains(Self.dot),
      !bytes.contains(Self.backslash)
    {
      segments = [Segment(name: bytes)]
      return
    }
    var segments: [Segment] = []
    var name: [UInt8] = []
    var start = 0
    func close(at end: Int) throws(Fault) {
      guard end > start else { throw .emptySegment }
      if bytes[start] == Self.dollar && !allowsDollar {
        throw .unescapedDollar(remedy: Self.escapingDollar(in: bytes, at: start))
      }
      segments.append(Segment(name: name))
      guard segments.count <= Self.maximumSegments else { throw .tooLong }
    }
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == Self.dot {
        try close(at: index)
        name = []
        start = index + 1
      } else if byte == Self.backslash, index + 1 < bytes.count,
        bytes[index + 1] == Self.dot || (bytes[index + 1] == Self.dollar && index == start)
      {
        index += 1
        name.append(bytes[index])
      } else {
        name.append(byte)
      }
      index += 1
    }
    try close(at: bytes.count)
    self.segments = segments
  }

  /// The path followed by the segments of `other`.
  package func appending(_ other: FieldPath) -> FieldPath {
    FieldPath(segments: segments + other.segments)
  }

  /// The path as users write it, escaped where necessary.
  package var text: String {
    var bytes: [UInt8] = []
    for (number, segment) in segments.enumerated() {
      if number > 0 { bytes.append(Self.dot) }
      if segment.name.first == Self.dollar { bytes.append(Self.backslash) }
      for byte in segment.name {
        if byte == Self.dot { bytes.append(Self.backslash) }
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The document's own fields, which are not in its body.
  @usableFromInline
  package enum DocumentField: Sendable, Hashable {
    case id, revision
  }

  /// `_id` or `_rev`, if the path is one of them.
  @inlinable
  package var documentField: DocumentField? {
    // Most paths are decided by their first byte.
    guard segments.count == 1, segments[0].name.first == UInt8(ascii: "_") else { return nil }
    let name = segments[0].name
    if name.elementsEqual("_id".utf8) { return .id }
    return name.elementsEqual("_rev".utf8) ? .revision : nil
  }

  private static let dot = UInt8(ascii: ".")
  private static let dollar = UInt8(ascii: "$")
  private static let backslash = UInt8(ascii: "\\")

  private static func escapingDollar(in bytes: [UInt8], at index: Int) -> String {
    String(decoding: bytes[..<index] + [backslash] + bytes[index...], as: UTF8.self)
  }
}
