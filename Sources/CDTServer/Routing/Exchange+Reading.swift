import CDTDatastore

extension Exchange {
  /// The time that a read may take from a connection that begins meanwhile.
  private static let shortTime = Duration.milliseconds(2)

  /// Reads one state for a request that mostly needs a few pages, which are in memory.
  ///
  /// If there is no other connection, this is done on the thread of the caller, as a change of threads takes longer. If it
  /// takes long, it begins anew on a thread of the datastore, where the reads of several connections are faster.
  ///
  /// - Parameter body: Called a second time if the first one took too long.
  func readShortly<R: Sendable>(
    _ store: Datastore, _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    guard server.connections.hasOneConnection else { return try await store.read(body) }
    let stop = StopSignal(deadline: .now + Self.shortTime)
    do {
      return try store.readState(stop: stop, body)
    } catch  where stop.isSet {
      return try await store.read(body)
    }
  }
}
