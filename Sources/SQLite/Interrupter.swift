import CSQLite
import Synchronization

/// Ends what runs on a connection, from any thread.
package final class Interrupter: Sendable {
  /// The address of the connection, 0 once it is about to be closed: SQLite allows interrupting only an open one.
  private let handle: Mutex<UInt>

  init(_ handle: OpaquePointer?) {
    self.handle = Mutex(UInt(bitPattern: handle))
  }

  /// Has every running statement of the connection fail with ``SQLiteError/isInterrupted``. Where none runs, nothing
  /// happens.
  package func interrupt() {
    handle.withLock { address in
      if let handle = OpaquePointer(bitPattern: address) { sqlite3_interrupt(handle) }
    }
  }

  /// The connection is about to be closed.
  func detach() {
    handle.withLock { $0 = 0 }
  }
}
