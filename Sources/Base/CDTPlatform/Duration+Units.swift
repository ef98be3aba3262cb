package import Dispatch

extension Duration {
  /// The duration in seconds.
  package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }

  /// The duration in whole milliseconds.
  package var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }

  /// The duration as a Dispatch interval, limited to Dispatch's maximum.
  package var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    guard seconds < 1_000_000_000 else { return .seconds(1_000_000_000) }
    return .nanoseconds(Int(max(0, seconds)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
  }
}
