import Glibc

/// A thread that may block, unlike those of Dispatch and of Swift's pool.
package enum BackgroundThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Starts a thread that runs the closure and then ends.
  ///
  /// - Throws: ``SystemError`` if no thread can be started.
  package static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
    // Signals belong to the application; a thread inherits the signal mask of its creator.
    var (all, before) = (sigset_t(), sigset_t())
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(body))
    let code = pthread_create(
      &thread, nil,
      { work in
        if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
        return nil
      }, work.toOpaque())
    guard code == 0 else {
      work.release()
      throw SystemError(code)
    }
    pthread_detach(thread)
  }
}
