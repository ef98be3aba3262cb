/// The times of the rounds of one store, in nanoseconds for one request.
struct Figures: Codable {
  let processor: Spread
  let wall: Spread
  /// The time on the wall of single requests, of all rounds together.
  let single: Percentiles

  init(_ rounds: [Timing]) {
    processor = Spread(rounds.map(\.averages.processor))
    wall = Spread(rounds.map(\.averages.wall))
    single = Percentiles(rounds.flatMap(\.walls))
  }

  /// The median, the least and the greatest of the rounds' averages.
  struct Spread: Codable {
    let median: Int
    let least: Int
    let greatest: Int

    init(_ values: [Double]) {
      let sorted = values.map { Int($0.rounded()) }.sorted()
      least = sorted.first ?? 0
      greatest = sorted.last ?? 0
      let middle = sorted.count / 2
      median =
        sorted.isEmpty
        ? 0 : sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
  }
}

/// The distribution of the times of single requests.
struct Percentiles: Codable {
  let count: Int
  let p50: Int
  let p99: Int
  let p999: Int
  let greatest: Int

  init(_ values: [Int64]) {
    let sorted = values.sorted()
    /// The least value that so many of a thousand do not exceed.
    func rank(_ thousandths: Int) -> Int {
      sorted.isEmpty ? 0 : Int(sorted[(sorted.count * thousandths + 999) / 1_000 - 1])
    }
    count = sorted.count
    p50 = rank(500)
    p99 = rank(990)
    p999 = rank(999)
    greatest = rank(1_000)
  }
}
