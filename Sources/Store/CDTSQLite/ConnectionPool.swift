import CDTPlatform
import Synchronization

/// A pool of readers, each lent to one user at a time.
///
/// A reader is a connection, or an object that wraps a connection.
package final class ConnectionPool<Reader: AnyObject & Sendable>: Sendable {
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
    var idle: [Reader] = []
    /// The number of readers that are being opened.
    var opening = 0
    var isClosed = false
  }

  private let state = Mutex(State())
  private let open: @Sendable () throws -> Reader
  private let isUsable: @Sendable (Reader) -> Bool
  private let shut: @Sendable (Reader) -> Void

  /// The maximum number of idle readers.
  private static var kept: Int { 16 }

  /// - Parameters:
  ///   - first: An existing reader.
  ///   - isUsable: Whether a returned reader can be lent again.
  package init(
    first: Reader? = nil, open: @escaping @Sendable () throws -> Reader,
    isUsable: @escaping @Sendable (Reader) -> Bool = { _ in true },
    shut: @escaping @Sendable (Reader) -> Void
  ) {
    self.open = open
    self.isUsable = isUsable
    self.shut = shut
    if let first { state.withLock { $0.idle.append(first) } }
  }

  /// Lends an idle reader or a new one.
  ///
  /// - Throws: ``SQLiteError`` after the pool was closed; what opening a reader throws.
  package func lend() throws -> Lease {
    // The reader returned last, as its pages are most likely in the CPU's caches.
    let idle = try state.withLock { state throws(SQLiteError) -> Reader? in
      guard !state.isClosed else { throw SQLiteError.closed(nil) }
      if let idle = state.idle.popLast() { return idle }
      state.opening += 1
      return nil
    }
    if let idle { return Lease(idle, of: self) }
    defer { state.withLock { $0.opening -= 1 } }
    return Lease(try open(), of: self)
  }

  private func takeBack(_ reader: Reader) {
    let isUsable = isUsable(reader)
    let isKept = state.withLock { state in
      guard isUsable, !state.isClosed, state.idle.count < Self.kept else { return false }
      state.idle.append(reader)
      return true
    }
    if !isKept { shut(reader) }
  }

  /// Closes the idle readers.
  package func closeIdle() {
    let idle = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    for reader in idle { shut(reader) }
  }

  /// Closes the idle readers, and from now on every returned reader. It waits for those that are being opened.
  package func close() {
    state.withLock { $0.isClosed = true }
    closeIdle()
    // Once it is closed, the files may be moved and others may take their paths.
    while state.withLock({ $0.opening > 0 }) { Sleep.microseconds(200) }
  }
}
