/// The memory that a process with one store holds.
struct MemoryReport: Measured {
  let machine: Machine
  let documents: Int
  let threads: Int
  let seconds: Double
  var ours: MemorySample?
  var yardstick: MemorySample?
  var unmapped: MemorySample?

  var tables: [MarkdownTable] {
    let samples = [ours, yardstick, unmapped]
    var table = MarkdownTable(
      "Memory, \(Spelling.count(documents)) documents", columns: ["", "ours", "yardstick", "unmapped"])
    let rows: [(String, KeyPath<MemorySample, Int>)] = [
      ("before opening", \.before), ("open, at rest", \.open), ("after the first query", \.first),
      ("under \(threads) threads, at most", \.busy), ("at rest again", \.after),
    ]
    for (name, figure) in rows {
      table.append([name] + samples.map { $0.map { Spelling.size($0[keyPath: figure]) } ?? "" })
    }
    return [table]
  }
}

/// The anonymous memory of a process, in bytes: what it has taken for itself, without the files that it maps.
struct MemorySample: Codable {
  private(set) var before = 0
  private(set) var open = 0
  private(set) var first = 0
  /// The most while many threads ask.
  private(set) var busy = 0
  private(set) var after = 0

  /// Takes the sample of this process.
  ///
  /// - Parameters:
  ///   - store: The store to open, the only one of the process.
  ///   - parent: The parent of its directory.
  ///   - parameters: The parameters of the queries.
  init(
    _ store: Store, in parent: String, _ parameters: Parameters, threads: Int, seconds: Double
  ) throws {
    before = try Self.anonymousBytes()
    let contestant = try store.open(in: parent)
    open = try Self.anonymousBytes()
    let requests = Operation.queries.map { parameters.requests(of: $0) }
    try contestant.count(requests[0][0])
    first = try Self.anonymousBytes()
    let end = Clock.monotonic.now + Int64(seconds * 1e9)
    let contestants = try (0..<threads).map { $0 == 0 ? contestant : try contestant.forAnotherThread() }
    // One thread more looks on.
    let most = try Threads.run(threads + 1) { thread in
      var (number, most) = (thread, 0)
      while Clock.monotonic.now < end {
        if thread == threads {
          most = max(most, try Self.anonymousBytes())
          Clock.monotonic.sleep(until: Clock.monotonic.now + 20_000_000)
        } else {
          let choices = requests[number % requests.count]
          try contestants[thread].count(choices[number / requests.count % choices.count])
          number += 1
        }
      }
      return most
    }
    busy = most.max() ?? 0
    after = try Self.anonymousBytes()
    for each in contestants { try each.close() }
  }

  private static func anonymousBytes() throws -> Int {
    let lines = Machine.text("/proc/self/status")?.split(separator: "\n") ?? []
    guard let line = lines.first(where: { $0.hasPrefix("RssAnon:") }),
      let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
    else { throw BenchError("the system does not tell the memory of a process") }
    return kibibytes * 1_024
  }
}
