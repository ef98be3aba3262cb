import Glibc

/// What some work took, in nanoseconds.
struct Timing {
  /// Time of every thread of the process on a processor.
  var processor: Double
  /// Time on the wall, waiting for the disk included.
  var wall: Double

  /// Runs `body` and gives what one of its `count` parts took on average.
  static func of(count: Int = 1, _ body: () throws -> Void) rethrows -> Timing {
    let wall = now(CLOCK_MONOTONIC)
    let processor = now(CLOCK_PROCESS_CPUTIME_ID)
    try body()
    let processorTime = now(CLOCK_PROCESS_CPUTIME_ID) - processor
    return Timing(
      processor: Double(processorTime) / Double(count),
      wall: Double(now(CLOCK_MONOTONIC) - wall) / Double(count))
  }

  private static func now(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
