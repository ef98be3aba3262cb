import Synchronization

/// The limits of pattern matching, for all documents of a query.
///
/// | limit | |
/// |---|---|
/// | steps at one position of a string | ``maximumSteps``, and fewer in long strings: at most ``maximumWork`` divided by the length |
/// | processor time of all slow matches | ``time``, and ``timePerByte`` for each byte of their strings |
/// | the query's deadline or cancellation | checked during slow matches, and with every sixteenth of the others |
///
/// PCRE2's steps can't measure the cost alone: a step takes time proportional to the string in the worst case, and is
/// counted from zero again at each position. Processor time is therefore measured, but only for matches that exceed a
/// number of steps which an ordinary match does not need, or in long strings.
package final class MatchBudget: Sendable {
  /// The maximum number of steps at one position of a string.
  package static let maximumSteps = 1_000_000
  /// The maximum product of a string's length, the positions of a call, and the steps at each of them: a call can't be
  /// interrupted.
  static let maximumWork = 10_000_000_000
  /// The processor time of slow matches in nanoseconds.
  static let time: Int64 = 1_000_000_000
  /// The additional time per byte in nanoseconds. An ordinary pattern needs less than 100.
  static let timePerByte: Int64 = 1_000

  private let remaining = Atomic(MatchBudget.time)
  private let matches = Atomic(0)
  private let stop: QueryStop
  private let texts = Atomic(0)

  /// The number of the text that is matched: what was computed from another text is not used.
  var text: Int { texts.load(ordering: .relaxed) }

  /// Begins another text.
  func beginText() { texts.add(1, ordering: .relaxed) }

  package init(_ stop: QueryStop) {
    self.stop = stop
  }

  package convenience init() {
    self.init(QueryStop())
  }

  /// Begins another text, for which the whole time is granted again.
  package func renew() {
    remaining.store(Self.time, ordering: .relaxed)
    beginText()
  }

  /// Other limits of the same query.
  var another: MatchBudget { MatchBudget(stop) }

  /// Whether the query must end.
  var mustStop: Bool { stop.isOver }

  /// Counts an ordinary match.
  func countMatch() throws(RegularExpression.LimitPassed) {
    guard matches.wrappingAdd(1, ordering: .relaxed).newValue & 15 == 0 else { return }
    try checkStop()
  }

  /// Adds the time for a slow match in a string.
  func beginSlowMatch(length: Int) {
    remaining.wrappingAdd(Int64(length) * Self.timePerByte, ordering: .relaxed)
  }

  /// The remaining time in nanoseconds.
  var remainingTime: Int64 { remaining.load(ordering: .relaxed) }

  /// Takes time that a slow match has used.
  func spend(_ nanoseconds: Int64) throws(RegularExpression.LimitPassed) {
    guard remaining.wrappingSubtract(nanoseconds, ordering: .relaxed).newValue > 0 else {
      throw RegularExpression.LimitPassed()
    }
    try checkStop()
  }

  private func checkStop() throws(RegularExpression.LimitPassed) {
    if stop.isOver { throw RegularExpression.LimitPassed() }
  }
}
