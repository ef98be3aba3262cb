import CDTPlatform

/// A compiled pattern in ICU's spelling.
protocol SpelledPattern: Sendable {
  /// `nil` if the pattern does not compile.
  init?(_ spelling: String)

  /// Whether the pattern matches anywhere in the subject; `nil` if the match was stopped, or needs too much memory.
  ///
  /// - Parameter shouldContinue: Called at each position and after each 10,000 steps.
  func matches(_ subject: UnsafeRawBufferPointer, while shouldContinue: () -> Bool) -> Bool?
}

/// The engine of systems without PCRE2: patterns of the portable subset.
struct PortableEngine<Compiled: SpelledPattern>: PatternEngine {
  private let compiled: Compiled

  /// Calls between two measurements.
  private static var interval: Int { 64 }
  /// The processor time between two measurements, in nanoseconds, beyond which the match is slow: 10,000 steps between two calls take it, most
  /// positions do not.
  private static var slowTime: Int64 { 1_000_000 }
  /// The maximum of slow times of a match. ICU ends after some 134,000,000 operations at one position without an error, as if there were no
  /// match, and can't have done them in this time.
  private static var maximumSlowTime: Int64 { 100_000_000 }

  init(_ pattern: String, options: String) throws(RegularExpression.Refusal) {
    let portable = try PortablePattern(pattern, options: options)
    guard let compiled = Compiled(portable.spelling) else {
      throw RegularExpression.Refusal(message: "it is too large", offset: 0)
    }
    self.compiled = compiled
  }

  func matches(
    _ subject: UnsafeRawBufferPointer, _ budget: MatchBudget
  ) throws(RegularExpression.LimitPassed) -> Bool {
    try budget.countMatch()
    var calls = 0
    var slowTime: Int64 = 0
    var before = CurrentThread.processorTime
    func isWithinLimits() -> Bool {
      let now = CurrentThread.processorTime
      let time = now - before
      before = now
      guard time > Self.slowTime else { return !budget.mustStop }
      slowTime += time
      return slowTime <= Self.maximumSlowTime && (try? budget.spend(time)) != nil
    }
    let outcome = compiled.matches(subject) {
      calls += 1
      return !calls.isMultiple(of: Self.interval) || isWithinLimits()
    }
    guard let outcome, outcome || isWithinLimits() else { throw RegularExpression.LimitPassed() }
    return outcome
  }
}
