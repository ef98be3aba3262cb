import CDTPlatform
import CDTTestSupport
import Dispatch
import Glibc
import Synchronization
import Testing

/// Work that waits for the disk runs in order, each item once, on a limited number of threads.
@Suite struct WorkQueueTests {
  /// What has run.
  private final class Record: Sendable {
    private struct State {
      var numbers: [Int] = []
      var running = 0
      var most = 0
    }

    private let state = Mutex(State())

    var numbers: [Int] { state.withLock { $0.numbers } }
    var maximumAtOnce: Int { state.withLock { $0.most } }

    func run(_ number: Int) {
      state.withLock { state in
        state.running += 1
        state.most = max(state.most, state.running)
      }
      sched_yield()
      state.withLock { state in
        state.running -= 1
        state.numbers.append(number)
      }
    }

    /// Waits until so many items have run.
    func wait(for count: Int) throws {
      try blockUntil("\(count) items have run") { numbers.count >= count }
    }
  }

  /// Counts the objects that are no more.
  private final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
  }

  private final class Held: Sendable {
    private let released: Counter
    init(_ released: Counter) { self.released = released }
    deinit { released.add() }
  }

  @Test func `one thread runs work in the order in which it was added`() throws {
    let (queue, record) = (WorkQueue(threads: 1), Record())
    for number in 0..<5_000 { try queue.add { record.run(number) } }
    try record.wait(for: 5_000)
    #expect(record.numbers == Array(0..<5_000))
  }

  @Test func `items of many threads run once each, and no more at once than there are threads`() throws {
    let (queue, record) = (WorkQueue(threads: 3), Record())
    onThreads(8) { producer in
      for number in 0..<2_000 { try? queue.add { record.run(producer * 2_000 + number) } }
    }
    try record.wait(for: 16_000)
    #expect(record.numbers.sorted() == Array(0..<16_000))
    #expect(record.maximumAtOnce <= 3)
  }

  @Test func `short work is taken by as many threads as there are processors`() throws {
    let (queue, record) = (WorkQueue(threads: 4, processors: 2, patience: 60_000_000), Record())
    onThreads(8) { producer in
      for number in 0..<2_000 { try? queue.add { record.run(producer * 2_000 + number) } }
    }
    try record.wait(for: 16_000)
    #expect(record.numbers.sorted() == Array(0..<16_000))
    #expect(record.maximumAtOnce <= 2)
  }

  @Test func `work doesn't wait for threads that have long work`() throws {
    let (queue, record) = (WorkQueue(threads: 4, processors: 1), Record())
    let mayEnd = DispatchSemaphore(value: 0)
    for number in 0..<3 {
      try queue.add {
        record.run(number)
        mayEnd.wait()
      }
    }
    // Added before the other threads are called, and after.
    for number in 3..<100 { try queue.add { record.run(number) } }
    try record.wait(for: 100)
    for number in 100..<200 { try queue.add { record.run(number) } }
    try record.wait(for: 200)
    #expect(record.numbers.sorted() == Array(0..<200))
    for _ in 0..<3 { mayEnd.signal() }
  }

  @Test func `the references of work are released before the thread goes on`() throws {
    let (queue, record, released) = (WorkQueue(threads: 1), Record(), Counter())
    for _ in 0..<100 {
      try queue.add { [held = Held(released)] in withExtendedLifetime(held) {} }
      try queue.add { record.run(released.value) }
    }
    try record.wait(for: 100)
    #expect(record.numbers == Array(1...100))
  }

  @Test func `work that arrives when an idle thread is about to end is run`() throws {
    let records = (0..<16).map { _ in (WorkQueue(threads: 1), Record()) }
    for round in 0..<3 {
      for (position, (queue, record)) in records.enumerated() {
        try queue.add { record.run(round) }
        usleep(UInt32(position) * 2)
      }
      for (_, record) in records { try record.wait(for: round + 1) }
      // A thread of the pool ends after an idle second. The steps above spread the queues over the moments around it.
      usleep(990_000)
    }
  }

  @Test func `work that no thread can be started for is refused, unless another thread will run it`() throws {
    let starts = Mutex(0)
    let record = Record()
    let (began, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let queue = WorkQueue(threads: 2) { body throws(SystemError) in
      let number = starts.withLock { starts in
        starts += 1
        return starts
      }
      // Only the second can be started.
      guard number == 2 else { throw SystemError(EAGAIN) }
      try BackgroundThread.start(body)
    }
    #expect(throws: SystemError.self) { try queue.add { record.run(1) } }
    try queue.add {
      began.signal()
      mayEnd.wait()
      record.run(2)
    }
    began.wait()
    try queue.add { record.run(3) }
    mayEnd.signal()
    try record.wait(for: 2)
    #expect(record.numbers == [2, 3])
    #expect(starts.withLock { $0 } == 3)
  }
}
