/// The two stores on one workload, measured in turn: ours, the yardstick, ours, the yardstick, and so on.
struct Duel {
  private let workload: Workload
  private let wanted: Set<Operation>
  private let rounds: Int
  private let scratch: Scratch
  private let file: String
  private(set) var run: ComparisonReport.Run

  init(_ workload: Workload, wanted: Set<Operation>, rounds: Int, scratch: Scratch) throws {
    self.workload = workload
    self.wanted = wanted
    self.rounds = rounds
    self.scratch = scratch
    file = try scratch.write(workload.documents.text, "docs.jsonl")
    run = ComparisonReport.Run(documents: workload.documents.count, bytes: workload.documents.text.count)
  }

  mutating func go() throws {
    if wanted.contains(.loadIndexed) { try loadIndexed() }
    try build()
    let ours = try Ours(directory: directory("ours"))
    let yardstick = try Yardstick(directory: directory("yardstick"))
    let comparison = Comparison(ours: ours, yardstick: yardstick)
    for query in Operation.queries { try ask(query, comparison) }
    if wanted.contains(.q4i) {
      try ours.createAgeIndex()
      try yardstick.createAgeIndex()
      try ask(.q4i, comparison)
      try ours.deleteAgeIndex()
      try yardstick.deleteAgeIndex()
    }
    if wanted.contains(.update) { try update(comparison) }
    if wanted.contains(.maint) { try maintain(comparison) }
    try comparison.check(.documents(limit: nil))
    ours.close()
    try yardstick.close()
    let order = Operation.allCases
    run.operations.sort { order.firstIndex(of: $0.operation) ?? 0 < order.firstIndex(of: $1.operation) ?? 0 }
  }

  private func directory(_ name: String) -> String { "\(scratch.path)/\(name)" }

  private mutating func note(
    _ operation: Operation, results: Int = 0, _ timings: (ours: [Timing], yardstick: [Timing])
  ) {
    guard wanted.contains(operation) else { return }
    run.operations.append(
      ComparisonReport.Row(operation, results: results, ours: timings.ours, yardstick: timings.yardstick))
  }

  // MARK: Building

  /// Loads and indexes fresh stores, each round anew; the last are kept for the queries.
  private mutating func build() throws {
    let rounds = wanted.isDisjoint(with: [.load, .index]) ? 1 : rounds
    var loads: (ours: [Timing], yardstick: [Timing]) = ([], [])
    var indexes: (ours: [Timing], yardstick: [Timing]) = ([], [])
    for _ in 0..<rounds {
      let ours = try Ours(directory: scratch.directory("ours"))
      let yardstick = try Yardstick(directory: scratch.directory("yardstick"))
      loads.ours.append(try Timing.of { try ours.load(workload.documents, file: file) })
      loads.yardstick.append(try Timing.of { try yardstick.load(workload.documents, file: file) })
      indexes.ours.append(try Timing.of { try ours.createIndexes() })
      indexes.yardstick.append(try Timing.of { try yardstick.createIndexes() })
      try ours.settle()
      try yardstick.settle()
      ours.close()
      try yardstick.close()
    }
    note(.load, results: workload.documents.count, loads)
    note(.index, indexes)
    if wanted.contains(.disk) {
      run.disk = ComparisonReport.Disk(
        ours: try Scratch.size(of: directory("ours")), yardstick: try Scratch.size(of: directory("yardstick"))
      )
    }
  }

  /// Loads with the indexes in place.
  private mutating func loadIndexed() throws {
    var timings: (ours: [Timing], yardstick: [Timing]) = ([], [])
    for _ in 0..<rounds {
      let ours = try Ours(directory: scratch.directory("ours"))
      let yardstick = try Yardstick(directory: scratch.directory("yardstick"))
      try ours.createIndexes()
      try yardstick.createIndexes()
      timings.ours.append(try Timing.of { try ours.load(workload.documents, file: file) })
      timings.yardstick.append(try Timing.of { try yardstick.load(workload.documents, file: file) })
      try Comparison(ours: ours, yardstick: yardstick).check(.documents(limit: nil))
      ours.close()
      try yardstick.close()
    }
    note(.loadIndexed, results: workload.documents.count, timings)
  }

  // MARK: Asking

  private mutating func ask(_ operation: Operation, _ comparison: Comparison) throws {
    guard wanted.contains(operation) else { return }
    let distinct = workload.parameters.requests(of: operation)
    let requests = (0..<operation.requestsPerRound).map { distinct[$0 % distinct.count] }
    // The comparison also brings both stores' pages into memory.
    for request in Set(requests) { try comparison.check(request) }
    var timings: (ours: [Timing], yardstick: [Timing]) = ([], [])
    var counts: Set<Int> = []
    for _ in 0..<rounds {
      timings.ours.append(try Self.time(comparison.ours, requests, &counts))
      timings.yardstick.append(try Self.time(comparison.yardstick, requests, &counts))
    }
    guard counts.count == 1, let results = counts.first else {
      throw BenchError("\(operation): the rounds gave different numbers of results, \(counts.sorted())")
    }
    note(operation, results: results, timings)
  }

  private static func time(
    _ contestant: some Contestant, _ requests: [Request], _ counts: inout Set<Int>
  ) throws -> Timing {
    var checksum = Checksum()
    let timing = try Timing.of(count: requests.count) {
      for request in requests { try contestant.answer(request) { checksum.take($0) } }
    }
    guard checksum.sum > 0 || checksum.results == 0 else { throw BenchError("results without bytes") }
    counts.insert(checksum.results)
    return timing
  }

  // MARK: Changing

  /// Replaces single documents, each in a transaction of its own.
  private mutating func update(_ comparison: Comparison) throws {
    var timings: (ours: [Timing], yardstick: [Timing]) = ([], [])
    let count = Operation.update.requestsPerRound
    for round in 0..<rounds {
      let positions = (0..<count).map { (round * count + $0) % workload.updates.count }
      timings.ours.append(try Self.time(comparison.ours, replacing: positions, of: workload.updates))
      timings.yardstick.append(
        try Self.time(comparison.yardstick, replacing: positions, of: workload.updates))
    }
    note(.update, results: count, timings)
  }

  private static func time(
    _ contestant: some Contestant, replacing positions: [Int], of documents: JSONLines
  ) throws -> Timing {
    try Timing.of(count: positions.count) {
      for position in positions { try contestant.replace(position..<position + 1, of: documents) }
    }
  }

  /// Replaces one in a hundred documents in one transaction, and asks for them by what is new in them.
  private mutating func maintain(_ comparison: Comparison) throws {
    var timings: (ours: [Timing], yardstick: [Timing]) = ([], [])
    for (round, documents) in workload.maintenance.prefix(rounds).enumerated() {
      let name = Workload.freshName(round)
      timings.ours.append(try Self.time(comparison.ours, maintaining: documents, name))
      timings.yardstick.append(try Self.time(comparison.yardstick, maintaining: documents, name))
      try comparison.check(.fresh(name))
    }
    note(.maint, results: workload.documents.count / 100, timings)
  }

  private static func time(
    _ contestant: some Contestant, maintaining documents: JSONLines, _ name: String
  ) throws -> Timing {
    var checksum = Checksum()
    let timing = try Timing.of {
      try contestant.replace(0..<documents.count, of: documents)
      try contestant.answer(.fresh(name)) { checksum.take($0) }
    }
    guard checksum.results == documents.count else {
      throw BenchError("\(checksum.results) of \(documents.count) documents were found by their new name")
    }
    return timing
  }
}
