public import CDTPlatform

/// The result of a replication so far.
public struct ReplicationResult: Sendable, Hashable {
  /// The counts of one direction.
  public struct Counts: Sendable, Hashable {
    /// The sequence of the source after which the run began, as the source writes it: that of the last checkpoint, or
    /// `0`. `nil` before the run has found it out.
    public var startSequence: String?
    /// The sequence of the source up to which the target has everything, and which the last checkpoint has. `nil` before
    /// the run has found it out.
    public var lastSequence: String?
    /// The changed documents that were looked at.
    public var changes = 0
    /// The revisions that the target had not.
    public var missing = 0
    /// The revisions that were read from the source.
    public var revisionsRead = 0
    /// The revisions of documents that the filter no longer accepts, of which the target had an earlier revision.
    public var leftFilter = 0
    /// The documents that the source no longer shows to the user, and that were removed from the target.
    public var removed = 0
    /// The revisions that were written to the target.
    public var revisionsWritten = 0
    /// The attachments of those revisions whose content was sent.
    public var attachments = 0
    /// The bytes of those revisions and attachments.
    public var bytes: Int64 = 0
    /// The revisions that the target rejected or that could not be read. The replication continues without them, and the next run
    /// tries them again. If there are very many, these are the newest, at least 10,000.
    public var rejected: [RejectedRevision] = []
    /// The number of revisions that were rejected.
    public var rejectedCount = 0
    /// The number of failures after which requests were sent again.
    public var retries = 0
  }

  /// From the peer to the store.
  public var pulled = Counts()
  /// From the store to the peer.
  public var pushed = Counts()
  /// The time at which the replication began.
  public var start = Date.now
  /// The time at which it ended; `nil` while it runs.
  public var end: Date?

  /// Everything that was rejected, in both directions.
  public var rejected: [RejectedRevision] { pulled.rejected + pushed.rejected }
}

/// A revision that the target of a replication did not accept.
public struct RejectedRevision: Sendable, Hashable {
  /// The document's id.
  public let id: String
  /// The revision, as the source writes it.
  public let revision: String
  /// The reason that the target gives.
  public let reason: String
}

/// A step of a running replication.
public struct ReplicationStatus: Sendable, Hashable {
  /// The activity of a replication.
  public enum State: Sendable, Hashable {
    /// It transfers revisions.
    case running
    /// It has transferred everything and waits for changes.
    case idle
    /// The other end can't be reached; the next attempt follows.
    case waiting(until: Date, reason: String)
    /// It has ended.
    case stopped
  }

  /// The activity of the replication.
  public var state = State.running
  /// The counts so far.
  public var result = ReplicationResult()

  /// The number of changed documents that were dealt with.
  public var done: Int { result.pulled.changes + result.pushed.changes }
  /// The number of changed documents that are known of so far.
  public var total = 0
  /// The last time at which the target had everything; `nil` if that was not in this run.
  public var caughtUp: Date?

  package init() {}

  /// The number of changes that are known to follow. A source that can't be reached may have more.
  public var behind: Int { max(0, total - done) }

  /// The time since the target last had everything: zero while the state is ``State/idle``.
  ///
  /// - Parameter time: The time to count to.
  /// - Returns: `nil` if the target never had everything in this run.
  public func lag(at time: Date = .now) -> Duration? {
    if state == .idle { return .zero }
    return caughtUp.map { .seconds(max(0, time.timeIntervalSince($0))) }
  }
}
