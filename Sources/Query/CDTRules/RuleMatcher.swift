import CDTSelector
import Synchronization

/// The matcher of a rule of writing.
final class RuleMatcher: Sendable {
  private typealias Parts = (matcher: Matcher, budget: MatchBudget)
  private let clause: Clause
  /// `nil` if a write has it, as the state of patterns and computed operands is that of one write at a time.
  private let idle: Mutex<Parts?>

  init(_ clause: Clause) {
    self.clause = clause
    idle = Mutex(Self.make(clause))
  }

  private static func make(_ clause: Clause) -> Parts {
    let budget = MatchBudget()
    return (Matcher(clause, budget), budget)
  }

  func matches(_ input: DocumentBytes) throws(MatchFailure) -> Bool {
    let parts = idle.withLock { $0.take() } ?? Self.make(clause)
    defer { idle.withLock { $0 = parts } }
    parts.budget.renew()
    return try parts.matcher.matches(input)
  }
}
