import Glibc

/// Waiting on the calling thread.
package enum Pause {
  /// Suspends the calling thread for at least so many microseconds.
  package static func microseconds(_ count: UInt32) {
    usleep(count)
  }

  /// Suspends the calling thread for good.
  package static func forever() -> Never {
    while true { pause() }
  }
}
