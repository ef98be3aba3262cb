// Declarations that embedded programs lack, for type-checking alone. They are those of Swift and of Dispatch.
import Darwin

var errno: Int32 {
  get { __error().pointee }
  set { __error().pointee = newValue }
}

func fcntl(_ descriptor: Int32, _ command: Int32, _ argument: UnsafeMutableRawPointer) -> Int32 { 0 }

package struct ContinuousClock: Sendable {
  package struct Instant: Comparable, Sendable {
    static var now: Instant { Instant() }
    package static func < (left: Instant, right: Instant) -> Bool { false }
    static func + (left: Instant, right: Duration) -> Instant { left }
    static func += (left: inout Instant, right: Duration) {}
    static func - (left: Instant, right: Instant) -> Duration { .zero }
    static func - (left: Instant, right: Duration) -> Instant { left }
    func advanced(by duration: Duration) -> Instant { self }
    func duration(to other: Instant) -> Duration { .zero }
  }

  static var now: Instant { Instant() }
}

struct Mutex<Value>: ~Copyable, @unchecked Sendable {
  init(_ value: consuming sending Value) {}
  borrowing func withLock<Result, E: Error>(_ body: (inout sending Value) throws(E) -> Result) throws(E) -> Result {
    while true {}
  }
}

enum DispatchTimeoutResult {
  case success, timedOut
}

struct DispatchTime {
  static func now() -> DispatchTime { DispatchTime() }
  static func + (left: DispatchTime, right: DispatchTimeInterval) -> DispatchTime { left }
  static func + (left: DispatchTime, right: Double) -> DispatchTime { left }
}

package enum DispatchTimeInterval {
  case nanoseconds(Int), microseconds(Int), milliseconds(Int), seconds(Int)
}

final class DispatchSemaphore: Sendable {
  init(value: Int) {}
  func wait() {}
  func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
  @discardableResult func signal() -> Int { 0 }
}

struct DispatchQueue {
  static func global() -> DispatchQueue { DispatchQueue() }
}

struct DispatchSource {
  static func makeTimerSource(queue: DispatchQueue) -> any DispatchSourceTimer { Timer() }

  private final class Timer: DispatchSourceTimer {
    func setEventHandler(handler: @escaping @Sendable () -> Void) {}
    func schedule(deadline: DispatchTime) {}
    func activate() {}
    func cancel() {}
  }
}

protocol DispatchSourceTimer: AnyObject, Sendable {
  func setEventHandler(handler: @escaping @Sendable () -> Void)
  func schedule(deadline: DispatchTime)
  func activate()
  func cancel()
}

enum CommandLine {
  static var argc: Int32 { 0 }
  static var unsafeArgv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { .allocate(capacity: 1) }
}
