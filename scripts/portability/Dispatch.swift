// The declarations of Dispatch that the library uses.
@_exported import SYSTEM

public enum DispatchTimeoutResult: Sendable {
  case success, timedOut
}

public enum DispatchTimeInterval: Sendable {
  case seconds(Int), milliseconds(Int), microseconds(Int), nanoseconds(Int), never
}

public struct DispatchTime: Comparable, Sendable {
  public static func now() -> DispatchTime { DispatchTime() }
  public static func == (left: DispatchTime, right: DispatchTime) -> Bool { true }
  public static func < (left: DispatchTime, right: DispatchTime) -> Bool { false }
  public static func + (left: DispatchTime, right: DispatchTimeInterval) -> DispatchTime { left }
  public static func + (left: DispatchTime, right: Double) -> DispatchTime { left }
}

open class DispatchObject {}

public final class DispatchSemaphore: DispatchObject, @unchecked Sendable {
  public init(value: Int) {}
  public func wait() {}
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
  @discardableResult public func signal() -> Int { 0 }
}

public final class DispatchGroup: DispatchObject, @unchecked Sendable {
  public override init() {}
  public func enter() {}
  public func leave() {}
  public func wait() {}
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
}

public final class DispatchQueue: DispatchObject, @unchecked Sendable {
  public static let main = DispatchQueue(label: "")
  public class func global() -> DispatchQueue { main }
  public init(label: String) {}
  public func async(execute work: @escaping @Sendable () -> Void) {}
  public func asyncAfter(deadline: DispatchTime, execute work: @escaping @Sendable () -> Void) {}
}

public protocol DispatchSourceTimer: AnyObject, Sendable {
  func setEventHandler(handler: (@Sendable () -> Void)?)
  func schedule(deadline: DispatchTime, repeating interval: DispatchTimeInterval, leeway: DispatchTimeInterval)
  func activate()
  func cancel()
}

extension DispatchSourceTimer {
  public func schedule(deadline: DispatchTime) {}
}

public enum DispatchSource {
  public static func makeTimerSource(queue: DispatchQueue? = nil) -> any DispatchSourceTimer { fatalError() }
}
