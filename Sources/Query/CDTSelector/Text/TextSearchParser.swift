import CDTPlatform

/// Parses a `$search`.
///
/// ```
/// or     = and { "OR" and }
/// and    = not { ["AND"] not }
/// not    = near { "NOT" near }
/// near   = unit { "NEAR" ["/" n] unit }
/// unit   = "(" or ")" | [field ":"] (word ["*"] | '"' text '"' ["*"])
/// ```
struct TextSearchParser {
  private enum Token: Equatable {
    case term(TextSearch.Term)
    case open, close, and, or, not
    case near(Int)

    var name: String {
      switch self {
      case .and: "AND"
      case .or: "OR"
      case .not: "NOT"
      case .near: "NEAR"
      case .open: "("
      case .close: ")"
      case .term(let term): term.text
      }
    }
  }

  private let text: String
  /// Whether a name before a phrase is that of a field; otherwise it is a word.
  private let isField: (String) -> Bool
  private var tokens: [Token] = []
  private var position = 0
  private var depth = 0

  init(_ text: String, isField: @escaping (String) -> Bool = { _ in true }) {
    (self.text, self.isField) = (text, isField)
  }

  mutating func parse() throws(TextSearch.Failure) -> TextSearch.Expression {
    try cut()
    guard !tokens.isEmpty else { return .and([]) }
    let expression = try alternatives()
    guard position == tokens.count else { throw .closingParenthesis }
    return expression
  }

  // MARK: Grammar

  private var next: Token? { position < tokens.count ? tokens[position] : nil }

  private mutating func take(_ token: Token) -> Bool {
    guard next == token else { return false }
    position += 1
    return true
  }

  private mutating func alternatives() throws(TextSearch.Failure) -> TextSearch.Expression {
    var members = [try conjunction()]
    while take(.or) { members.append(try conjunction()) }
    return members.count > 1 ? .or(members) : members[0]
  }

  private mutating func conjunction() throws(TextSearch.Failure) -> TextSearch.Expression {
    var members = [try exclusion()]
    while let next, next != .or, next != .close {
      _ = take(.and)
      members.append(try exclusion())
    }
    return members.count > 1 ? .and(members) : members[0]
  }

  private mutating func exclusion() throws(TextSearch.Failure) -> TextSearch.Expression {
    var result = try neighbourhood()
    while take(.not) { result = .not(result, try neighbourhood()) }
    return result
  }

  private mutating func neighbourhood() throws(TextSearch.Failure) -> TextSearch.Expression {
    let first = try unit()
    guard case .near? = next else { return first }
    guard case .term(let term) = first else { throw .nearNeedsTerms }
    var terms = [term]
    var distances: [Int] = []
    while case .near(let distance)? = next {
      position += 1
      guard case .term(let term) = try unit() else { throw .nearNeedsTerms }
      terms.append(term)
      distances.append(distance)
    }
    return .near(terms, distances: distances)
  }

  private mutating func unit() throws(TextSearch.Failure) -> TextSearch.Expression {
    guard let token = next else { throw .missingOperand(tokens.last?.name ?? "") }
    position += 1
    switch token {
    case .term(let term): return .term(term)
    case .open:
      if next == .close { throw .emptyParentheses }
      depth += 1
      guard depth <= TextSearch.maximumDepth else { throw .tooDeep }
      defer { depth -= 1 }
      let inner = try alternatives()
      guard take(.close) else { throw .openParenthesis }
      return inner
    case .close: throw position == 1 ? .closingParenthesis : .missingOperand(tokens[position - 2].name)
    case .and, .or, .not, .near: throw .missingOperand(token.name)
    }
  }

  // MARK: Tokens

  private mutating func cut() throws(TextSearch.Failure) {
    let bytes = Array(text.utf8)
    var start = 0
    while start < bytes.count {
      switch bytes[start] {
      case 0...0x20: start += 1
      case UInt8(ascii: "("):
        tokens.append(.open)
        start += 1
      case UInt8(ascii: ")"):
        tokens.append(.close)
        start += 1
      default: start = try cutUnit(bytes, from: start)
      }
      guard tokens.count <= 4 * TextSearch.maximumTerms else { throw .tooManyTerms }
    }
    let terms = tokens.count { if case .term = $0 { true } else { false } }
    guard terms <= TextSearch.maximumTerms else { throw .tooManyTerms }
  }

  /// A word, an operator, or a phrase, optionally with a field before it.
  private mutating func cutUnit(_ bytes: [UInt8], from start: Int) throws(TextSearch.Failure) -> Int {
    var start = start
    var field: String?
    if bytes[start] != UInt8(ascii: "\"") {
      let end = bytes[start...].firstIndex(where: Self.endsWord) ?? bytes.count
      guard end < bytes.count, bytes[end] == UInt8(ascii: "\""), bytes[end - 1] == UInt8(ascii: ":") else {
        try appendWord(String(decoding: bytes[start..<end], as: UTF8.self))
        return end
      }
      // name:"a phrase"
      let name = String(decoding: bytes[start..<end - 1], as: UTF8.self)
      if !name.isEmpty {
        if isField(name) { field = name } else { tokens.append(.term(TextSearch.Term(text: name))) }
      }
      start = end
    }
    guard let close = bytes[(start + 1)...].firstIndex(of: UInt8(ascii: "\"")) else { throw .openQuote }
    var term = TextSearch.Term(
      text: String(decoding: bytes[start + 1..<close], as: UTF8.self), isPhrase: true)
    term.field = field
    var end = close + 1
    if end < bytes.count, bytes[end] == UInt8(ascii: "*") {
      term.isPrefix = true
      end += 1
    }
    tokens.append(.term(term))
    return end
  }

  private static func endsWord(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: "(") || byte == UInt8(ascii: ")") || byte == UInt8(ascii: "\"")
  }

  private mutating func appendWord(_ word: String) throws(TextSearch.Failure) {
    switch word {
    case "AND": tokens.append(.and)
    case "OR": tokens.append(.or)
    case "NOT": tokens.append(.not)
    case "NEAR": tokens.append(.near(10))
    default:
      if word.hasPrefix("NEAR/") { return tokens.append(.near(try Self.distance(word))) }
      var term = TextSearch.Term(text: word)
      if let colon = word.utf8.firstIndex(of: UInt8(ascii: ":")) {
        term.field = String(word[..<colon])
        // Only the index knows whether that is a field.
      }
      if word.utf8.last == UInt8(ascii: "*") {
        term.text = String(word.utf8.dropLast()) ?? word
        term.isPrefix = true
      }
      tokens.append(.term(term))
    }
  }

  private static func distance(_ word: String) throws(TextSearch.Failure) -> Int {
    let digits = word.dropFirst("NEAR/".count)
    guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit), let distance = Int(digits),
      distance <= 1_000_000
    else { throw .invalidDistance(word) }
    return distance
  }
}
