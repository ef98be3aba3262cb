import CDTPlatform
package import CDTSQLite
import Synchronization

/// A connection, or an object that wraps one, in a ``ConnectionPool``. Its methods are called by one thread at a time.
package protocol PooledReader: AnyObject, Sendable {
  /// Whether it can be lent again. The end of its state can fail without memory.
  var isUsable: Bool { get }
  /// Whether it keeps a state of the database for the next user.
  var keepsState: Bool { get }

  /// Ends the state that it keeps.
  func letGo()
  func close()
}

/// An idle reader keeps its state for this time, in microseconds, and at most for twice as long. The state prevents other processes
/// from restarting the log.
package let readerRest: UInt32 = 20_000

private let restTicker = Ticker(interval: readerRest)

/// A pool of readers, each lent to one user at a time.
package final class ConnectionPool<Reader: PooledReader>: Sendable {
  /// Exclusive use of a reader, which is returned to the pool when the lease ends.
  package struct Lease: ~Copyable, Sendable {
    package let reader: Reader
    private let pool: ConnectionPool

    fileprivate init(_ reader: Reader, of pool: ConnectionPool) {
      self.reader = reader
      self.pool = pool
    }

    deinit {
      pool.takeBack(reader)
    }
  }

  private struct State {
    var idle: [Idle] = []
    /// The number of readers that are being opened.
    var opening = 0
    /// Whether ``endUnusedStates()`` is going to be called.
    var isWatched = false
    var isClosed = false
  }

  private struct Idle {
    let reader: Reader
    /// Whether ``endUnusedStates()`` has met it since it was returned.
    var isUnused = false
  }

  private let state = Mutex(State())
  private let suspension: Suspension?
  private let open: @Sendable () throws -> Reader

  /// The maximum number of idle readers.
  private static var kept: Int { 16 }

  /// - Parameter first: An existing reader.
  package init(
    first: Reader? = nil, suspension: Suspension? = nil, open: @escaping @Sendable () throws -> Reader
  ) {
    (self.suspension, self.open) = (suspension, open)
    if let first { state.withLock { $0.idle.append(Idle(reader: first)) } }
  }

  /// Lends an idle reader or a new one.
  ///
  /// - Throws: ``SQLiteError`` after the pool was closed; what opening a reader throws.
  package func lend() throws -> Lease {
    while true {
      // The reader returned last, as its pages are most likely in the CPU's caches.
      let idle = try state.withLock { state throws(SQLiteError) -> Reader? in
        guard !state.isClosed else { throw SQLiteError.closed(nil) }
        if let idle = state.idle.popLast() { return idle.reader }
        state.opening += 1
        return nil
      }
      guard let idle else { break }
      if idle.isUsable { return Lease(idle, of: self) }
      idle.close()
    }
    defer { state.withLock { $0.opening -= 1 } }
    return Lease(try open(), of: self)
  }

  private func takeBack(_ reader: Reader) {
    let (isUsable, keepsState) = (reader.isUsable, reader.keepsState)
    let (isKept, isUnwatched) = state.withLock { state in
      guard isUsable, !state.isClosed, state.idle.count < Self.kept, suspension?.isSuspended != true else {
        return (false, false)
      }
      state.idle.append(Idle(reader: reader))
      guard keepsState, !state.isWatched else { return (true, false) }
      state.isWatched = true
      return (true, true)
    }
    if !isKept { reader.close() }
    guard isUnwatched else { return }
    do {
      try restTicker.add { [weak self] in self?.endUnusedStates() ?? false }
    } catch {
      state.withLock { $0.isWatched = false }
      endStates()
    }
  }

  /// Ends the states of the readers that were not used since the last call.
  ///
  /// - Returns: Whether there are others.
  private func endUnusedStates() -> Bool {
    state.withLock { state in
      state.isWatched = false
      for position in state.idle.indices where state.idle[position].reader.keepsState {
        if state.idle[position].isUnused {
          state.idle[position].reader.letGo()
        } else {
          state.idle[position].isUnused = true
          state.isWatched = true
        }
      }
      return state.isWatched
    }
  }

  /// Ends the states that idle readers keep.
  package func endStates() {
    state.withLock { state in
      for idle in state.idle where idle.reader.keepsState { idle.reader.letGo() }
    }
  }

  /// Closes the idle readers.
  package func closeIdle() {
    let idle = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    for idle in idle { idle.reader.close() }
  }

  /// Closes the idle readers, and from now on every returned reader. It waits for those that are being opened.
  package func close() {
    state.withLock { $0.isClosed = true }
    closeIdle()
    // Once it is closed, the files may be moved and others may take their paths.
    while state.withLock({ $0.opening > 0 }) { Sleep.microseconds(200) }
  }
}
