import CouchDB
import Synchronization

/// Bounds the number of costly requests of one kind that are answered at the same time.
final class RequestLimit: Sendable {
  private let maximum: Int
  private let requests: String
  private let count = Mutex(0)

  /// A request that is counted, until the last reference goes.
  final class Place: Sendable {
    private let limit: RequestLimit

    fileprivate init(_ limit: RequestLimit) { self.limit = limit }

    deinit { limit.count.withLock { $0 -= 1 } }
  }

  /// - Parameter requests: A noun in the plural for messages.
  init(_ maximum: Int, of requests: String) {
    (self.maximum, self.requests) = (maximum, requests)
  }

  /// - Throws: 503 if there are as many as there can be.
  func enter() throws(CouchError) -> Place {
    let isFree = count.withLock { count in
      guard count < maximum else { return false }
      count += 1
      return true
    }
    guard isFree else {
      throw CouchError(
        503, "service_unavailable", "\(maximum) \(requests) run already; try again when one has ended.")
    }
    return Place(self)
  }
}
