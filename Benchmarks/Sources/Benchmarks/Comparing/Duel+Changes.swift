extension Duel {
  /// Replaces single documents, each in a transaction of its own.
  mutating func update() throws {
    let (count, updates) = (Operation.update.requestsPerRound, workload.updates)
    let measurement = try change(results: count) { round, contestant in
      var timing = Timing()
      try timing.measure(count, .process) { number in
        let position = (round * count + number) % updates.count
        try contestant.replace(position..<position + 1, of: updates)
      }
      return timing
    }
    note(.update, measurement, in: \.changes)
  }

  /// Replaces one in a hundred documents in one transaction, and asks for them by what is new in them.
  mutating func maintain() throws {
    let count = workload.documents.count / 100
    let measurement = try change(results: count) { round, contestant in
      var found = 0
      let timing = try Timing.of {
        try contestant.replace(0..<count, of: workload.maintenance[round])
        found = try contestant.count(.fresh(Workload.freshName(round)))
      }
      guard found == count else {
        throw BenchError("\(found) of \(count) documents were found by their new name")
      }
      return timing
    }
    note(.maint, measurement, in: \.changes)
  }

  private func change(
    results: Int, _ body: (_ round: Int, _ contestant: any Contestant) throws -> Timing
  ) throws -> Measurement {
    var measurement = Measurement(results: results)
    try withStores(Store.changing) { contestants in
      for round in 0..<rounds {
        for (store, contestant) in zip(Store.changing, contestants) {
          measurement.timings[store, default: []].append(try body(round, contestant))
        }
      }
    }
    return measurement
  }
}
