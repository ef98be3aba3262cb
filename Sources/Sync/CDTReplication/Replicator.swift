public import CDTDatastore
import CoreMetrics
import Synchronization

/// Runs a replication of a store.
///
/// ```swift
/// let replicator = Replicator(Replication(.both, with: couch), of: store)
/// for try await status in replicator.run() { print(status.done, "of", status.total) }
/// ```
///
/// After a run in both directions without errors, both ends have the same documents, leaves, bodies, attachments and
/// winners, except for what the result lists as rejected. If a run is interrupted, at any moment and for any reason, the
/// next one continues from the last checkpoint.
///
/// See <doc:ReplicatingStores>.
public final class Replicator: Sendable {
  private let replication: Replication
  private let store: Datastore
  private let runs = Mutex<[ReplicationStop]>([])

  /// Creates a replicator, which does nothing until it is run.
  public init(_ replication: Replication, of store: Datastore) {
    self.replication = replication
    self.store = store
  }

  /// Runs the replication and reports its progress.
  ///
  /// The sequence ends when both ends agree; if the replication is continuous, when it is stopped. If you read it slowly,
  /// you get the newest status. Leaving the loop cancels the run.
  ///
  /// - Returns: A sequence that throws ``ReplicationError`` and `DatastoreError`.
  public func run() -> AsyncThrowingStream<ReplicationStatus, any Error> {
    // Registered at once, so that it can be stopped before its task begins.
    let stop = beginRun()
    return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task {
        do {
          try await replicate(stop) { continuation.yield($0) }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// Runs the replication to its end.
  ///
  /// - Throws: ``ReplicationError``, `DatastoreError`, `CancellationError`. What was transferred is kept.
  @discardableResult
  public func replicate() async throws -> ReplicationResult {
    try await replicate(beginRun()) { _ in }
  }

  /// Ends the runs at the end of their batches.
  public func stop() {
    for run in runs.withLock({ $0 }) { run.set() }
  }

  /// Whether the replication has brought the current revision of a document to the other end, or has found it there.
  ///
  /// ```swift
  /// let isSaved = try await replicator.hasPushed(errand.id)
  /// ```
  ///
  /// The last checkpoint in the store says it, so it is known after a restart, and the other end is not asked: a database that was deleted
  /// or restored since then is noticed by the next run. After an edit of the document it is false until the next checkpoint. It is also
  /// false for a document that does not exist, that the filter leaves out, or that the other end has rejected, and for a replication that
  /// only pulls. Of a deleted document, the current revision is its deletion.
  ///
  /// - Throws: ``ReplicationError`` with the code `.invalidRequest` for a filter that can't be used to push; `DatastoreError`; the errors
  ///   of a filter's closure.
  public func hasPushed(_ id: String) async throws -> Bool {
    guard replication.direction != .pull else { return false }
    let target =
      switch replication.peer {
      case .remote(let database): database.url
      case .store(let other): other.replicationIdentity
      }
    let filter = try replication.filter.map { try CompiledFilter($0) }
    return try await store.read { [replication, source = store.replicationIdentity] transaction in
      let checkpoint = replication.checkpointID(from: source, to: target, as: transaction.view.rules?.user)
      guard let known = try transaction.localDocument(withID: checkpoint),
        let revision = try transaction.documents(withIDs: [id]).first, Checkpoint(known).isPast(revision)
      else { return false }
      return try filter.map { try $0.accepts(id: id) && $0.accepts(revision) } ?? true
    }
  }

  private func beginRun() -> ReplicationStop {
    let stop = ReplicationStop()
    runs.withLock { $0.append(stop) }
    return stop
  }

  @discardableResult
  private func replicate(
    _ stop: ReplicationStop, _ report: @escaping @Sendable (ReplicationStatus) -> Void
  ) async throws -> ReplicationResult {
    defer { runs.withLock { $0.removeAll { $0 === stop } } }
    let pending = pendingGauge()
    defer { pending.destroy() }
    let progress = ReplicationProgress(directions) { status in
      pending.record(status.total - status.done)
      report(status)
    }
    let log = ReplicationLog(replication, of: store)
    do {
      try await replicate(Run(progress: progress, stop: stop, log: log))
    } catch {
      log.end(progress.result, error)
      throw error
    }
    progress.end()
    log.end(progress.result, nil)
    return progress.result
  }

  /// The state that the directions of a run share.
  private struct Run {
    let progress: ReplicationProgress
    let stop: ReplicationStop
    let log: ReplicationLog
  }

  private func replicate(_ run: Run) async throws {
    switch replication.peer {
    case .store(let other):
      try await self.run(try directions(with: other, run), run.stop)
    case .remote(let database):
      let connection = RemoteConnection(database, concurrentRequests: replication.concurrentRequests)
      do {
        try await self.run(try directions(with: connection, run), run.stop)
      } catch {
        await connection.close()
        throw error
      }
      await connection.close()
    }
  }

  /// The number of changes that the run knows of and has not dealt with, for the metrics of the process.
  private func pendingGauge() -> Gauge {
    let peer =
      switch replication.peer {
      case .remote(let database): database.url
      case .store(let other): other.name
      }
    return Gauge(
      label: "cdtdatastore_replication_pending_changes",
      dimensions: [
        ("database", store.name), ("direction", replication.direction.rawValue), ("peer", peer),
      ])
  }

  /// Runs each direction to its end. An error in one direction of a continuous replication stops the other one, which
  /// would not end by itself.
  private func run(_ directions: [OneWayReplication], _ stop: ReplicationStop) async throws {
    try await withThrowingTaskGroup { group in
      for direction in directions {
        group.addTask { [isContinuous = replication.isContinuous] in
          do {
            try await direction.run()
          } catch {
            if isContinuous { stop.set() }
            throw error
          }
        }
      }
      try await group.waitForAll()
    }
  }

  // MARK: Directions

  private func directions(
    with other: Datastore, _ run: Run
  ) throws -> [OneWayReplication] {
    guard other.storeID != store.storeID else {
      throw ReplicationError(.invalidRequest, "both ends are the same store, or one is a copy of the other")
    }
    let filter = try replication.filter.map { try CompiledFilter($0) }
    return directions.map { isPush in
      let (source, target) = isPush ? (store, other) : (other, store)
      return OneWayReplication(
        source: LocalEnd(source, filter: filter, includesLeftFilter: !isPush || replication.pushesLeftFilter),
        target: LocalEnd(target, rules: RulesOfTarget(replication)), options: replication,
        progress: .init(progress: run.progress, isPush: isPush), stop: run.stop,
        log: run.log.ofDirection(isPush: isPush), lateFilter: { nil })
    }
  }

  private func directions(
    with connection: RemoteConnection, _ run: Run
  ) throws -> [OneWayReplication] {
    let filter = replication.filter
    return try directions.map { isPush in
      let remote = RemoteEnd(connection, of: store, filter: isPush ? nil : filter)
      let local = LocalEnd(
        store, filter: isPush ? try filter.map { try CompiledFilter($0) } : nil, sendsToServer: true,
        includesLeftFilter: replication.pushesLeftFilter, rules: RulesOfTarget(replication))
      let direction = ReplicationProgress.DirectionProgress(progress: run.progress, isPush: isPush)
      let log = run.log.ofDirection(isPush: isPush)
      if isPush {
        return OneWayReplication(
          source: local, target: remote, options: replication, progress: direction, stop: run.stop, log: log,
          lateFilter: { nil })
      }
      return OneWayReplication(
        source: remote, target: local, options: replication, progress: direction, stop: run.stop, log: log,
        lateFilter: { try remote.lateFilter() })
    }
  }

  /// Whether to push, for each direction.
  private var directions: [Bool] {
    switch replication.direction {
    case .pull: [false]
    case .push: [true]
    case .both: [false, true]
    }
  }
}

extension RemoteEnd {
  /// The filter that is applied here, as the server does not apply it.
  func lateFilter() throws(ReplicationError) -> CompiledFilter? {
    guard let filter else { return nil }
    if case .closure = filter { return try CompiledFilter(filter) }
    return lacksFilter ? try CompiledFilter(filter) : nil
  }
}
