import Glibc
import Synchronization

/// A thread of its own for work that keeps a processor busy, with what it came to.
final class WorkerThread<Outcome: Sendable>: Sendable {
  private final class Job: Sendable {
    let body: @Sendable () throws -> Outcome
    let outcome = Mutex<Result<Outcome, any Error>?>(nil)

    init(_ body: @escaping @Sendable () throws -> Outcome) {
      self.body = body
    }

    func run() {
      let result = Result { try body() }
      outcome.withLock { $0 = result }
    }
  }

  private let job: Job
  private let thread: pthread_t

  init(_ body: @escaping @Sendable () throws -> Outcome) throws {
    job = Job(body)
    var thread = pthread_t()
    let run = Unmanaged.passRetained(Run(job.run))
    let code = pthread_create(
      &thread, nil,
      { run in
        if let run { Unmanaged<Run>.fromOpaque(run).takeRetainedValue().body() }
        return nil
      }, run.toOpaque())
    guard code == 0 else { throw BenchError("no thread could be started: code \(code)") }
    self.thread = thread
  }

  /// Waits for the thread's end.
  func join() throws -> Outcome {
    pthread_join(thread, nil)
    guard let outcome = job.outcome.withLock({ $0 }) else { throw BenchError("a thread had no outcome") }
    return try outcome.get()
  }
}

/// A closure that a C function can carry.
private final class Run: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
  }
}
