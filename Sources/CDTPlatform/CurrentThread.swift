import Glibc

/// The current thread.
package enum CurrentThread {
  /// A number that is unique among running threads; never 0.
  package static var number: UInt { UInt(pthread_self()) }

  /// The processor time that the thread has used, in nanoseconds.
  package static var processorTime: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
