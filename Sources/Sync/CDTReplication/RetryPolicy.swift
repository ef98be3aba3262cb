/// The rule for sending a request that failed again: after a connection error, a timeout, or an answer that says that the server
/// is overloaded.
public struct RetryPolicy: Sendable, Hashable {
  /// The maximum number of attempts. A continuous replication has no limit.
  public var maximumAttempts = 8
  /// The pause after the first failure, which doubles with each further one.
  public var firstPause = Duration.milliseconds(250)
  /// The longest pause, unless the server asks for a longer one.
  public var longestPause = Duration.seconds(60)

  /// Creates the default policy.
  public init() {}

  /// The pause after a number of failures: between half of the full pause and all of it, so that clients that failed
  /// together don't return together.
  package func pause(afterFailures failures: Int, requested: Duration?) -> Duration {
    let full = min(longestPause, firstPause * (1 << min(failures - 1, 20)))
    let pause = full * Double.random(in: 0.5...1)
    return max(pause, min(requested ?? .zero, .seconds(3_600)))
  }
}
