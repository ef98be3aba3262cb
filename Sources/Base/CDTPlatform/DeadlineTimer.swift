import Dispatch
import Synchronization

/// Calls a closure at a point in time unless it is cancelled before. Nothing is left of one that was cancelled, while a
/// cancelled `Task.sleep` stays in the system's queue until its time.
package final class DeadlineTimer: Sendable {
  private let source = Mutex<any DispatchSourceTimer>(DispatchSource.makeTimerSource(queue: .global()))

  package init(_ deadline: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void) {
    let left = max(.zero, ContinuousClock.now.duration(to: deadline))
    source.withLock { source in
      source.setEventHandler(handler: body)
      source.schedule(deadline: .now() + left.dispatchInterval)
      source.activate()
    }
  }

  deinit { cancel() }

  package func cancel() { source.withLock { $0.cancel() } }
}
