// The declarations of swift-metrics that CDTReplication uses.
public final class Counter: Sendable {
  public init(label: String, dimensions: [(String, String)] = []) {}
  public func increment(by amount: some BinaryInteger) {}
}

public final class Gauge: Sendable {
  public init(label: String, dimensions: [(String, String)] = []) {}
  public func destroy() {}
  public func record(_ value: some BinaryInteger) {}
}
