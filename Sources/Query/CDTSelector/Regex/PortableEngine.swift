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
  /// Calls that take longer, in nanoseconds of processor time, count as slow. 10,000 steps do everywhere, most positions don't.
  private static var slowTime: Int64 { 15_000 }
  /// The maximum number of slow calls. After some 3,900 at one position, 39,000,000 steps, ICU ends without an error, as if there were no match.
  private static var maximumSlowCalls: Int { 3_000 }

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
    var slowCalls = 0
    var before: Int64 = 0
    let outcome = compiled.matches(subject) {
      calls += 1
      guard calls.isMultiple(of: Self.interval) else { return true }
      let now = CurrentThread.processorTime
      defer { before = now }
      guard calls > Self.interval else {
        budget.beginSlowMatch(length: subject.count)
        return !budget.mustStop
      }
      if now - before > Int64(Self.interval) * Self.slowTime { slowCalls += Self.interval }
      return slowCalls <= Self.maximumSlowCalls && (try? budget.spend(now - before)) != nil
    }
    guard let outcome else { throw RegularExpression.LimitPassed() }
    return outcome
  }
}
