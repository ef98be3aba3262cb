import Glibc

/// The system's clocks, in nanoseconds.
enum Clock {
  case monotonic
  /// Time of every thread of the process on a processor.
  case process
  /// Time of this thread on a processor.
  case thread

  var now: Int64 {
    var time = timespec()
    clock_gettime(id, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Waits for a time of this clock.
  func sleep(until time: Int64) {
    var until = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    while clock_nanosleep(id, TIMER_ABSTIME, &until, nil) == EINTR {}
  }

  private var id: clockid_t {
    switch self {
    case .monotonic: CLOCK_MONOTONIC
    case .process: CLOCK_PROCESS_CPUTIME_ID
    case .thread: CLOCK_THREAD_CPUTIME_ID
    }
  }
}
