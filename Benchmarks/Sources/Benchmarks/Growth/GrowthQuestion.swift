/// What is asked of stores of every size.
///
/// For the sizes to be comparable a question must have as many results in each of them. The workload's q2 and q5 have:
/// one document, and 100 of one tag, which even 10,000 documents hold several times over. Its q1 has not: a thousand
/// names are shared by ten documents each at 10,000, and by a thousand each at 1,000,000, so that its limit of 25 is
/// met in the large store only. Here it asks for five, and for those names and ages only of which the smallest store has
/// five.
enum GrowthQuestion: String, CaseIterable {
  case q1 = "q1, limit 5"
  case q2
  /// As q2, but asking for 6,000 documents from all over the store rather than for the workload's 300, which lie in the
  /// processor's caches after the first time.
  case q2Anywhere = "q2, anywhere"
  case q5

  static let namedLimit = 5

  var requestsPerRound: Int {
    switch self {
    case .q1: Operation.q1.requestsPerRound
    case .q2, .q2Anywhere: Operation.q2.requestsPerRound
    case .q5: Operation.q5.requestsPerRound
    }
  }

  /// The requests to a store.
  ///
  /// - Parameters:
  ///   - smallest: The parameters of the smallest store, which the larger ones are asked with as well where they name no
  ///     document.
  ///   - own: The parameters of the store's own size.
  ///   - count: How many documents the store has.
  func requests(_ smallest: Parameters, own: Parameters, count: Int) -> [Request] {
    switch self {
    case .q1: smallest.named.map { .named($0.name, minimumAge: $0.age, limit: Self.namedLimit) }
    case .q2: own.requests(of: .q2)
    case .q2Anywhere:
      anywhere(count)
    case .q5: smallest.requests(of: .q5)
    }
  }

  private func anywhere(_ count: Int) -> [Request] {
    var random = LCG(seed: UInt64(count))
    return (0..<requestsPerRound).map { _ in .id(BenchDocument.id(1 + random.below(count))) }
  }
}
