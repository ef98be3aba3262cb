import CDTCPlatform

/// A thread that may block, unlike those of Dispatch and of Swift's pool.
package enum BackgroundThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Starts a thread that runs the closure and then ends. It blocks all signals, which belong to the application.
  ///
  /// - Throws: ``SystemError`` if no thread can be started.
  package static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let work = Unmanaged.passRetained(Work(body))
    let code = cdt_start_thread(
      { work in
        if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
        return nil
      }, work.toOpaque())
    guard code == 0 else {
      work.release()
      throw SystemError(code)
    }
  }
}
