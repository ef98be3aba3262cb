import CDTSQLite

/// A read transaction with its own reader that lasts as long as the object.
package final class HeldReadTransaction {
  package let transaction: ReadTransaction
  private let lease: ConnectionPool<StoreReader>.Lease

  fileprivate init(_ transaction: ReadTransaction, _ lease: consuming ConnectionPool<StoreReader>.Lease) {
    self.transaction = transaction
    self.lease = lease
  }

  deinit {
    lease.reader.end(transaction)
  }
}

extension Datastore {
  /// Begins to read one state for longer than a call.
  ///
  /// - Parameter stop: Can end the read from any thread.
  package func holdState(stop: StopSignal?) throws -> HeldReadTransaction {
    let lease = try lendReader()
    let transaction = try mappingFailures { try beginReading(lease.reader, stop: stop) }
    return HeldReadTransaction(transaction, lease)
  }
}
