import Synchronization

/// Divides a datastore's memory among its connections.
///
/// | | share |
/// |---|---|
/// | the connection that writes documents | a sixteenth, reserved |
/// | the connection that updates indexes | an eighth, reserved |
/// | a reader | the rest divided by the number of readers, at most three quarters of it |
/// | an index build | a sixteenth for the connection; an eighth for rows, three eighths for many documents; if available |
///
/// A sixteenth is kept for unpredictable needs, such as prepared statements. The total lent never exceeds the budget:
/// if readers have more than their new share, a new one gets what is left, and the others shrink the next time they
/// are lent.
package final class MemoryBudget: Sendable {
  private struct State {
    var readers = 0
    /// The part of ``shared`` that is lent, in bytes.
    var lent = 0
  }

  /// The memory of the connection that writes documents, in bytes.
  let writerShare: Int
  /// The memory of the connection that updates indexes, in bytes.
  package let indexShare: Int
  /// The memory for readers and builds, and the maximum for one reader.
  private let shared: Int
  private let most: Int
  private let state = Mutex(State())
  /// The share of each reader, in bytes.
  private let part: Atomic<Int>

  /// The minimum for a usable connection, regardless of the budget: about ten pages, so that also small transactions are larger.
  private static let least = 40 * 1024

  /// - Parameter total: The budget, in bytes.
  init(_ total: Int) {
    let total = max(0, total)
    writerShare = max(Self.least, total / 16)
    indexShare = max(Self.least, total / 8)
    shared = total - total / 16 - total / 16 - total / 8
    most = shared - shared / 4
    part = Atomic(most)
  }

  /// The memory for a sort inside a write before it spills to disk, in bytes.
  var writerSortMemory: Int { max(64 * 1024, writerShare / 8) }

  // MARK: Readers

  func addReader() {
    count(1)
  }

  /// - Parameter share: The share of the reader.
  func removeReader(_ share: Int) {
    giveBack(share)
    count(-1)
  }

  private func count(_ change: Int) {
    state.withLock { state in
      state.readers += change
      part.store(min(most, shared / max(1, state.readers)), ordering: .relaxed)
    }
  }

  /// Exchanges a reader's share for its current one.
  func trade(_ share: Int) -> Int {
    let wanted = max(Self.least, part.load(ordering: .relaxed))
    if share == wanted { return share }
    return lend(atMost: wanted, for: share)
  }

  // MARK: Builders

  /// Lends memory to an index build.
  package func borrow(_ wanted: Int) -> MemoryShare {
    MemoryShare(bytes: lend(atMost: wanted, for: 0), of: self)
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

/// Memory lent until this value is destroyed.
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
