/// Readers and a writer, each alone and all at once.
struct ConcurrencyReport: Measured {
  let machine: Machine
  let rounds: Int
  let documents: Int
  let readers: Int
  /// How long each part of a round lasted.
  let seconds: Double
  var ours: [Round] = []
  var yardstick: [Round] = []

  struct Round: Codable {
    let readersAlone: Work
    let writerAlone: Work
    let readersTogether: Work
    let writerTogether: Work
    /// Together, but the writer has another store.
    let readersApart: Work
    let writerApart: Work

    init(
      readersAlone: Work, writerAlone: Work, together: (readers: Work, writer: Work),
      apart: (readers: Work, writer: Work)
    ) {
      self.readersAlone = readersAlone
      self.writerAlone = writerAlone
      readersTogether = together.readers
      writerTogether = together.writer
      readersApart = apart.readers
      writerApart = apart.writer
    }
  }

  var tables: [MarkdownTable] {
    var table = MarkdownTable(
      "\(readers) readers of q1 and a writer, \(Spelling.count(documents)) documents",
      columns: [
        "", "a second alone", "together", "kept", "cores alone", "together", "kept by core",
        "cpu each alone", "together",
      ])
    for (name, rounds) in [("ours", ours), ("yardstick", yardstick)] where !rounds.isEmpty {
      table.append(["\(name), readers"] + row(rounds.map { ($0.readersAlone, $0.readersTogether) }))
      table.append(["… writer elsewhere"] + row(rounds.map { ($0.readersAlone, $0.readersApart) }))
      table.append(["\(name), writer"] + row(rounds.map { ($0.writerAlone, $0.writerTogether) }))
      table.append(["… elsewhere"] + row(rounds.map { ($0.writerAlone, $0.writerApart) }))
    }
    return [table]
  }

  /// The medians of the rounds.
  private func row(_ rounds: [(alone: Work, together: Work)]) -> [String] {
    func median(_ figure: (Work) -> Double) -> (alone: Double, together: Double) {
      (Self.median(rounds.map { figure($0.alone) }), Self.median(rounds.map { figure($0.together) }))
    }
    let rate = median { Double($0.count) / seconds }
    let cores = median { Double($0.processorNanoseconds) / 1e9 / seconds }
    let cost = median { Double($0.processorNanoseconds) / Double(max(1, $0.count)) / 1e3 }
    return [
      Spelling.count(Int(rate.alone)), Spelling.count(Int(rate.together)),
      Spelling.percent(rate.together / rate.alone),
      Spelling.number(cores.alone), Spelling.number(cores.together),
      Spelling.percent(cost.alone / cost.together),
      Spelling.number(cost.alone) + " µs", Spelling.number(cost.together) + " µs",
    ]
  }

  private static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
  }
}
