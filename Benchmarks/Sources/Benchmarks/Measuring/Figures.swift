/// What the rounds of one side came to.
struct Figures: Codable {
  var processor: Spread
  var wall: Spread

  init(_ timings: [Timing]) {
    processor = Spread(timings.map(\.processor))
    wall = Spread(timings.map(\.wall))
  }

  /// The median with the least and the greatest, in nanoseconds for one request.
  struct Spread: Codable {
    let median: Int
    let least: Int
    let greatest: Int
    let rounds: [Int]

    init(_ values: [Double]) {
      rounds = values.map { Int($0.rounded()) }
      let sorted = rounds.sorted()
      least = sorted.first ?? 0
      greatest = sorted.last ?? 0
      let middle = sorted.count / 2
      median =
        sorted.isEmpty
        ? 0 : sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
  }
}
