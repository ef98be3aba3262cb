import CDTPlatform
package import CouchDB
import Synchronization

/// Derives keys from passwords on two threads of its own, as each takes a core for a twentieth of a second and 16 MiB.
///
/// Swift's threads go on meanwhile. If too many derivations wait, further ones are refused.
package final class PasswordWork: Sendable {
  private let queue = WorkQueue(threads: 2)
  private let limit: Int
  private let unfinished = Mutex(0)

  /// - Parameter limit: The maximum number of derivations that run or wait.
  package init(limit: Int = 64) {
    self.limit = limit
  }

  /// Runs a derivation.
  ///
  /// - Returns: 503 if too many wait, or there is no memory or thread for it.
  package func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async -> Result<R, CouchError> {
    let isAccepted = unfinished.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
    guard isAccepted else { return .failure(.busyWithLogins) }
    defer { unfinished.withLock { $0 -= 1 } }
    return await withCheckedContinuation { continuation in
      do throws(SystemError) {
        try queue.add {
          do {
            continuation.resume(returning: .success(try body()))
          } catch {
            continuation.resume(returning: .failure(.busyWithLogins))
          }
        }
      } catch {
        continuation.resume(returning: .failure(.busyWithLogins))
      }
    }
  }
}
