#if Replication
  public import CDTDatastore
  import CDTPlatform
  public import CDTReplication
  import Synchronization

  /// The state of a ``CDTReplicator``.
  @available(*, deprecated, message: "use ReplicationStatus.State")
  public enum CDTReplicatorState: Int, Sendable, Hashable, CaseIterable {
    /// It has not been started.
    case pending
    /// It replicates.
    case started
    /// It was stopped before its end.
    case stopped
    /// It was told to stop.
    case stopping
    /// It has replicated everything.
    case complete
    /// It has failed.
    case error
  }

  /// Receives the progress of a ``CDTReplicator``: one call at a time, on a concurrency thread.
  @available(*, deprecated, message: "read the statuses of Replicator.run()")
  public protocol CDTReplicatorDelegate: AnyObject {
    /// The replicator has another state.
    func replicatorDidChangeState(_ replicator: CDTReplicator)
    /// The replicator has dealt with more changes, or knows of more.
    func replicatorDidChangeProgress(_ replicator: CDTReplicator)
    /// The replicator has replicated everything, or was stopped.
    func replicatorDidComplete(_ replicator: CDTReplicator)
    /// The replicator has failed.
    func replicatorDidError(_ replicator: CDTReplicator, info: any Error)
  }

  @available(*, deprecated, message: "read the statuses of Replicator.run()")
  extension CDTReplicatorDelegate {
    /// Does nothing.
    public func replicatorDidChangeState(_ replicator: CDTReplicator) {}
    /// Does nothing.
    public func replicatorDidChangeProgress(_ replicator: CDTReplicator) {}
    /// Does nothing.
    public func replicatorDidComplete(_ replicator: CDTReplicator) {}
    /// Does nothing.
    public func replicatorDidError(_ replicator: CDTReplicator, info: any Error) {}
  }

  /// Makes replicators.
  @available(*, deprecated, message: "use Replicator(replication, of: store)")
  public struct CDTReplicatorFactory: Sendable {
    /// Creates a factory. The stores that it replicates are those of the replications.
    public init(datastoreManager: DatastoreManager) {}

    /// Does nothing; CDTDatastore before 0.8 required it.
    public func start() {}

    /// Does nothing; CDTDatastore before 0.8 required it.
    public func stop() {}

    /// Makes a replicator, which can be started once.
    ///
    /// - Throws: `ReplicationError` with the code `.invalidRequest` for a URL that is not one of a database.
    public func oneWay(_ replication: CDTAbstractReplication) throws(ReplicationError) -> CDTReplicator {
      try CDTReplicator(replication)
    }
  }

  /// Runs a replication in the background.
  @available(*, deprecated, message: "use Replicator")
  public final class CDTReplicator: Sendable {
    private struct State {
      var state = CDTReplicatorState.pending
      var processed = 0
      var total = 0
      var error: (any Error)?
      var delegate = WeakDelegate()
      /// The replicator keeps itself while it runs, as CDTDatastore's does.
      var run: Task<Void, Never>?
    }

    private let replicator: Replicator
    private let current = Mutex(State())

    init(_ replication: CDTAbstractReplication) throws(ReplicationError) {
      let (replication, store) = try replication.replication()
      replicator = Replicator(replication, of: store)
    }

    /// Receives the progress of the replication. Held weakly.
    public var delegate: (any CDTReplicatorDelegate)? {
      get { current.withLock { $0.delegate }.value }
      set {
        let delegate = WeakDelegate(value: newValue)
        current.withLock { $0.delegate = delegate }
      }
    }

    /// The state of the replicator.
    public var state: CDTReplicatorState { current.withLock { $0.state } }
    /// The number of changes that were dealt with.
    public var changesProcessed: Int { current.withLock { $0.processed } }
    /// The number of changes that are known so far.
    public var changesTotal: Int { current.withLock { $0.total } }
    /// The error with which the replication has failed.
    public var error: (any Error)? { current.withLock { $0.error } }
    /// Whether the replication has begun and not ended.
    public var isActive: Bool { [.started, .stopping].contains(state) }

    /// Sendable: delegates of CDTDatastore's apps are classes with state, and expect to be called on any thread.
    private struct WeakDelegate: @unchecked Sendable {
      weak var value: (any CDTReplicatorDelegate)?
    }

    /// Starts the replication, and returns at once.
    ///
    /// - Throws: `ReplicationError` with the code `.invalidRequest` if it was started before.
    public func start() throws(ReplicationError) {
      let isFirst = current.withLock { current in
        guard current.state == .pending else { return false }
        current.state = .started
        current.run = Task { await self.replicate() }
        return true
      }
      guard isFirst else {
        throw ReplicationError(.invalidRequest, "a replicator can be started only once; make another one")
      }
      delegate?.replicatorDidChangeState(self)
    }

    /// Ends the replication at the end of a batch.
    ///
    /// - Returns: Whether it was running.
    @discardableResult
    public func stop() -> Bool {
      let isRunning = current.withLock { current in
        guard current.state == .started else { return false }
        current.state = .stopping
        return true
      }
      guard isRunning else { return false }
      delegate?.replicatorDidChangeState(self)
      replicator.stop()
      return true
    }

    private func replicate() async {
      do {
        for try await status in replicator.run() {
          let isStopping = current.withLock { current in
            (current.processed, current.total) = (status.done, max(status.done, status.total))
            return current.state == .stopping
          }
          // A stop that came before the run had begun.
          if isStopping { replicator.stop() }
          delegate?.replicatorDidChangeProgress(self)
        }
        end(nil)
      } catch {
        end(error)
      }
    }

    private func end(_ error: (any Error)?) {
      current.withLock { current in
        current.error = error
        current.state = error != nil ? .error : current.state == .stopping ? .stopped : .complete
        current.run = nil
      }
      let delegate = delegate
      delegate?.replicatorDidChangeState(self)
      if let error {
        delegate?.replicatorDidError(self, info: error)
      } else {
        delegate?.replicatorDidComplete(self)
      }
    }
  }
#endif
