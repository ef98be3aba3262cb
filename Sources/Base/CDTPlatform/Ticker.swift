import Synchronization

/// Calls closures at an interval for as long as they ask for it, all on one thread, which ends when there are none.
///
/// A timer of Dispatch needs a file descriptor, and without one Dispatch ends the process.
package final class Ticker: Sendable {
  private struct State {
    var bodies: [@Sendable () -> Bool] = []
    var isRunning = false
  }

  private let interval: UInt32
  private let state = Mutex(State())

  /// - Parameter interval: In microseconds.
  package init(interval: UInt32) {
    self.interval = interval
  }

  /// Calls a closure until it returns `false`.
  ///
  /// - Throws: ``SystemError`` if no thread can be started.
  package func add(_ body: @escaping @Sendable () -> Bool) throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      if !state.isRunning { try BlockingPool.run { [self] in run() } }
      state.isRunning = true
      state.bodies.append(body)
    }
  }

  private func run() {
    var continuing: [@Sendable () -> Bool] = []
    while let bodies = next(continuing) {
      Sleep.microseconds(interval)
      continuing = bodies.filter { $0() }
    }
  }

  /// - Returns: `nil` if there are none; then the thread ends.
  private func next(_ continuing: [@Sendable () -> Bool]) -> [@Sendable () -> Bool]? {
    state.withLock { state in
      let bodies = continuing + state.bodies
      state.bodies = []
      state.isRunning = !bodies.isEmpty
      return bodies.isEmpty ? nil : bodies
    }
  }
}
