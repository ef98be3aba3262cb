import Glibc
import Synchronization

/// A thread of its own for work that keeps a processor busy, with what it came to.
final class WorkerThread: Sendable {
  private final class Job: Sendable {
    let body: @Sendable () throws -> Work
    let outcome = Mutex<Result<Work, any Error>?>(nil)

    init(_ body: @escaping @Sendable () throws -> Work) {
      self.body = body
    }
  }

  private let job: Job
  private let thread: pthread_t

  init(_ body: @escaping @Sendable () throws -> Work) throws {
    job = Job(body)
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { job in
        if let job {
          let job = Unmanaged<Job>.fromOpaque(job).takeRetainedValue()
          let outcome = Result { try job.body() }
          job.outcome.withLock { $0 = outcome }
        }
        return nil
      }, Unmanaged.passRetained(job).toOpaque())
    guard code == 0 else { throw BenchError("no thread could be started: code \(code)") }
    self.thread = thread
  }

  /// Waits for the thread's end.
  func join() throws -> Work {
    pthread_join(thread, nil)
    guard let outcome = job.outcome.withLock({ $0 }) else { throw BenchError("a thread had no outcome") }
    return try outcome.get()
  }
}
