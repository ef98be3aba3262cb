import Glibc

/// The thread that is running.
package enum CurrentThread {
  /// A number that no other running thread has; never 0.
  package static var number: UInt { UInt(pthread_self()) }
}
