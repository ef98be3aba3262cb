/// An engine that compiles patterns and finds matches.
protocol PatternEngine: Sendable {
  /// - Parameter options: Letters of `imsx`.
  init(_ pattern: String, options: String) throws(RegularExpression.Refusal)

  /// Whether the pattern matches anywhere in the subject, which is UTF-8.
  func matches(
    _ subject: UnsafeRawBufferPointer, _ budget: MatchBudget
  ) throws(RegularExpression.LimitPassed) -> Bool
}

// The engine of the system is known when the library is compiled, so a match is a direct call.
#if canImport(CDTCPCRE2)
  typealias SystemPattern = PCRE2Pattern
#else
  import CDTFoundationPattern

  typealias SystemPattern = PortableEngine<FoundationPattern>

  extension FoundationPattern: SpelledPattern {}
#endif
