/// A store with readers and a writer at full speed, and another one for a writer who changes nothing that they read.
final class Crowd<Store: Contestant> {
  private let workload: Workload
  private let requests: [Request]
  private let store: Store
  private let elsewhere: Store

  init(_ name: String, _ scratch: Scratch, _ workload: Workload, _ file: String) throws {
    self.workload = workload
    requests = workload.parameters.requests(of: .q1)
    store = try Self.filled(scratch.directory(name), workload, file)
    elsewhere = try Self.filled(scratch.directory("\(name)-elsewhere"), workload, file)
  }

  private static func filled(_ directory: String, _ workload: Workload, _ file: String) throws -> Store {
    let store = try Store(directory: directory)
    try store.load(workload.documents, file: file)
    try store.createIndexes()
    try store.settle()
    return store
  }

  func close() throws {
    try store.close()
    try elsewhere.close()
  }

  /// Readers alone, the writer alone, all of them, and all of them with the writer in the other store. None begins with what
  /// the one before has left to be done.
  func round(_ round: Int, readers: Int, seconds: Double) throws -> ConcurrencyReport.Round {
    try store.settle()
    let readersAlone = try run(readers: readers, seconds, round)
    let writerAlone = try run(writer: store, seconds, round)
    try store.settle()
    let together = try run(readers: readers, writer: store, seconds, round)
    try store.settle()
    let apart = try run(readers: readers, writer: elsewhere, seconds, round)
    try elsewhere.settle()
    return ConcurrencyReport.Round(
      readersAlone: sum(readersAlone[...]), writerAlone: sum(writerAlone[...]),
      together: (sum(together.dropLast()), sum(together.suffix(1))),
      apart: (sum(apart.dropLast()), sum(apart.suffix(1))))
  }

  private func sum(_ parts: ArraySlice<Work>) -> Work { parts.reduce(Work(), +) }

  private func run(readers: Int = 0, writer: Store? = nil, _ seconds: Double, _ round: Int) throws -> [Work] {
    // Time for every connection to be open, and every thread to be there.
    let start = Clock.monotonic.now + 100_000_000
    let end = start + Int64(seconds * 1e9)
    let (requests, updates) = (requests, workload.updates)
    let used = Array(repeating: store, count: readers) + (writer.map { [$0] } ?? [])
    let stores = try used.map { try $0.forAnotherThread() }
    defer { for (other, own) in zip(stores, used) where other !== own { try? other.close() } }
    let threads = try stores.enumerated().map { number, store in
      try WorkerThread {
        if number < readers {
          // Each begins elsewhere, so that they do not walk in step.
          return try Self.read(requests, from: number * 71, store, start, end)
        }
        return try Self.write(updates, from: round * 331, store, start, end)
      }
    }
    return try threads.map { try $0.join() }
  }

  private static func read(
    _ requests: [Request], from first: Int, _ store: Store, _ start: Int64, _ end: Int64
  ) throws -> Work {
    var checksum = Checksum()
    return try Work.during(start, end) { number in
      try store.answer(requests[(first + number) % requests.count]) { checksum.take($0) }
    }
  }

  private static func write(
    _ updates: JSONLines, from first: Int, _ store: Store, _ start: Int64, _ end: Int64
  ) throws -> Work {
    try Work.during(start, end) { number in
      let position = (first + number) % updates.count
      try store.replace(position..<position + 1, of: updates)
    }
  }
}

/// How often something was done, and the processor time of the thread that did it.
struct Work: Codable, Sendable {
  var count = 0
  var processorNanoseconds = 0

  static func + (left: Work, right: Work) -> Work {
    Work(
      count: left.count + right.count,
      processorNanoseconds: left.processorNanoseconds + right.processorNanoseconds)
  }

  /// Does something from one time to another.
  static func during(_ start: Int64, _ end: Int64, _ body: (_ number: Int) throws -> Void) rethrows -> Work {
    Clock.monotonic.sleep(until: start)
    let processor = Clock.thread.now
    var work = Work()
    while Clock.monotonic.now < end {
      try body(work.count)
      work.count += 1
    }
    work.processorNanoseconds = Int(Clock.thread.now - processor)
    return work
  }
}
