/// The stores on one workload, measured in turn: ours, the yardstick, for queries also the yardstick without mapping, and
/// ours again.
struct Duel {
  let workload: Workload
  let wanted: Set<Operation>
  let rounds: Int
  let scratch: Scratch
  private let file: String
  /// The number of times that stores are loaded and indexed: fewer where that takes minutes.
  private let builds: Int
  private(set) var run: ComparisonReport.Run

  init(_ workload: Workload, wanted: Set<Operation>, rounds: Int, scratch: Scratch) throws {
    self.workload = workload
    self.wanted = wanted
    self.rounds = rounds
    self.scratch = scratch
    builds = min(rounds, max(1, 3_000_000 / workload.documents.count))
    file = try scratch.write(workload.documents.text, "docs.jsonl")
    run = ComparisonReport.Run(documents: workload.documents.count, bytes: workload.documents.text.count)
  }

  mutating func go() throws {
    if wanted.contains(.loadIndexed) { try loadIndexed() }
    try build()
    for query in Operation.queries { try ask(query) }
    if wanted.contains(.q4i) {
      try withStores(Store.changing) { for contestant in $0 { try contestant.createAgeIndex() } }
      try ask(.q4i)
      try withStores(Store.changing) { for contestant in $0 { try contestant.deleteAgeIndex() } }
    }
    if wanted.contains(.update) { try update() }
    if wanted.contains(.maint) { try maintain() }
    try compare([.documents(limit: nil)])
    run.sort()
  }

  /// Opens stores for a call.
  func withStores(_ stores: [Store], _ body: ([any Contestant]) throws -> Void) throws {
    let contestants = try stores.map { try $0.open(in: scratch.path) }
    try body(contestants)
    for contestant in contestants { try contestant.close() }
  }

  /// Compares the answers to requests; in large stores to twenty of them, as what has a limit is asked for without it.
  func compare(_ requests: Set<Request>) throws {
    let compared = requests.prefix(workload.documents.count > 100_000 ? 20 : requests.count)
    try withStores(Store.changing) { contestants in
      let comparison = Comparison(ours: contestants[0], yardstick: contestants[1])
      for request in compared { try comparison.check(request) }
    }
  }

  mutating func note(
    _ operation: Operation, _ measurement: Measurement,
    in rows: WritableKeyPath<ComparisonReport.Run, [ComparisonReport.Row]>
  ) {
    guard wanted.contains(operation) else { return }
    run[keyPath: rows].append(ComparisonReport.Row(operation, measurement))
  }

  // MARK: Building

  /// Loads and indexes new stores in each round; the last are kept for the queries.
  private mutating func build() throws {
    var loads = Measurement(results: workload.documents.count)
    var indexes = Measurement()
    for _ in 0..<(wanted.isDisjoint(with: [.load, .index]) ? 1 : builds) {
      for store in Store.changing {
        let contestant = try store.openEmpty(in: scratch)
        loads.timings[store, default: []].append(try load(contestant))
        indexes.timings[store, default: []].append(try Timing.of { try contestant.createIndexes() })
        try contestant.settle()
        try contestant.close()
      }
    }
    note(.load, loads, in: \.changes)
    note(.index, indexes, in: \.changes)
    guard wanted.contains(.disk) else { return }
    let sizes = try Store.changing.map { try Scratch.size(of: $0.directory(in: scratch.path)) }
    run.disk = ComparisonReport.Disk(ours: sizes[0], yardstick: sizes[1])
  }

  /// Loads with the indexes in place.
  private mutating func loadIndexed() throws {
    var loads = Measurement(results: workload.documents.count)
    for _ in 0..<builds {
      for store in Store.changing {
        let contestant = try store.openEmpty(in: scratch)
        try contestant.createIndexes()
        loads.timings[store, default: []].append(try load(contestant))
        try contestant.close()
      }
    }
    try compare([.documents(limit: nil)])
    note(.loadIndexed, loads, in: \.changes)
  }

  private func load(_ contestant: any Contestant) throws -> Timing {
    try Timing.of { try contestant.load(workload.documents, file: file) }
  }
}
