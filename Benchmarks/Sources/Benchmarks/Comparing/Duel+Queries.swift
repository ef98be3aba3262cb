extension Duel {
  /// Asks for the first time, in stores opened anew, and then the same again and again.
  mutating func ask(_ query: Operation) throws {
    guard wanted.contains(query) else { return }
    let firsts = (0..<rounds).map { FirstRequests(of: query, round: $0, workload) }
    let distinct = workload.parameters.requests(of: query)
    let repeated = (0..<query.requestsPerRound).map { distinct[$0 % distinct.count] }
    try compare(Set(firsts.flatMap { $0.sessions.joined() } + repeated))
    note(query, try askForFirstTime(firsts), in: \.first)
    note(query, try askRepeatedly(repeated), in: \.repeated)
  }

  private func askForFirstTime(_ rounds: [FirstRequests]) throws -> Measurement {
    try measure { round, store, checksum in
      var timing = Timing()
      for session in rounds[round].sessions {
        let contestant = try store.open(in: scratch.path)
        for request in rounds[round].preparing { try contestant.count(request) }
        try Self.ask(session, contestant, &timing, &checksum)
        try contestant.close()
      }
      return timing
    }
  }

  private func askRepeatedly(_ requests: [Request]) throws -> Measurement {
    let contestants = try Store.allCases.map { try $0.open(in: scratch.path) }
    let open = Dictionary(uniqueKeysWithValues: zip(Store.allCases, contestants))
    for request in requests { for contestant in contestants { try contestant.count(request) } }
    let measurement = try measure { _, store, checksum in
      var timing = Timing()
      if let contestant = open[store] { try Self.ask(requests, contestant, &timing, &checksum) }
      return timing
    }
    for contestant in contestants { try contestant.close() }
    return measurement
  }

  private static func ask(
    _ requests: [Request], _ contestant: any Contestant, _ timing: inout Timing, _ checksum: inout Checksum
  ) throws {
    try timing.measure(requests.count, .thread) { number in
      try contestant.answer(requests[number]) { checksum.take($0) }
    }
  }

  /// Runs the rounds of a query, in each of which the stores must give as many results.
  private func measure(
    _ body: (_ round: Int, _ store: Store, _ checksum: inout Checksum) throws -> Timing
  ) throws -> Measurement {
    var measurement = Measurement()
    for round in 0..<rounds {
      let counts = try Store.allCases.map { store in
        var checksum = Checksum()
        measurement.timings[store, default: []].append(try body(round, store, &checksum))
        guard checksum.sum > 0 || checksum.results == 0 else { throw BenchError("results without bytes") }
        return checksum.results
      }
      guard Set(counts).count == 1 else {
        throw BenchError("the stores gave different numbers of results: \(counts)")
      }
      measurement.results = counts[0]
    }
    return measurement
  }
}
