import CDTPlatform
import Dispatch

/// Runs asynchronous work to its end while this thread waits.
///
/// Commands for stores are synchronous: Swift's concurrency needs threads, whose start takes as long as a query, and files, without
/// which it ends the process. What needs a server is waited for.
func waiting<R>(for work: @escaping () async throws -> R) throws -> R {
  #if os(Linux)
    // Every second, libdispatch looks up the threads of tasks there. If it can't, it ends the process.
    guard (try? Files.exists("/proc/self/task")) == true else {
      throw ToolError(
        .missing, "/proc is not mounted, but tasks need it; run: mount -t proc proc /proc")
    }
  #endif
  // Both are used by one thread at a time: by the task until it signals, and then by this thread.
  nonisolated(unsafe) let work = work
  nonisolated(unsafe) var result: Result<R, any Error>?
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    do {
      result = .success(try await work())
    } catch {
      result = .failure(error)
    }
    done.signal()
  }
  while true {
    done.wait()
    if let result { return try result.get() }
  }
}
