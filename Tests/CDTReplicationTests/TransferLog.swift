/// Which revisions requests carried or asked for, and which of these requests were disturbed.
struct TransferLog: Sendable {
  /// By the numbers of the requests.
  private var requests: [Int: [String]] = [:]
  private var disturbed: Set<Int> = []

  mutating func begin(_ number: Int, _ request: ProxiedRequest) {
    let revisions = request.revisions
    if !revisions.isEmpty { requests[number] = revisions }
  }

  /// Notes that the client did not get the reply whole.
  mutating func disturb(_ number: Int) { disturbed.insert(number) }

  /// How often each revision was sent or asked for.
  var counts: [String: Int] {
    requests.values.joined().reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }

  /// The revisions that were sent more often than requests with them were disturbed, plus one, in words.
  func unexcused() -> [String] {
    let excuses = disturbed.compactMap { requests[$0] }.joined().reduce(into: [String: Int]()) {
      $0[$1, default: 0] += 1
    }
    return counts.filter { $0.value > 1 + excuses[$0.key, default: 0] }
      .map { "\($0.key): \($0.value) times, \(excuses[$0.key, default: 0]) disturbed" }.sorted()
  }
}
