/// The reason for which a pattern is outside the portable subset.
enum PatternFault: Hashable {
  // Constructs of PCRE2 that other engines lack or understand differently
  case construct(String), caselessProperty(String), caselessReference(String), unknownProperty(String)
  case mixedSet(String), emptyRepetition(String), plainBrace, hyphen, lengthOfLookBehind
  // Mistakes
  case unfinished(String), unopenedGroup, misplacedQuantifier(String), secondQuantifier(String)
  case invalidQuantifier(String), range(String), invalidClass(String), reference(String), name(String)
  case codePoint(String), tooDeep, tooLarge

  /// The construct of the pattern, for "a pattern with …".
  var noun: String {
    switch self {
    case .construct(let text), .unknownProperty(let text): "\"\(text)\""
    case .caselessProperty(let text): "\"\(text)\" with the option \"i\""
    case .caselessReference(let text): "the reference \"\(text)\" with the option \"i\""
    case .mixedSet(let text): "the set \"\(text)\" of several classes, one of them a complement"
    case .emptyRepetition(let text): "\"\(text)\" after a group that can match nothing"
    case .plainBrace: "a \"{\" that does not begin a quantifier"
    case .hyphen: "a \"-\" in a set that is not part of a range"
    case .lengthOfLookBehind:
      "a look-behind of variable or more than \(PatternParser.maximumLookBehind) characters"
    case .unfinished(let text): "\"\(text)\" without its end"
    case .unopenedGroup: "a \")\" without a \"(\""
    case .misplacedQuantifier(let text): "\"\(text)\" with nothing before it that can be repeated"
    case .secondQuantifier(let text): "the quantifier \"\(text)\" after a quantifier"
    case .invalidQuantifier(let text): "the quantifier \"\(text)\", which has no valid numbers"
    case .range(let text): "the range \"\(text)\", whose ends are in the wrong order"
    case .invalidClass(let text): "\"\(text)\", which is not a class of characters"
    case .reference(let text): "\"\(text)\", which does not refer to a group that ends before it"
    case .name(let text): "the name \"\(text)\", which is used twice or not valid"
    case .codePoint(let text): "\"\(text)\", which is not a character"
    case .tooDeep: "groups in more than \(PatternParser.maximumDepth) levels"
    case .tooLarge: "repetitions that make it too large"
    }
  }

  /// The remedy.
  var remedy: String {
    switch self {
    case .construct(let text): Self.replacements[text] ?? "write it with the syntax that docs/query.md lists"
    case .caselessProperty(let text), .caselessReference(let text): "write (?-i:\(text))"
    case .unknownProperty: "name a general category or a script that docs/query.md lists"
    case .mixedSet: "write the classes as alternatives: (?:\\W|\\p{L})"
    case .emptyRepetition: "leave out the question mark, or the alternative that matches nothing"
    case .plainBrace: "write \"\\{\" for a brace, and {0,n} for up to n repetitions"
    case .hyphen: "write \"\\-\""
    case .lengthOfLookBehind: "give all its alternatives fixed lengths"
    case .unfinished(let text): text == "\\" ? "write \"\\\\\" for a backslash" : "complete it"
    case .unopenedGroup: "write \"\\)\" for a parenthesis"
    case .misplacedQuantifier: "escape it with a backslash, or remove it"
    case .secondQuantifier: "put what is repeated in a group (?:…)"
    case .invalidQuantifier: "write {n}, {n,} or {n,m} with numbers up to \(PatternParser.maximumRepetitions)"
    case .range: "exchange them"
    case .invalidClass: "write a class such as [[:alpha:]], or escape the bracket"
    case .reference: "refer to a group before it, with \\g{n} if a digit follows"
    case .name: "choose a name of up to 32 ASCII letters, digits and underscores"
    case .codePoint: "write \\x{…} with one to six hexadecimal digits"
    case .tooDeep, .tooLarge: "use a smaller pattern"
    }
  }

  private static let replacements = [
    "\\K": "put what precedes it in a look-behind (?<=…)", "\\N": "write [^\\n]", "\\C": "write \".\"",
    "\\X": "write \\P{M}\\p{M}*",
    "\\G": "write \\A", "\\k": "write \\k<name>", "\\g": "write \\g{n}",
    "\\0": "write \\x{…} for a character", "\\o": "write \\x{…} for a character",
    "\\c": "write \\x{…} for a character", "(?|": "write (?:…), with a group in each alternative",
    "\\Q": "escape each character of the set with a backslash", "\\E": "remove it",
    "(?(": "write alternatives that begin with (?=…) and (?!…)",
  ]
}
