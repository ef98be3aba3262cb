/// The cached statements of a connection, with least-recently-used eviction.
struct StatementCache {
  private var entries: [Key: Statement] = [:]
  /// The statement used last, which is often used again: comparing its text costs less than a lookup.
  private var last: Statement?
  /// Statements that are not cached but may still be referenced; they are closed with the connection.
  private var others: [Weak] = []
  private var clock = 0
  private static let capacity = 64

  mutating func idle(_ sql: String) -> Statement? {
    guard let entry = last?.sql == sql ? last : entries[Key(sql: sql)], !entry.isBusy else { return nil }
    clock += 1
    entry.used = clock
    last = entry
    return entry
  }

  mutating func insert(_ statement: Statement) {
    let key = Key(sql: statement.sql)
    guard entries[key] == nil else { return keepTrack(of: statement) }
    clock += 1
    if entries.count >= Self.capacity, let oldest = entries.min(by: { $0.value.used < $1.value.used })?.key {
      if let evicted = entries.removeValue(forKey: oldest) { keepTrack(of: evicted) }
    }
    statement.used = clock
    entries[key] = statement
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

  private struct Key: Hashable {
    let sql: String

    /// Few have the same length, and to hash the whole text takes longer than to compare it.
    func hash(into hasher: inout Hasher) { hasher.combine(sql.utf8.count) }
  }

  private struct Weak {
    weak var statement: Statement?
  }
}
