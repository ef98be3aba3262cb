#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Blocks the current thread.
package enum Pause {
  /// Blocks the current thread for at least the given number of microseconds.
  package static func microseconds(_ count: UInt32) {
    usleep(count)
  }

  /// Blocks the current thread forever.
  package static func forever() -> Never {
    while true { pause() }
  }
}
