import Synchronization

/// Readers that are not in use, lent to one user at a time.
///
/// What is pooled is the caller's: a connection, or something around one that was made ready to run queries.
package final class ConnectionPool<Reader: AnyObject & Sendable>: Sendable {
  /// A reader of one's own. It goes back when the lease ends.
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
    var idle: [Reader] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  private let open: @Sendable () throws -> Reader
  private let shut: @Sendable (Reader) -> Void

  /// How many readers stay open while nobody uses them.
  private static var kept: Int { 16 }

  /// - Parameter first: A reader that is there already.
  package init(
    first: Reader? = nil, open: @escaping @Sendable () throws -> Reader,
    shut: @escaping @Sendable (Reader) -> Void
  ) {
    self.open = open
    self.shut = shut
    if let first { state.withLock { $0.idle.append(first) } }
  }

  /// Lends an idle reader, or a new one.
  package func lend() throws -> Lease {
    // The one that came back last, as its pages are the most likely to be in the processor's caches.
    if let idle = state.withLock({ $0.idle.popLast() }) { return Lease(idle, of: self) }
    return Lease(try open(), of: self)
  }

  /// Runs `body` with a reader.
  package func withReader<R>(_ body: (Reader) throws -> R) throws -> R {
    let lease = try lend()
    return try body(lease.reader)
  }

  private func takeBack(_ reader: Reader) {
    let isKept = state.withLock { state in
      guard !state.isClosed, state.idle.count < Self.kept else { return false }
      state.idle.append(reader)
      return true
    }
    if !isKept { shut(reader) }
  }

  /// Closes the idle readers now, and from now on every reader that comes back.
  package func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    for reader in idle { shut(reader) }
  }
}
