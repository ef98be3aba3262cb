/// Threads that send single requests to a store, each the next as soon as it has the answer of the last.
struct Traffic {
  let threads: Int
  /// The number of writes in a hundred requests; the others are queries.
  let writes: Int
  let seconds: Double

  struct Outcome {
    var queries = Latencies()
    var writes = Latencies()
  }

  func run(_ store: any Contestant, _ workload: Workload) throws -> Outcome {
    // Time for every connection to be open, and every thread to be there.
    let start = Clock.monotonic.now + 100_000_000
    let contestants = try (0..<threads).map { $0 == 0 ? store : try store.forAnotherThread() }
    let outcomes = try Threads.run(threads) { number in
      let (contestant, updates) = (contestants[number], workload.updates)
      var requests = TrafficRequests(workload, seed: UInt64(number + 1))
      var position = number * updates.count / threads
      var outcome = Outcome()
      Clock.monotonic.sleep(until: start)
      let end = start + Int64(seconds * 1e9)
      while Clock.monotonic.now < end {
        if requests.nextIsWrite(of: writes) {
          position = (position + 1) % updates.count
          try outcome.writes.measure { try contestant.replace(position..<position + 1, of: updates) }
        } else {
          let request = requests.next()
          try outcome.queries.measure { try contestant.count(request) }
        }
      }
      return outcome
    }
    for contestant in contestants where contestant !== store { try contestant.close() }
    guard try store.count(.documents(limit: nil)) == workload.documents.count else {
      throw BenchError("documents were lost")
    }
    return outcomes.reduce(into: Outcome()) { sum, outcome in
      sum.queries += outcome.queries
      sum.writes += outcome.writes
    }
  }
}

/// The requests of a thread: q1, q2 and q5, each as often, with parameters from the whole workload.
private struct TrafficRequests {
  private let vocabulary: Vocabulary
  private let documents: Int
  private var random: LCG

  init(_ workload: Workload, seed: UInt64) {
    vocabulary = workload.vocabulary
    documents = workload.documents.count
    random = LCG(seed: seed &* 0x9E37_79B9_7F4A_7C15)
  }

  mutating func nextIsWrite(of hundredths: Int) -> Bool { random.below(100) < hundredths }

  mutating func next() -> Request {
    switch random.below(3) {
    case 0: .named(random.pick(vocabulary.names), minimumAge: random.below(100), limit: 25)
    case 1: .id(BenchDocument.id(1 + random.below(documents)))
    default: .tagged(random.pick(vocabulary.tags), limit: 100)
    }
  }
}

/// The times of many single requests, in nanoseconds.
struct Latencies {
  private(set) var walls: [Int64] = []
  /// Time of the thread on a processor.
  private(set) var processors: [Int64] = []

  mutating func measure(_ request: () throws -> Void) rethrows {
    let wall = Clock.monotonic.now
    let processor = Clock.thread.now
    try request()
    processors.append(Clock.thread.now - processor)
    walls.append(Clock.monotonic.now - wall)
  }

  static func += (left: inout Latencies, right: Latencies) {
    left.walls += right.walls
    left.processors += right.processors
  }
}
