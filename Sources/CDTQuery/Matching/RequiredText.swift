import CDTPlatform
import JSON

/// Bytes that the text of every matching document holds, by which most others are told apart without reading them.
///
/// A string has one spelling in stored text, made character by character, so what a string must hold or be, its document's
/// text must hold in that spelling.
struct RequiredText: Sendable {
  private let bytes: [UInt8]
  /// The place of the byte that is looked for first, as it is seldom met.
  private let anchor: Int

  /// The longest such bytes of a clause, or `nil` when it has none.
  init?(of clause: Clause) {
    let candidates = clause.conjuncts.compactMap(Self.spelling)
    guard let longest = candidates.max(by: { $0.count < $1.count }), longest.count > 1 else { return nil }
    bytes = longest
    anchor = longest.indices.max { Self.rarity(longest[$0]) < Self.rarity(longest[$1]) } ?? 0
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

  /// How seldom a byte is met in text, roughly: a guess that is wrong costs time only.
  private static func rarity(_ byte: UInt8) -> UInt8 { rarities[Int(byte)] }

  private static let rarities: [UInt8] = {
    let commonest = Array("\" ,:eatoinsrhldcumpfgwybv0123456789._-kxjqz".utf8)
    var rarities = Array(repeating: UInt8(commonest.count), count: 256)
    for byte in 0x80..<0x100 { rarities[byte] -= 8 }
    for (rarity, byte) in commonest.enumerated() { rarities[Int(byte)] = UInt8(rarity) }
    return rarities
  }()

  /// Whether a document's text holds the bytes.
  func isIn(_ text: JSONBytes) -> Bool {
    // Every place at which the anchor can be, with room for what stands before and behind it.
    let buffer = text.slice(0, text.count)
    let end = text.count - (bytes.count - anchor - 1)
    var place = anchor
    while let found = Bytes.firstIndex(of: bytes[anchor], in: buffer, from: place, to: end) {
      if text.hasPrefix(bytes, at: found - anchor) { return true }
      place = found + 1
    }
    return false
  }
}
