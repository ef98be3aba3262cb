/// What some work took, in nanoseconds.
struct Timing {
  /// Time of every thread of the process on a processor.
  var processor: Double
  /// Time on the wall, waiting for the disk included.
  var wall: Double

  /// Runs `body` and gives what one of its `count` parts took on average.
  static func of(count: Int = 1, _ body: () throws -> Void) rethrows -> Timing {
    let wall = Clock.monotonic.now
    let processor = Clock.process.now
    try body()
    let processorTime = Clock.process.now - processor
    return Timing(
      processor: Double(processorTime) / Double(count),
      wall: Double(Clock.monotonic.now - wall) / Double(count))
  }
}
