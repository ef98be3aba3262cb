import Synchronization

/// Readers that are not in use, handed to one user at a time.
///
/// What is pooled is the caller's: a connection, or something around one that was made ready to run queries.
package final class ConnectionPool<Reader: AnyObject & Sendable>: Sendable {
  /// A reader of one's own until it is handed back.
  package struct Lease: Sendable {
    package let reader: Reader
    fileprivate let generation: Int
  }

  /// How many readers are kept open while nobody uses them.
  private static var maximumIdle: Int { 8 }

  private let state: Mutex<PoolState>
  private let open: @Sendable () throws -> Reader
  private let shut: @Sendable (Reader) -> Void

  /// - Parameter first: A reader that is there already.
  package init(
    first: Reader? = nil, open: @escaping @Sendable () throws -> Reader,
    shut: @escaping @Sendable (Reader) -> Void
  ) {
    state = Mutex(PoolState(idle: first.map { [$0] } ?? []))
    self.open = open
    self.shut = shut
  }

  /// An idle reader, or a new one; ``checkIn(_:)`` must follow.
  package func checkOut() throws -> Lease {
    var generation = 0
    let idle = state.withLock { state in
      generation = state.generation
      return state.idle.popLast()
    }
    return Lease(reader: try idle as? Reader ?? open(), generation: generation)
  }

  package func checkIn(_ lease: Lease) {
    let isKept = state.withLock { state in
      guard !state.isClosed, lease.generation == state.generation, state.idle.count < Self.maximumIdle else {
        return false
      }
      state.idle.append(lease.reader)
      return true
    }
    if !isKept { shut(lease.reader) }
  }

  /// Whether no ``renew()`` has come since the reader was handed out.
  package func isCurrent(_ lease: Lease) -> Bool {
    state.withLock { $0.generation == lease.generation }
  }

  /// Runs `body` with a reader.
  package func withReader<R>(_ body: (Reader) throws -> R) throws -> R {
    let lease = try checkOut()
    defer { checkIn(lease) }
    return try body(lease.reader)
  }

  /// Closes the idle readers now and the others when they come back, as what they have open is out of date.
  package func renew() {
    let idle = state.withLock { state in
      state.generation += 1
      defer { state.idle = [] }
      return state.idle
    }
    for case let reader as Reader in idle { shut(reader) }
  }

  /// Closes the idle readers now, and from now on every reader that comes back.
  package func close() {
    state.withLock { $0.isClosed = true }
    renew()
  }
}

/// What a pool holds of its readers. Every query takes one and gives it back, which would cost several times as much if
/// this were generic: the pool is, and is not made for each type of reader.
private struct PoolState {
  var idle: [any AnyObject & Sendable] = []
  /// Readers of an earlier generation are closed when they come back.
  var generation = 0
  var isClosed = false
}
