#if canImport(CDTCPCRE2)
  import CDTPlatform

  /// The search for a pattern in one string, divided so that no call of PCRE2 takes long.
  ///
  /// A short string is searched in one call. If this needs too many steps, and in long strings, a call searches for matches
  /// that begin in a part of the string. The parts become longer while this is fast. Where more steps are needed, more are
  /// allowed at fewer positions.
  struct PatternSearch: ~Copyable {
    private let expression: PCRE2Pattern
    private let subject: UnsafeRawBufferPointer
    private let budget: MatchBudget
    private let scratch: PCRE2Pattern.Scratch

    /// The next position at which a match could begin.
    private var position = 0
    /// The number of positions of the next call.
    private var count = 1
    /// The number of steps at each of them.
    private var steps = firstSteps

    /// Strings up to this length are searched in one call.
    private static let shortLength = 4_096
    private static let firstSteps = 16
    /// A call should take less time, in nanoseconds.
    private static let callTime: Int64 = 10_000_000

    init(
      _ expression: PCRE2Pattern, _ subject: UnsafeRawBufferPointer, _ budget: MatchBudget,
      _ scratch: PCRE2Pattern.Scratch
    ) {
      self.expression = expression
      self.subject = subject
      self.budget = budget
      self.scratch = scratch
    }

    mutating func run() throws(RegularExpression.LimitPassed) -> Bool {
      if expression.isIndivisible || subject.count <= Self.shortLength {
        try budget.countMatch()
        // Also as many positions as there are bytes, and the end.
        let steps = Self.steps(length: subject.count, positions: subject.count + 1)
        switch call(at: 0...subject.count, steps: steps) {
        case .match: return true
        case .noMatch: return false
        case .needsMoreSteps where !expression.isIndivisible: break
        case .needsMoreSteps, .failed: throw RegularExpression.LimitPassed()
        }
      }
      budget.beginSlowMatch(length: subject.count)
      let end = expression.isAnchored ? 0 : subject.count
      var before = CurrentThread.processorTime
      while position <= end {
        let outcome = call(at: position...min(position + count - 1, end), steps: steps)
        let now = CurrentThread.processorTime
        try budget.spend(now - before)
        switch outcome {
        case .match: return true
        case .noMatch: proceed(isFast: now - before < Self.callTime)
        case .needsMoreSteps: try allowMore(after: now - before)
        case .failed: throw RegularExpression.LimitPassed()
        }
        before = now
      }
      return false
    }

    private func call(at positions: ClosedRange<Int>, steps: Int) -> MatchOutcome {
      expression.firstMatch(in: subject, at: positions, steps: steps, scratch)
    }

    /// Goes on after the positions of the last call.
    private mutating func proceed(isFast: Bool) {
      position += count
      // A character of several bytes is one position.
      while position < subject.count, subject[position] & 0xC0 == 0x80 { position += 1 }
      count = isFast ? count * 4 : max(1, count / 4)
      while count > 1, steps > Self.steps(length: subject.count, positions: count) { count /= 2 }
    }

    /// Repeats the last call with one position, or with more steps.
    private mutating func allowMore(after time: Int64) throws(RegularExpression.LimitPassed) {
      guard count == 1 else {
        count = 1
        return
      }
      let most = Self.steps(length: subject.count, positions: 1)
      // Eight times as many steps take about eight times as long.
      guard steps < most, time * 8 < budget.remainingTime else { throw RegularExpression.LimitPassed() }
      steps = min(most, steps * 8)
    }

    /// The maximum number of steps at each of some positions.
    private static func steps(length: Int, positions: Int) -> Int {
      let work = MatchBudget.maximumWork / max(1, length) / positions
      return min(MatchBudget.maximumSteps, max(firstSteps, work))
    }
  }
#endif
