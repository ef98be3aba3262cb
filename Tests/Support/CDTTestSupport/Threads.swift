import CDTPlatform
import Dispatch
import Foundation
import Synchronization

/// Runs a closure on so many threads at once, each with its number, and waits for all of them.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  start(count, body).wait()
}

/// Runs a closure on so many threads at once, each with its number, and waits for all of them without a thread.
package func onThreads(
  _ count: Int, isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable (Int) -> Void
) async {
  let group = start(count, body)
  await withCheckedContinuation { continuation in
    group.notify(queue: .global()) { continuation.resume() }
  }
}

private func start(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> DispatchGroup {
  let group = DispatchGroup()
  for number in 0..<count {
    group.enter()
    Thread {
      body(number)
      group.leave()
    }.start()
  }
  return group
}

/// Cancels a task after 50 ms; from a thread of its own, as those of Swift's concurrency may all be busy.
package func cancelSoon<T: Sendable>(_ task: Task<T, any Error>) {
  _ = start(1) { _ in
    Sleep.microseconds(50_000)
    task.cancel()
  }
}

/// A collection of values that threads hand over when they end.
package final class Gathered<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  package init() {}

  package func append(_ element: Element) { elements.withLock { $0.append(element) } }

  package var all: [Element] { elements.withLock { $0 } }
}
