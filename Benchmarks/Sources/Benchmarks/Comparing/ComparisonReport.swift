/// Ours and the yardstick on the whole workload.
struct ComparisonReport: Measured {
  let machine: Machine
  let rounds: Int
  var runs: [Run] = []

  struct Run: Codable {
    let documents: Int
    /// The bytes of the documents as JSON Lines.
    let bytes: Int
    /// Queries, each request asked once.
    var first: [Row] = []
    /// Queries, the same requests again and again.
    var repeated: [Row] = []
    /// Loading, indexing and changing.
    var changes: [Row] = []
    var disk: Disk?

    /// Puts the operations in their order.
    mutating func sort() {
      let order = Operation.allCases
      for rows in [\Run.first, \Run.repeated, \Run.changes] {
        let known = self[keyPath: rows]
        self[keyPath: rows] = order.flatMap { operation in known.filter { $0.operation == operation } }
      }
    }
  }

  struct Row: Codable {
    let operation: Operation
    let requestsPerRound: Int
    /// The number of documents or ids that the requests of the last round gave.
    let results: Int
    let ours: Figures
    let yardstick: Against
    let unmapped: Against?

    init(_ operation: Operation, _ measurement: Measurement) {
      let timings = measurement.timings
      let ours = Figures(timings[.ours] ?? [])
      self.operation = operation
      requestsPerRound = timings[.ours]?.first?.walls.count ?? 0
      results = measurement.results
      self.ours = ours
      yardstick = Against(ours, Figures(timings[.yardstick] ?? []))
      unmapped = timings[.unmapped].map { Against(ours, Figures($0)) }
    }
  }

  /// The store that ours is compared with. Ratios are ours by the other's, of the medians.
  struct Against: Codable {
    let figures: Figures
    let processorRatio: Double
    let wallRatio: Double

    init(_ ours: Figures, _ other: Figures) {
      figures = other
      processorRatio = ComparisonReport.ratio(ours.processor.median, other.processor.median)
      wallRatio = ComparisonReport.ratio(ours.wall.median, other.wall.median)
    }
  }

  /// Bytes on disk, with the three indexes and everything closed.
  struct Disk: Codable {
    let ours: Int
    let yardstick: Int
    let ratio: Double

    init(ours: Int, yardstick: Int) {
      self.ours = ours
      self.yardstick = yardstick
      ratio = ComparisonReport.ratio(ours, yardstick)
    }
  }

  /// A ratio to three digits after the point.
  private static func ratio(_ ours: Int, _ yardstick: Int) -> Double {
    (Double(ours) / Double(max(1, yardstick)) * 1_000).rounded() / 1_000
  }
}
