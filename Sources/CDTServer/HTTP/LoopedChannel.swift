import HummingbirdCore
import Logging
import NIOCore

/// A channel whose requests are handled on the thread that reads and writes its connection.
///
/// Otherwise each request would change threads for its head, its answer and each part of a body. What waits for the disk
/// runs on the threads of a datastore in either case.
struct LoopedChannel<Base: ServerChildChannel>: ServerChildChannel {
  let base: Base

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
    base.setup(channel: channel, logger: logger)
  }

  func handle(value: Base.Value, logger: Logger) async {
    let executor = EventLoopExecutor(loop: value.channel.eventLoop)
    await withTaskExecutorPreference(executor) {
      await base.handle(value: value, logger: logger)
    }
  }
}

/// Runs tasks on an event loop.
private final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(loop: any EventLoop) {
    self.loop = loop
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
