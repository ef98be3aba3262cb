import CDTPlatform

/// The clocks of a server, which tests replace.
package struct ServerClock: Sendable {
  /// Seconds since 1970, for what other machines read.
  package let seconds: @Sendable () -> Int64
  /// The time since some point, which only grows, for intervals.
  package let uptime: @Sendable () -> Duration
  package let sleep: @Sendable (Duration) async -> Void

  package init(
    seconds: @escaping @Sendable () -> Int64, uptime: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async -> Void
  ) {
    self.seconds = seconds
    self.uptime = uptime
    self.sleep = sleep
  }

  /// The clocks of the system.
  package static var system: ServerClock {
    let start = ContinuousClock.now
    return ServerClock(
      seconds: { Int64(Date().timeIntervalSince1970) }, uptime: { start.duration(to: .now) },
      sleep: { try? await Task.sleep(for: $0) })
  }
}
