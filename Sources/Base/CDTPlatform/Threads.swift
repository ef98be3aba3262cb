import CDTCLibrary
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

/// The current thread.
package enum CurrentThread {
  /// A number that is unique among running threads; never 0.
  package static var number: UInt { UInt(truncatingIfNeeded: cdt_thread_number()) }

  /// The processor time that the thread has used, in nanoseconds.
  package static var processorTime: Int64 { cdt_thread_processor_time() }
}

/// The processors of the machine.
package enum Processors {
  /// The number of processors in use, at least one.
  package static let count = Int(cdt_processors())
}

/// Blocks the current thread.
package enum Sleep {
  /// Blocks the current thread for at least the given number of microseconds.
  package static func microseconds(_ count: UInt32) {
    usleep(count)
  }
}
