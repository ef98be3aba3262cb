/// What the benchmark found, as it is written to a file.
struct Report: Codable {
  let machine: Machine
  let rounds: Int
  var runs: [Run] = []

  struct Run: Codable {
    let documents: Int
    /// The bytes of the documents as JSON Lines.
    let bytes: Int
    var operations: [Row] = []
    var disk: Disk?
  }

  struct Row: Codable {
    let operation: Operation
    let requestsPerRound: Int
    /// How many documents or ids the requests of a round gave.
    let results: Int
    let ours: Figures
    let yardstick: Figures
    /// Ours by the yardstick's, of the medians.
    let processorRatio: Double
    let wallRatio: Double

    init(_ operation: Operation, results: Int = 0, ours: [Timing], yardstick: [Timing]) {
      self.operation = operation
      requestsPerRound = operation.requestsPerRound
      self.results = results
      self.ours = Figures(ours)
      self.yardstick = Figures(yardstick)
      processorRatio = Report.ratio(self.ours.processor.median, self.yardstick.processor.median)
      wallRatio = Report.ratio(self.ours.wall.median, self.yardstick.wall.median)
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
      ratio = Report.ratio(ours, yardstick)
    }
  }

  /// A ratio to three digits after the point.
  private static func ratio(_ ours: Int, _ yardstick: Int) -> Double {
    (Double(ours) / Double(max(1, yardstick)) * 1_000).rounded() / 1_000
  }
}
