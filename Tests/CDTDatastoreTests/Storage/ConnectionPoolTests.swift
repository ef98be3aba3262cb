import CDTDatastore
import CDTSQLite
import CDTTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite struct ConnectionPoolTests {
  /// A reader that knows whether it was closed, and whether two used it at once.
  final class Reader: PooledReader {
    let isShut = Atomic(false)
    let users = Atomic(0)
    let hasState = Atomic(false)
    let counter: Counter?

    init(_ counter: Counter? = nil) { self.counter = counter }

    let isBroken = Atomic(false)
    var isUsable: Bool { !isBroken.load(ordering: .relaxed) }
    var keepsState: Bool { hasState.load(ordering: .relaxed) }
    func letGo() { hasState.store(false, ordering: .relaxed) }

    func close() {
      if isShut.exchange(true, ordering: .relaxed) { counter?.shutTwice.add(1, ordering: .relaxed) }
      counter?.shut.add(1, ordering: .relaxed)
    }
  }

  final class Counter: Sendable {
    let opened = Atomic(0)
    let shut = Atomic(0)
    let shutTwice = Atomic(0)
  }

  private func pool(_ counter: Counter) -> ConnectionPool<Reader> {
    ConnectionPool(
      open: {
        counter.opened.add(1, ordering: .relaxed)
        return Reader(counter)
      })
  }

  @Test func `a reader that came back is used again`() throws {
    let counter = Counter()
    let pool = pool(counter)
    let first = try pool.withReader { ObjectIdentifier($0) }
    #expect(try pool.withReader { ObjectIdentifier($0) } == first)
    #expect(counter.opened.load(ordering: .relaxed) == 1)
    #expect(counter.shut.load(ordering: .relaxed) == 0)
  }

  @Test func `a reader that is there from the beginning is used`() throws {
    let counter = Counter()
    let first = Reader(counter)
    let pool = ConnectionPool(first: first, open: { Reader(counter) })
    #expect(try pool.withReader { $0 === first })
    pool.close()
    #expect(counter.shut.load(ordering: .relaxed) == 1)
  }

  @Test func `a thread takes what another has given back`() throws {
    let counter = Counter()
    let pool = pool(counter)
    let used = Counter()
    for _ in 0..<50 {
      let thread = Thread { _ = try? pool.withReader { _ in used.opened.add(1, ordering: .relaxed) } }
      thread.start()
      try blockUntil("the thread has ended") { thread.isFinished }
    }
    #expect(used.opened.load(ordering: .relaxed) == 50)
    #expect(counter.opened.load(ordering: .relaxed) == 1)
  }

  @Test func `readers at the same time are different`() throws {
    let pool = pool(Counter())
    try pool.withReader { outer in
      try pool.withReader { inner in #expect(outer !== inner) }
    }
  }

  @Test func `no more than a few are kept idle`() throws {
    let counter = Counter()
    let pool = pool(counter)
    func nest(_ depth: Int) throws {
      if depth > 0 { try pool.withReader { _ in try nest(depth - 1) } }
    }
    try nest(20)
    #expect(counter.opened.load(ordering: .relaxed) == 20)
    #expect(counter.shut.load(ordering: .relaxed) == 4)
    pool.close()
    #expect(counter.shut.load(ordering: .relaxed) == 20)
    #expect(counter.shutTwice.load(ordering: .relaxed) == 0)
  }

  @Test func `many threads at once do not open readers over and over`() throws {
    let counter = Counter()
    let pool = pool(counter)
    let failed = Atomic(0)
    let threads = (0..<24).map { _ in
      Thread {
        for _ in 0..<200 {
          // Long enough for all of them to be at it at once.
          do { _ = try pool.withReader { _ in usleep(50) } } catch { failed.add(1, ordering: .relaxed) }
        }
      }
    }
    for thread in threads { thread.start() }
    try blockUntil("the threads have ended") { threads.allSatisfy(\.isFinished) }
    #expect(failed.load(ordering: .relaxed) == 0)
    #expect(counter.opened.load(ordering: .relaxed) < 24 * 200 / 4)
    pool.close()
    #expect(counter.opened.load(ordering: .relaxed) == counter.shut.load(ordering: .relaxed))
  }

  @Test func `a reader that nobody borrows ends its state soon`() throws {
    let pool = pool(Counter())
    let reader = try pool.withReader { reader in
      reader.hasState.store(true, ordering: .relaxed)
      return reader
    }
    try blockUntil("the state has ended") { !reader.keepsState }
    // Again, as the pool has stopped looking.
    try pool.withReader { $0.hasState.store(true, ordering: .relaxed) }
    try blockUntil("the state has ended") { !reader.keepsState }
  }

  @Test func `a reader that became unusable while it was idle is not lent`() throws {
    let counter = Counter()
    let pool = pool(counter)
    let first = try pool.withReader { $0 }
    first.isBroken.store(true, ordering: .relaxed)
    #expect(try pool.withReader { $0 !== first })
    #expect(counter.shut.load(ordering: .relaxed) == 1)
    #expect(counter.opened.load(ordering: .relaxed) == 2)
  }

  @Test func `the states of idle readers end when they are asked to, those of others don't`() throws {
    let pool = pool(Counter())
    try pool.withReader { outer in
      outer.hasState.store(true, ordering: .relaxed)
      let inner = try pool.withReader { inner in
        inner.hasState.store(true, ordering: .relaxed)
        return inner
      }
      pool.endStates()
      #expect(!inner.keepsState)
      #expect(outer.keepsState)
    }
  }

  @Test func `a closed pool keeps nothing, and lends nothing`() throws {
    let counter = Counter()
    let pool = pool(counter)
    try pool.withReader { _ in pool.close() }
    #expect(throws: SQLiteError.self) { try pool.withReader { _ in } }
    #expect(counter.opened.load(ordering: .relaxed) == 1)
    #expect(counter.shut.load(ordering: .relaxed) == 1)
  }

  @Test func `closing waits for a reader that is being opened`() throws {
    let (isOpening, mayOpen) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let isOpened = Atomic(false)
    let pool = ConnectionPool(
      open: {
        isOpening.signal()
        mayOpen.wait()
        isOpened.store(true, ordering: .relaxed)
        return Reader()
      })
    let thread = Thread { try? pool.withReader { _ in } }
    thread.start()
    isOpening.wait()
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { mayOpen.signal() }
    pool.close()
    let wasOpened = isOpened.load(ordering: .relaxed)
    #expect(wasOpened)
    try blockUntil("the thread has ended") { thread.isFinished }
  }

  @Test func `an error of opening or of the user comes through, and the reader comes back`() throws {
    struct Failure: Error {}
    let failing = ConnectionPool<Reader>(open: { throw Failure() })
    #expect(throws: Failure.self) { try failing.withReader { _ in } }
    let counter = Counter()
    let pool = pool(counter)
    #expect(throws: Failure.self) { try pool.withReader { _ in throw Failure() } }
    try pool.withReader { _ in }
    #expect(counter.opened.load(ordering: .relaxed) == 1)
  }

  @Test func `threads never share a reader, nor get a closed one`() throws {
    let counter = Counter()
    let pool = pool(counter)
    let wrong = Atomic(0)
    let failed = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<500 {
        do {
          try pool.withReader { reader in
            if reader.users.add(1, ordering: .acquiringAndReleasing).newValue != 1
              || reader.isShut.load(ordering: .acquiring)
            {
              wrong.add(1, ordering: .relaxed)
            }
            reader.users.subtract(1, ordering: .acquiringAndReleasing)
          }
        } catch {
          failed.add(1, ordering: .relaxed)
        }
      }
    }
    pool.close()
    #expect(wrong.load(ordering: .relaxed) == 0)
    #expect(failed.load(ordering: .relaxed) == 0)
    #expect(counter.opened.load(ordering: .relaxed) == counter.shut.load(ordering: .relaxed))
    #expect(counter.shutTwice.load(ordering: .relaxed) == 0)
  }

  @Test func `connections of a pool read beside a writer`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/file.db"
      let writer = try Connection(path: path, mode: .readWriteCreate, busyTimeout: .seconds(60))
      try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (0), (0)")
      let pool = ConnectionPool<PooledConnection>(
        open: { PooledConnection(try Connection(path: path, mode: .readWrite, busyTimeout: .seconds(60))) })
      let torn = Atomic(0)
      let failed = Atomic(0)
      let write = PooledConnection(writer)
      DispatchQueue.concurrentPerform(iterations: 4) { number in
        for _ in 0..<100 {
          do {
            if number == 0 {
              try write.connection.execute("UPDATE t SET x = x + 1")
            } else {
              let different = try pool.withReader {
                try $0.connection.scalar("SELECT count(DISTINCT x) FROM t")
              }
              if different != 1 { torn.add(1, ordering: .relaxed) }
            }
          } catch {
            failed.add(1, ordering: .relaxed)
          }
        }
      }
      pool.close()
      #expect(torn.load(ordering: .relaxed) == 0)
      #expect(failed.load(ordering: .relaxed) == 0)
      #expect(try writer.scalar("SELECT min(x) FROM t") == 100)
    }
  }

  final class PooledConnection: PooledReader, @unchecked Sendable {
    // Sendable without a lock of its own: one thread uses it at a time, by the pool or as the only writer.
    let connection: Connection
    let isUsable = true
    let keepsState = false

    func letGo() {}
    func close() { connection.close() }

    init(_ connection: Connection) {
      self.connection = connection
    }
  }
}

extension ConnectionPool {
  /// Runs `body` with a reader.
  fileprivate func withReader<R>(_ body: (Reader) throws -> R) throws -> R {
    let lease = try lend()
    return try body(lease.reader)
  }
}
