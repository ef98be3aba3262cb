import CDTPlatform
import CDTTestSupport
import Synchronization
import Testing

@testable import CDTSQLite

struct SuspensionPhaseTests {
  @Test func `a writer that begins as the files are counted does not use them after the suspension`() async {
    let suspension = Suspension("the datastore")
    let isOver = Atomic(false)
    let uses = Atomic(0)
    let wrong = Atomic(0)
    await onThreads(2) { number in
      guard number == 0 else {
        while !isOver.load(ordering: .sequentiallyConsistent) {
          suspension.writer.store(CurrentThread.number, ordering: .sequentiallyConsistent)
          if let hold = try? suspension.hold() {
            uses.add(1, ordering: .sequentiallyConsistent)
            uses.subtract(1, ordering: .sequentiallyConsistent)
            _ = consume hold
          }
          suspension.writer.store(0, ordering: .sequentiallyConsistent)
        }
        return
      }
      for _ in 0..<200_000 {
        let isFree = suspension.suspend(within: .seconds(60)) {}
        if !isFree || uses.load(ordering: .sequentiallyConsistent) != 0 {
          wrong.add(1, ordering: .sequentiallyConsistent)
        }
        _ = suspension.resume()
      }
      isOver.store(true, ordering: .sequentiallyConsistent)
    }
    #expect(wrong.load(ordering: .sequentiallyConsistent) == 0)
  }
}
