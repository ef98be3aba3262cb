/// The time of requests, in nanoseconds.
struct Timing {
  /// Time on a processor, all requests together.
  private(set) var processor: Int64 = 0
  /// Time on the wall of each request, waiting for the disk included.
  private(set) var walls: [Int64] = []

  /// Measures `body` as one request, work in the background included.
  static func of(_ body: () throws -> Void) rethrows -> Timing {
    var timing = Timing()
    try timing.measure(1, .process) { _ in try body() }
    return timing
  }

  /// Runs so many requests one after another and adds what they take.
  ///
  /// - Parameter processor: The clock of this thread, or that of the process, which has work in the background too.
  mutating func measure(
    _ count: Int, _ processor: Clock, _ request: (_ number: Int) throws -> Void
  ) rethrows {
    walls.reserveCapacity(walls.count + count)
    let processorBefore = processor.now
    var last = Clock.monotonic.now
    for number in 0..<count {
      try request(number)
      let now = Clock.monotonic.now
      walls.append(now - last)
      last = now
    }
    self.processor += processor.now - processorBefore
  }

  /// The averages for one request.
  var averages: (processor: Double, wall: Double) {
    let count = Double(max(1, walls.count))
    return (Double(processor) / count, Double(walls.reduce(0, +)) / count)
  }
}
