/// Counts failures by key, for a limited time and in limited memory.
struct FailureTable<Key: Hashable & Sendable>: Sendable {
  private struct Entry {
    var count: Int
    var last: Duration
  }

  private let window: Duration
  private let capacity: Int
  private var entries: [Key: Entry] = [:]

  /// - Parameter window: How long after the last failure a count is kept.
  init(window: Duration, capacity: Int) {
    self.window = window
    self.capacity = max(1, capacity)
  }

  /// The number of keys in memory.
  var size: Int { entries.count }

  func count(_ key: Key, at now: Duration) -> Int {
    guard let entry = entries[key], now - entry.last < window else { return 0 }
    return entry.count
  }

  mutating func add(_ key: Key, at now: Duration) {
    let count = count(key, at: now)
    if entries[key] == nil, entries.count >= capacity { makeRoom(at: now) }
    entries[key] = Entry(count: count + 1, last: now)
  }

  mutating func subtract(_ number: Int, from key: Key) {
    guard var entry = entries[key] else { return }
    entry.count -= number
    entries[key] = entry.count > 0 ? entry : nil
  }

  /// Removes expired entries, or else the one with the fewest failures, the oldest of several: someone who invents keys
  /// pushes out invented keys before those with many failures.
  private mutating func makeRoom(at now: Duration) {
    entries = entries.filter { now - $0.value.last < window }
    guard entries.count >= capacity else { return }
    let least = entries.min { ($0.value.count, $0.value.last) < ($1.value.count, $1.value.last) }
    if let least { entries[least.key] = nil }
  }
}
