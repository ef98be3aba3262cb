import Synchronization

/// Divides the memory that a datastore may take among its connections.
///
/// | | share |
/// |---|---|
/// | the connection that writes documents, and the one that keeps the indexes up to date | an eighth each, which is kept for them |
/// | a reader | what the others leave, divided by the number of readers; at most three quarters of it |
/// | who builds an index | at most an eighth of it for the connection, and as much for rows |
///
/// A sixteenth is left for what can't be told beforehand, such as prepared statements. No more is lent than there is: who
/// comes while others have more than their part is lent what is left, and the others give back when they are lent the next
/// time.
package final class MemoryBudget: Sendable {
  private struct State {
    var readers = 0
    /// How much of ``shared`` is lent, in bytes.
    var lent = 0
  }

  /// What the connection that writes may take, and as much the one that keeps the indexes up to date, in bytes.
  package let writerShare: Int
  /// What is lent to readers and builders.
  private let shared: Int
  private let state = Mutex(State())
  /// What each reader should have, in bytes.
  private let part: Atomic<Int>

  /// What a connection needs to be of use, whatever the budget says.
  private static let least = 128 * 1024

  /// - Parameter total: The budget, in bytes.
  init(_ total: Int) {
    let total = max(0, total)
    writerShare = max(Self.least, total / 8)
    shared = total - total / 16 - total / 4
    part = Atomic(shared - shared / 4)
  }

  // MARK: Readers

  func addReader() {
    count(1)
  }

  /// - Parameter share: What the reader had.
  func removeReader(_ share: Int) {
    giveBack(share)
    count(-1)
  }

  private func count(_ change: Int) {
    state.withLock { state in
      state.readers += change
      part.store(
        min(shared - shared / 4, shared / max(1, state.readers)), ordering: .relaxed)
    }
  }

  /// Trades the share that a reader has for the one that it may have now.
  func trade(_ share: Int) -> Int {
    let wanted = max(Self.least, part.load(ordering: .relaxed))
    if share == wanted { return share }
    return lend(atMost: wanted, for: share)
  }

  // MARK: Builders

  /// Lends a share to one who builds an index.
  package func borrow() -> MemoryShare {
    MemoryShare(bytes: lend(atMost: writerShare, for: 0), of: self)
  }

  private func lend(atMost wanted: Int, for share: Int) -> Int {
    state.withLock { state in
      let lent = max(Self.least, min(wanted, shared - (state.lent - share)))
      state.lent += lent - share
      return lent
    }
  }

  fileprivate func giveBack(_ share: Int) {
    state.withLock { $0.lent -= share }
  }
}

/// Memory that is lent until this goes.
package struct MemoryShare: ~Copyable, Sendable {
  package let bytes: Int
  private let budget: MemoryBudget

  fileprivate init(bytes: Int, of budget: MemoryBudget) {
    self.bytes = bytes
    self.budget = budget
  }

  deinit {
    budget.giveBack(bytes)
  }
}
