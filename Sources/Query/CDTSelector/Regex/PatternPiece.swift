/// A part of a pattern in ICU's spelling.
struct PatternPiece {
  private(set) var spelling = ""
  /// The length of all matches in characters; `nil` if matches differ in length, or if those of the content of an assertion do.
  private(set) var length: Int? = 0
  private(set) var canBeEmpty = true
  /// At least the number of bytes that PCRE2 needs.
  private(set) var size = 0
  private(set) var canBeRepeated = false
  /// Whether PCRE2 repeats it without copying it.
  private var isCharacter = false

  static func character(_ spelling: String, size: Int) -> Self {
    Self(
      spelling: spelling, length: 1, canBeEmpty: false, size: size, canBeRepeated: true, isCharacter: true)
  }

  static func assertion(_ spelling: String) -> Self { Self(spelling: spelling, size: 1) }

  /// Something in parentheses of ICU whose matches may differ in length.
  static func group(_ spelling: String, canBeEmpty: Bool) -> Self {
    Self(spelling: spelling, length: nil, canBeEmpty: canBeEmpty, size: 5, canBeRepeated: true)
  }

  static func group(_ opening: String, _ alternatives: [Self]) -> Self {
    let length = alternatives.first?.length
    return Self(
      spelling: "\(opening)\(joined(alternatives)))",
      length: alternatives.allSatisfy { $0.length == length } ? length : nil,
      canBeEmpty: alternatives.contains(where: \.canBeEmpty),
      size: alternatives.reduce(10) { $0 + $1.size + 3 }, canBeRepeated: true)
  }

  static func look(_ opening: String, _ alternatives: [Self]) -> Self {
    var piece = group(opening, alternatives)
    // ICU would try the shorter alternatives of a look-behind first.
    let each = alternatives.map { "\(opening)\($0.spelling))" }
    if opening == "(?<=" { piece.spelling = "(?>\(each.joined(separator: "|")))" }
    if opening == "(?<!" { piece.spelling = "(?:\(each.joined()))" }
    piece.length = alternatives.allSatisfy { $0.length != nil } ? 0 : nil
    (piece.canBeEmpty, piece.canBeRepeated) = (true, false)
    return piece
  }

  static func joined(_ alternatives: [Self]) -> String {
    alternatives.map(\.spelling).joined(separator: "|")
  }

  /// Adds the next part of a sequence.
  mutating func append(_ next: Self) {
    spelling += next.spelling
    length = if let length, let more = next.length { length + more } else { nil }
    canBeEmpty = canBeEmpty && next.canBeEmpty
    size += next.size
  }

  mutating func `repeat`(_ quantifier: String, isAtomic: Bool, least: Int, most: Int?) {
    spelling = isAtomic ? "(?>\(spelling)\(quantifier))" : spelling + quantifier
    length = least == most ? length.map { $0 * least } : nil
    canBeEmpty = canBeEmpty || least == 0
    size = isCharacter ? 2 * size + 12 : (size + 10) * (most ?? least + 1)
    canBeRepeated = false
  }
}
