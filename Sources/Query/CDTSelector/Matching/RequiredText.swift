import CDTJSON
import CDTPlatform

/// Bytes that every matching document's text contains, so that most other documents can be rejected without parsing.
///
/// A string has only one stored form, escaped character by character, so if a document must contain a string, its text
/// must contain the escaped form.
struct RequiredText: Sendable {
  private let bytes: [UInt8]
  /// The positions of the two bytes to search for first, the rarest ones.
  private let anchors: (Int, Int)

  /// The cost of a search is at most the product of both lengths.
  private static let maximumLength = 64

  /// The longest such bytes of a clause, or `nil` if it has none.
  init?(of clause: Clause) {
    let candidates = clause.conjuncts.compactMap(Self.spelling)
    guard let found = candidates.max(by: { $0.count < $1.count }), found.count > 1 else { return nil }
    let longest = Array(found.prefix(Self.maximumLength))
    bytes = longest
    let rarest = longest.indices.sorted { Self.rarity(longest[$0]) > Self.rarity(longest[$1]) }
    anchors = (rarest[0], rarest[1])
  }

  private static func spelling(of clause: Clause) -> [UInt8]? {
    guard case .field(let path, let predicate) = clause, path.documentField == nil else { return nil }
    switch predicate {
    case .equal(.string(let string)): return JSONString.quoted(string)
    case .beginsWith(let prefix): return JSONString.quoted(prefix).dropLast()
    case .regex(let expression): return expression.literal.map { JSONString.spelling(of: $0) }
    default: return nil
    }
  }

  /// The approximate rarity of a byte in text. A wrong guess only costs time.
  private static func rarity(_ byte: UInt8) -> UInt8 { rarities[Int(byte)] }

  private static let rarities: [UInt8] = {
    let commonest = Array("\" ,:eatoinsrhldcumpfgwybv0123456789._-kxjqz".utf8)
    var rarities = Array(repeating: UInt8(commonest.count), count: 256)
    for byte in 0x80..<0x100 { rarities[byte] -= 8 }
    for (rarity, byte) in commonest.enumerated() { rarities[Int(byte)] = UInt8(rarity) }
    return rarities
  }()

  /// Whether a document's text contains the bytes.
  func isIn(_ text: JSONBytes) -> Bool {
    Bytes.contain(bytes, first: anchors.0, second: anchors.1, in: text.slice(0, text.count))
  }
}
