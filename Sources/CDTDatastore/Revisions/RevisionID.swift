/// The id of a revision: its generation, and a digest of what it says and of its parent.
///
/// ```swift
/// let first = RevisionID("1-1f7588ca02054efe626a6e440a431861")
/// first?.generation  // 1
/// RevisionID("9-b")! < RevisionID("10-a")!  // true: generations are numbers
/// ```
///
/// Source: `docs/crud.md`, Revisions.
public struct RevisionID: Sendable, Hashable, LosslessStringConvertible {
  /// How many revisions lead up to this one, itself counted; from 1.
  public let generation: Int
  /// What follows the hyphen: 32 hexadecimal digits in ids made here.
  public let suffix: String

  /// The longest id there may be, in bytes: a digest is made with the length of its parent's id in one byte.
  public static let maximumLength = 255

  /// Reads an id such as `1-1f75`, or gives `nil` for text that is none: the generation is a positive number without
  /// sign, space or leading zero, and something follows the hyphen.
  public init?(_ description: String) {
    let bytes = description.utf8
    guard bytes.count <= Self.maximumLength, let hyphen = bytes.firstIndex(of: UInt8(ascii: "-")) else {
      return nil
    }
    let digits = bytes[..<hyphen]
    guard let first = digits.first, first != UInt8(ascii: "0"), digits.allSatisfy({ 0x30...0x39 ~= $0 }),
      let generation = Int(String(description[..<hyphen])), bytes.index(after: hyphen) < bytes.endIndex
    else { return nil }
    self.generation = generation
    suffix = String(description[bytes.index(after: hyphen)...])
  }

  package init(generation: Int, suffix: String) {
    self.generation = generation
    self.suffix = suffix
  }

  /// The id as it is written.
  public var description: String { "\(generation)-\(suffix)" }

  /// Whether both are the same text, byte for byte.
  public static func == (left: RevisionID, right: RevisionID) -> Bool {
    left.generation == right.generation && left.suffix.utf8.elementsEqual(right.suffix.utf8)
  }

  /// Equal ids hash alike.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(generation)
    for byte in suffix.utf8 { hasher.combine(byte) }
  }
}

extension RevisionID: Comparable {
  /// The generation counts first, as a number, and then the rest, byte by byte.
  public static func < (left: RevisionID, right: RevisionID) -> Bool {
    if left.generation != right.generation { return left.generation < right.generation }
    return left.suffix.utf8.lexicographicallyPrecedes(right.suffix.utf8)
  }
}

extension RevisionID: Codable {
  /// Reads the id from a string.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let id = RevisionID(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\"\(text)\" is no revision id"))
    }
    self = id
  }

  /// Writes the id as a string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
