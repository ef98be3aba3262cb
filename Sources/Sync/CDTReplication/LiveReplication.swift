public import CDTPlatform
public import Observation

/// The runs of a replicator for a view, which is drawn again when their state changes.
///
/// ```swift
/// struct SyncStatus: View {
///   @State private var sync: LiveReplication
///
///   init(_ replicator: Replicator) {
///     sync = LiveReplication(replicator)
///     sync.start()
///   }
///
///   var body: some View {
///     Text(sync.error.map { "\($0)" } ?? "\(sync.status.behind) to go")
///   }
/// }
/// ```
///
/// A run is cancelled with the object; the next run continues from the last checkpoint.
///
/// See <doc:ReplicatingStores#A-replication-for-a-view>.
@MainActor @Observable
public final class LiveReplication {
  /// The state and the counts of the run, or of the last one; the state is ``ReplicationStatus/State/stopped`` before the first.
  public private(set) var status: ReplicationStatus
  /// The error with which the last run has ended: ``ReplicationError`` or `DatastoreError`. A new run removes it.
  public private(set) var error: (any Error)?
  /// The last time at which the other end had everything; `nil` if it never had since the object was created.
  public private(set) var lastSynced: Date?

  @ObservationIgnored private let replicator: Replicator
  @ObservationIgnored private var task: Task<Void, Never>?

  /// Creates an object that does nothing until ``start()``.
  public init(_ replicator: Replicator) {
    self.replicator = replicator
    status = ReplicationStatus()
    status.state = .stopped
  }

  deinit {
    task?.cancel()
  }

  /// Begins a run, unless one is running. ``Replicator/stop()`` ends it.
  public func start() {
    guard task == nil else { return }
    (status, error) = (ReplicationStatus(), nil)
    let run = replicator.run()
    task = Task { [weak self] in
      do {
        for try await status in run { self?.take(status) }
      } catch {
        self?.fail(error)
      }
    }
  }

  private func take(_ new: ReplicationStatus) {
    status = new
    if let time = new.caughtUp { lastSynced = time }
    if new.state == .stopped { task = nil }
  }

  private func fail(_ error: any Error) {
    self.error = error
    status.state = .stopped
    task = nil
  }
}
