import Synchronization

/// Divides the memory that a datastore may take among its connections.
///
/// Whoever writes, to the documents or to an index, takes a part of an eighth for as long as it has a connection. Readers
/// share the rest: one alone has nearly all of it, twelve have a twelfth each. A reader adapts when it is lent the next
/// time.
package final class MemoryBudget: Sendable {
  /// The budget, in bytes.
  let total: Int
  private let readers = Atomic(0)
  private let parts = Atomic(0)

  /// What a connection needs to be of use, whatever the budget says.
  private static let least = 128 * 1024

  init(_ total: Int) {
    self.total = max(0, total)
  }

  /// A part for one who writes, in bytes. ``returnPart()`` must follow.
  package func takePart() -> Int {
    parts.add(1, ordering: .relaxed)
    return part
  }

  package func returnPart() {
    parts.subtract(1, ordering: .relaxed)
  }

  /// The size of a part, in bytes.
  package var part: Int { max(Self.least, total / 8) }

  func addReader() {
    readers.add(1, ordering: .relaxed)
  }

  func removeReader() {
    readers.subtract(1, ordering: .relaxed)
  }

  /// What each reader may take now, in bytes. A sixteenth of the budget is left for what can't be told beforehand, such as
  /// prepared statements.
  var readerShare: Int {
    let shared = total - total / 16 - parts.load(ordering: .relaxed) * part
    return max(Self.least, shared / max(1, readers.load(ordering: .relaxed)))
  }
}
