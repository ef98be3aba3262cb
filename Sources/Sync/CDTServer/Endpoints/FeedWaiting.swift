import CDTPlatform
import CouchDB

/// Waits for the next event of a feed and sends heartbeats meanwhile.
struct FeedWaiting: Sendable {
  let client: ClientConnection
  let shutdown: OneTimeEvent
  /// The interval in which something is sent while nothing happens; `nil` for never.
  let heartbeat: Duration?
  /// The time to wait for something to write, if there are no heartbeats.
  let timeout: Duration
  let isEventSource: Bool

  /// Waits for news, and sends heartbeats meanwhile. What the feed does not write postpones neither a heartbeat nor the end.
  ///
  /// - Parameters:
  ///   - quietSince: The time of the last write.
  ///   - access: The right to the feed.
  ///   - news: Returns when there are news, or its task is cancelled.
  /// - Returns: Whether there are any; `false` if the feed is over.
  /// - Throws: As ``FeedAccess/check()``.
  func wait(
    quietSince: inout ContinuousClock.Instant, _ access: inout FeedAccess, to out: inout ReplyStream,
    for news: @escaping @Sendable () async -> Void
  ) async throws -> Bool {
    try await out.flush()
    while true {
      let end = quietSince + (heartbeat ?? timeout)
      switch try await outcome(until: min(end, access.nextCheck), news) {
      case .changed: return true
      case .ended: return false
      case .tooLate:
        try await access.check()
        guard end <= .now else { continue }
        guard heartbeat != nil else { return false }
        try await writeHeartbeatIfDue(quietSince: &quietSince, to: &out)
      }
    }
  }

  private enum Outcome: Sendable {
    case changed, ended, tooLate
  }

  private func outcome(
    until deadline: ContinuousClock.Instant, _ news: @escaping @Sendable () async -> Void
  ) async throws -> Outcome {
    let passed = OneTimeEvent()
    let timer = DeadlineTimer(deadline) { passed.happen() }
    defer { timer.cancel() }
    let outcome = await withTaskGroup(of: Outcome.self) { group in
      group.addTask {
        await news()
        return .changed
      }
      for (event, outcome) in [
        (passed, Outcome.tooLate), (shutdown, .ended), (client.inputClosed, .ended),
      ] {
        group.addTask {
          await event.wait()
          return outcome
        }
      }
      defer { group.cancelAll() }
      return await group.next() ?? .ended
    }
    try Task.checkCancellation()
    return outcome
  }

  /// Writes a heartbeat when the client has heard nothing for so long: also while the changes that there are are looked
  /// at, as a filter may reject many. If the client may be gone, it is written in any case, as it shows whether it is.
  func writeHeartbeatIfDue(
    quietSince: inout ContinuousClock.Instant, to out: inout ReplyStream
  ) async throws {
    let isDue = heartbeat.map { quietSince + $0 <= .now } ?? false
    guard isDue || client.inputClosed.hasHappened else { return }
    try await out.write(isEventSource ? "event: heartbeat\ndata: \n\n" : "\n")
    try await out.flush()
    quietSince = .now
  }
}

extension FeedWaiting {
  /// - Throws: `CouchError` if a parameter is wrong.
  static func heartbeat(_ parameters: QueryParameters) throws -> Duration? {
    switch parameters["heartbeat"] {
    case nil, "false": return nil
    case "true": return .seconds(60)
    default:
      guard let milliseconds = try parameters.count("heartbeat"), milliseconds > 0 else {
        throw CouchError.badRequest("The heartbeat value should be a positive integer (in milliseconds).")
      }
      // A feed notices only when it writes that its client has gone.
      return .milliseconds(min(milliseconds, 60_000))
    }
  }

  /// - Throws: `CouchError` if a parameter is wrong.
  static func timeout(_ parameters: QueryParameters) throws -> Duration {
    .milliseconds(min(try parameters.count("timeout") ?? 60_000, 60_000))
  }
}
