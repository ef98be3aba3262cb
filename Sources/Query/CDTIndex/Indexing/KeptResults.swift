import Synchronization

/// Results of queries that are kept up to date while documents change: the live queries of a datastore.
package protocol KeptResults: AnyObject, Sendable {
  /// Ends all of them, as the datastore is being closed.
  func close()

  /// Lets results that a user of the datastore sees be read again, as there is another user.
  func rulesDidChange()

  /// Removes the documents that have expired from the results.
  ///
  /// - Parameters:
  ///   - time: The current time.
  ///   - rules: The generation of the rules by which documents expire.
  ///   - expired: Returns the numbers of the documents that have expired since a time, and whether it has looked at all documents.
  func removeExpired(
    until time: Double, by rules: Int,
    _ expired: (_ since: Double) throws -> (numbers: [Int64], isComplete: Bool)
  ) throws
}

/// The results that a datastore keeps up to date, once there are any.
package final class KeptResultsHolder: Sendable {
  private let kept = Mutex<(any KeptResults)?>(nil)

  var current: (any KeptResults)? { kept.withLock { $0 } }

  /// The results, made on first use.
  package func results<K: KeptResults>(_ make: () -> K) -> K {
    kept.withLock { kept in
      if let known = kept as? K { return known }
      let made = make()
      kept = made
      return made
    }
  }
}
