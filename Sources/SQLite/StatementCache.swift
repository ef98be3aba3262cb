/// The statements of a connection; the least recently used is let go first.
struct StatementCache {
  private var entries: [String: Statement] = [:]
  /// The one that was given out last, which is often wanted again: comparing its text costs less than looking it up.
  private var last: Statement?
  /// Statements that are not kept but may still be held by someone; closing ends them too.
  private var others: [Weak] = []
  private var clock = 0
  private static let capacity = 64

  mutating func idle(_ sql: String) -> Statement? {
    guard let entry = last?.sql == sql ? last : entries[sql], !entry.isBusy else { return nil }
    clock += 1
    entry.used = clock
    last = entry
    return entry
  }

  mutating func insert(_ statement: Statement) {
    guard entries[statement.sql] == nil else { return keepTrack(of: statement) }
    clock += 1
    if entries.count >= Self.capacity, let oldest = entries.min(by: { $0.value.used < $1.value.used })?.key {
      if let evicted = entries.removeValue(forKey: oldest) { keepTrack(of: evicted) }
    }
    statement.used = clock
    entries[statement.sql] = statement
    last = statement
  }

  mutating func removeAll() {
    for entry in entries.values { entry.finalize() }
    for other in others { other.statement?.finalize() }
    entries = [:]
    others = []
    last = nil
  }

  private mutating func keepTrack(of statement: Statement) {
    others.removeAll { $0.statement == nil }
    others.append(Weak(statement: statement))
  }

  private struct Weak {
    weak var statement: Statement?
  }
}
