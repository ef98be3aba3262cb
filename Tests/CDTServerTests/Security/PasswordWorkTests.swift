import CDTServer
import CouchDB
import Dispatch
import Glibc
import Synchronization
import Testing

@Suite struct PasswordWorkTests {
  /// Counts what runs at the same time.
  final class Counter: Sendable {
    private let state = Mutex((now: 0, most: 0))

    var most: Int { state.withLock { $0.most } }

    func begin() {
      state.withLock { state in
        state.now += 1
        state.most = max(state.most, state.now)
      }
    }

    func end() { state.withLock { $0.now -= 1 } }
  }

  @Test func `at most two run at once`() async {
    let work = PasswordWork()
    let counter = Counter()
    let results = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<40 {
        group.addTask {
          let result: Result<Void, CouchError> = await work.run {
            counter.begin()
            usleep(1_000)
            counter.end()
          }
          return (try? result.get()) != nil
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.allSatisfy { $0 })
    #expect(counter.most <= 2)
  }

  @Test func `work beyond the queue is refused, and later work is not`() async throws {
    let work = PasswordWork(limit: 2)
    let hold = DispatchSemaphore(value: 0)
    let (started, continuation) = AsyncStream.makeStream(of: Void.self)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          _ = await work.run {
            continuation.yield()
            hold.wait()
          }
        }
      }
      var starts = started.makeAsyncIterator()
      for _ in 0..<2 { await starts.next() }
      let refused = await work.run { 1 }
      #expect(refused == .failure(.busyWithLogins))
      for _ in 0..<2 { hold.signal() }
    }
    #expect(await work.run { 1 } == .success(1))
  }

  @Test func `a derivation that fails is 503`() async {
    struct NoMemory: Error {}
    let result: Result<Int, CouchError> = await PasswordWork().run { throw NoMemory() }
    #expect(result == .failure(.busyWithLogins))
  }
}
