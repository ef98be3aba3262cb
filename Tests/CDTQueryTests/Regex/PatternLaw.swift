import CDTFoundationPattern

@testable import CDTSelector

extension FoundationPattern: SpelledPattern {}

/// The engine of systems without PCRE2.
typealias FoundationEngine = PortableEngine<FoundationPattern>

/// Both engines decide a pattern of the portable subset alike, and PCRE2 compiles every pattern of the subset.
enum PatternLaw {
  struct Tally {
    var patterns = 0, compiled = 0, portable = 0, texts = 0, matches = 0, limits = 0
  }

  /// Draws one pattern and compares the engines.
  ///
  /// - Returns: A difference.
  static func check(seed: UInt64, _ tally: inout Tally) -> String? {
    var random = RandomPatterns(seed: seed)
    let options = random.pick(RandomPatterns.optionSets)
    let isNear = random.number(below: 2) == 0
    let pattern = isNear ? random.nearPattern(options: options) : random.pattern(options: options)
    let subjects = (0..<20).map { _ in random.subject() }
    return difference(pattern, options, subjects, &tally).map {
      "seed \(seed): the pattern \(escaped(pattern)) with the options \"\(options)\": \($0)"
    }
  }

  private static func difference(
    _ pattern: String, _ options: String, _ subjects: [String], _ tally: inout Tally
  ) -> String? {
    let expression = try? RegularExpression(pattern: pattern, options: options)
    let portable = try? PortablePattern(pattern, options: options)
    tally.patterns += 1
    tally.compiled += expression == nil ? 0 : 1
    guard let portable else { return nil }
    tally.portable += 1
    guard let expression else { return "PCRE2 does not compile it" }
    guard let engine = try? FoundationEngine(pattern, options: options) else {
      return "Foundation does not compile \(portable.spelling)"
    }
    for subject in subjects {
      tally.texts += 1
      let bytes = Array(subject.utf8)
      let found = bytes.withUnsafeBytes { bytes in
        (try? expression.matches(bytes), try? engine.matches(bytes, MatchBudget()))
      }
      guard case (let matches?, let other?) = found else {
        tally.limits += 1
        continue
      }
      tally.matches += matches ? 1 : 0
      if matches != other {
        return "PCRE2 \(matches), Foundation \(other) in \(escaped(subject)); for ICU: \(portable.spelling)"
      }
    }
    return nil
  }

  /// A text in quotation marks, with numbers for characters beyond ASCII.
  private static func escaped(_ text: String) -> String {
    "\"" + text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
  }
}
