import CDTDatastore
import CDTPlatform
import Synchronization

/// A line on the terminal with the progress, rate and remaining time of a long operation.
///
/// Nothing is shown if standard error is not a terminal.
final class ProgressBar: Sendable {
  private let total: Int64?
  private let noun: String
  private let start = ContinuousClock.now
  private let lastShown = Mutex<ContinuousClock.Instant?>(nil)
  private let isShown: Bool

  private static let interval = Duration.milliseconds(100)
  private static let width = 30

  /// - Parameters:
  ///   - total: The final value of `done`, or `nil` if it is unknown.
  ///   - noun: The name of the counted items.
  ///   - isQuiet: Whether to show nothing even on a terminal.
  init(total: Int64? = nil, noun: String, isQuiet: Bool = false) {
    self.total = total
    self.noun = noun
    isShown = OpenFile.standardError.isTerminal && !isQuiet
  }

  func show(count: Int, done: Int64) {
    show(count: count, done: done, of: total)
  }

  /// Shows the progress.
  func show(_ done: Int, of total: Int) {
    show(count: done, done: Int64(done), of: Int64(total))
  }

  private func show(count: Int, done: Int64, of total: Int64?) {
    guard isShown else { return }
    let now = ContinuousClock.now
    let isDue = lastShown.withLock { last in
      if let last, now - last < Self.interval { return false }
      last = now
      return true
    }
    // A line as wide as the terminal would make it scroll.
    let width = (OpenFile.standardError.terminalColumns ?? 80) - 1
    if isDue {
      let line = line(count: count, done: done, of: total, elapsed: now - start, width: width)
      Message.raw("\r\u{1B}[K" + line.prefix(width))
    }
  }

  /// Clears the line; the next progress is shown immediately.
  func clear() {
    let wasShown = lastShown.withLock { last in
      defer { last = nil }
      return last != nil
    }
    if wasShown { Message.raw("\r\u{1B}[K") }
  }

  private func line(count: Int, done: Int64, of total: Int64?, elapsed: Duration, width: Int) -> String {
    let seconds = max(elapsed / .seconds(1), 0.001)
    let rate = "\(count) \(noun), \(Int(Double(count) / seconds))/s"
    guard let total, total > 0 else { return rate }
    let share = min(1, Double(done) / Double(total))
    let left = share > 0 ? Int((seconds / share - seconds).rounded(.up)) : 0
    let text =
      "\(Int(share * 100)) %  \(rate)  \(left / 60):\(left % 60 < 10 ? "0" : "")\(left % 60) left"
    // The bar has what the text leaves.
    let room = min(Self.width, width - text.count - 1)
    guard room > 0 else { return text }
    let filled = Int(share * Double(room))
    return String(repeating: "█", count: filled) + String(repeating: "░", count: room - filled) + " " + text
  }
}
