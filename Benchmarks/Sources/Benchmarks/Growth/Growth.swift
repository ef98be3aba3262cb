/// Stores of several sizes, asked the same in turn.
struct Growth {
  private struct Size {
    let count: Int
    let parameters: Parameters
    let updates: JSONLines
    let ours: Ours
    let yardstick: Yardstick
  }

  private let rounds: Int
  private let scratch: Scratch
  private var sizes: [Size] = []

  init(rounds: Int, scratch: Scratch) {
    self.rounds = rounds
    self.scratch = scratch
  }

  /// Builds both stores of a size, with their indexes.
  mutating func add(_ count: Int) throws {
    let workload = Workload(count: count)
    let file = try scratch.write(workload.documents.text, "docs.jsonl")
    let ours = try Ours(directory: scratch.directory("ours-\(count)"))
    let yardstick = try Yardstick(directory: scratch.directory("yardstick-\(count)"))
    try Self.fill(ours, workload, file)
    try Self.fill(yardstick, workload, file)
    sizes.append(
      Size(
        count: count, parameters: workload.parameters, updates: workload.updates, ours: ours,
        yardstick: yardstick))
  }

  private static func fill(_ store: some Contestant, _ workload: Workload, _ file: String) throws {
    try store.load(workload.documents, file: file)
    try store.createIndexes()
    try store.settle()
  }

  func close() {
    for size in sizes {
      size.ours.close()
      try? size.yardstick.close()
    }
  }

  // MARK: Asking

  func ask(_ question: GrowthQuestion) throws -> GrowthReport.Row {
    let requests = try sizes.map { try self.requests(question, to: $0) }
    var results: Set<Int> = []
    let row = try measure(question.rawValue, requestsPerRound: question.requestsPerRound) { size, store, _ in
      var checksum = Checksum()
      let timing = try Timing.of(count: requests[size].count) {
        for request in requests[size] { try store.answer(request) { checksum.take($0) } }
      }
      results.insert(checksum.results)
      return timing
    }
    guard results.count == 1, let count = results.first, count > 0 else {
      throw BenchError(
        "\(question.rawValue): the stores gave different numbers of results, \(results.sorted())")
    }
    return row.giving(results: count)
  }

  /// The requests of a round, each of which was asked and compared once.
  private func requests(_ question: GrowthQuestion, to size: Size) throws -> [Request] {
    guard let smallest = sizes.first else { return [] }
    let distinct = try question.requests(smallest.parameters, own: size.parameters, count: size.count)
      .filter { try question != .q1 || Self.count($0, in: smallest.ours) == GrowthQuestion.namedLimit }
    guard !distinct.isEmpty else {
      throw BenchError(
        "\(question.rawValue): nothing has as many results in each store; give sizes of 10000 and more")
    }
    let comparison = Comparison(ours: size.ours, yardstick: size.yardstick)
    // Comparing a limited answer takes the unlimited one, of a fiftieth of all documents, so that few are enough.
    for request in Set(distinct.prefix(20)) { try comparison.check(request) }
    for request in distinct {
      _ = try Self.count(request, in: size.ours)
      _ = try Self.count(request, in: size.yardstick)
    }
    return (0..<question.requestsPerRound).map { distinct[$0 % distinct.count] }
  }

  private static func count(_ request: Request, in store: some Contestant) throws -> Int {
    var checksum = Checksum()
    try store.answer(request) { checksum.take($0) }
    return checksum.results
  }

  // MARK: Changing

  /// Replaces single documents, each in a durable transaction of its own.
  func update() throws -> GrowthReport.Row {
    let count = Operation.update.requestsPerRound
    return try measure(Operation.update.rawValue, requestsPerRound: count) { size, store, round in
      let updates = sizes[size].updates
      return try Timing.of(count: count) {
        for request in 0..<count {
          let position = (round * count + request) % updates.count
          try store.replace(position..<position + 1, of: updates)
        }
      }
    }
  }

  /// Replaces one document again and again, and measures the first 200 times and those after 1,000 and 10,000.
  func lengthenHistory() throws -> [GrowthReport.History] {
    guard let size = sizes.first else { return [] }
    let count = Operation.update.requestsPerRound
    var length = 1
    return try [1, 1_000, 10_000].map { wanted in
      while length < wanted {
        try size.ours.replace(0..<1, of: size.updates)
        length += 1
      }
      // Five parts, so that there is a spread.
      let timings = try (0..<5).map { _ in
        try Timing.of(count: count / 5) {
          for _ in 0..<count / 5 { try size.ours.replace(0..<1, of: size.updates) }
        }
      }
      length += count
      return GrowthReport.History(revisions: wanted, update: Figures(timings))
    }
  }

  /// Runs the rounds: every size, ours and then the yardstick.
  private func measure(
    _ name: String, requestsPerRound: Int,
    _ body: (_ size: Int, _ store: any Contestant, _ round: Int) throws -> Timing
  ) throws -> GrowthReport.Row {
    var timings: [(ours: [Timing], yardstick: [Timing])] = sizes.map { _ in ([], []) }
    for round in 0..<rounds {
      for (position, size) in sizes.enumerated() {
        timings[position].ours.append(try body(position, size.ours, round))
        timings[position].yardstick.append(try body(position, size.yardstick, round))
      }
    }
    return GrowthReport.Row(
      name: name, requestsPerRound: requestsPerRound, results: 0,
      ours: timings.map { Figures($0.ours) }, yardstick: timings.map { Figures($0.yardstick) })
  }
}
