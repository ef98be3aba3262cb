// The declarations of swift-log that CDTReplication uses.
public protocol LogHandler: Sendable {}

public struct SwiftLogNoOpLogHandler: LogHandler {
  public init() {}
}

public struct Logger: Sendable {
  public typealias Metadata = [String: MetadataValue]

  public enum MetadataValue: Sendable, ExpressibleByStringInterpolation {
    case string(String)
    case stringConvertible(any CustomStringConvertible & Sendable)
    public init(stringLiteral text: String) { self = .string(text) }
  }

  public struct Message: ExpressibleByStringInterpolation, Sendable {
    public init(stringLiteral text: String) {}
  }

  public enum Level: Sendable {
    case debug, info, notice, warning, error
  }

  public init(label: String, factory: (String) -> any LogHandler) {}
  public var logLevel: Level { .info }
  public subscript(metadataKey key: String) -> MetadataValue? {
    get { nil }
    set {}
  }
  public func log(level: Level, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
  public func debug(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
  public func info(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
  public func notice(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
  public func warning(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
  public func error(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
}
