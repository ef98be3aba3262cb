#if Replication
  import CDTDatastore
  import CDTJSON
  import CDTPlatform
  import CDTReplication
  import CouchDB
  import Logging
  import Synchronization

  /// The replications of a server: those of `_replicate`, and those of the documents of `_replicator`.
  ///
  /// At most so many run as the configuration allows. More documents wait; more requests are refused. A continuous replication,
  /// and that of a document, is tried again after a failure, with pauses up to a minute.
  final class ReplicationJobs: Sendable {
    /// A replication that runs, or waits for its turn.
    struct Job: Sendable {
      let id: String
      let request: ReplicationRequest
      /// The document that describes it; `nil` for one of `_replicate`.
      let document: DocumentRevision?
      let start = Date.now
      /// `nil` while it waits for its turn.
      fileprivate(set) var task: Task<ReplicationResult, any Error>?
      fileprivate(set) var status = ReplicationStatus()
      fileprivate(set) var updated = Date.now
      /// The failures since the target last had everything, and the reason of the last one while it waits after it.
      fileprivate(set) var failures = 0
      fileprivate(set) var reason: String?
      /// The history of the job, newest first.
      fileprivate(set) var history: [(type: String, time: Date, reason: String?)] = [("added", .now, nil)]

      var documentID: String? { document?.id }

      fileprivate mutating func note(_ type: String, _ reason: String? = nil) {
        history = Array(([(type, .now, reason)] + history).prefix(20))
        (self.reason, updated) = (reason, .now)
      }
    }

    struct State {
      var jobs: [String: Job] = [:]
      var follower: (database: OpenDatabase, task: Task<Void, Never>)?
      var isEnding = false
    }

    let state = Mutex(State())
    let databases: Databases
    let logger: Logger
    let hosts: ReplicationHosts
    private let limit: Int
    let isReadOnly: Bool

    init(
      _ configuration: ServerConfiguration, _ databases: Databases, _ logger: Logger
    ) throws(ServerError) {
      self.databases = databases
      self.logger = logger
      limit = max(0, configuration.limits.replications)
      isReadOnly = configuration.isReadOnly
      hosts = try ReplicationHosts(configuration)
    }

    /// All jobs, those that were started first in front.
    var all: [Job] { state.withLock { $0.jobs.values.sorted { ($0.start, $0.id) < ($1.start, $1.id) } } }

    func job(ofDocument id: String) -> Job? {
      state.withLock { $0.jobs.values.first { $0.documentID?.hasSameBytes(as: id) == true } }
    }

    // MARK: Starting and stopping

    /// Starts a replication of `_replicate`, or joins the same one.
    ///
    /// - Returns: The task, and whether it was started here.
    func start(
      _ request: ReplicationRequest
    ) throws(CouchError) -> (task: Task<ReplicationResult, any Error>, isNew: Bool) {
      let id = request.id
      let started = state.withLock { state -> (Task<ReplicationResult, any Error>, Bool)? in
        if let task = state.jobs[id]?.task { return (task, false) }
        guard hasRoom(state) else { return nil }
        if state.jobs[id] == nil { state.jobs[id] = Job(id: id, request: request, document: nil) }
        return (begin(id, &state), true)
      }
      guard let (task, isNew) = started else {
        throw CouchError(503, "service_unavailable", "\(limit) replications run already; try again later.")
      }
      return (task, isNew)
    }

    /// Starts the replication of a document, or lets it wait for its turn.
    ///
    /// - Returns: The job that is the same replication; `nil` if there is none.
    func start(_ request: ReplicationRequest, of document: DocumentRevision) -> Job? {
      let id = request.id
      return state.withLock { state -> Job? in
        if let other = state.jobs[id] { return other }
        state.jobs[id] = Job(id: id, request: request, document: document)
        if hasRoom(state) { _ = begin(id, &state) }
        return nil
      }
    }

    private func hasRoom(_ state: State) -> Bool {
      !state.isEnding && !isReadOnly && state.jobs.values.count { $0.task != nil } < limit
    }

    private func begin(_ id: String, _ state: inout State) -> Task<ReplicationResult, any Error> {
      let task = Task { try await self.run(id) }
      state.jobs[id]?.task = task
      state.jobs[id]?.note("started")
      return task
    }

    /// Ends a replication, and waits for that.
    ///
    /// - Returns: `false` if there is none with the id.
    @discardableResult
    func stop(_ id: String) async -> Bool {
      guard let job = state.withLock({ $0.jobs[id] }) else { return false }
      guard let task = job.task else {
        state.withLock { $0.jobs[id] = nil }
        return true
      }
      task.cancel()
      _ = await task.result
      return true
    }

    /// Stops what runs, when the server is to end. The next run goes on from the checkpoints.
    func beginEnd() {
      let (tasks, follower) = state.withLock { state in
        state.isEnding = true
        return (state.jobs.values.compactMap(\.task), state.follower?.task)
      }
      follower?.cancel()
      for task in tasks { task.cancel() }
    }

    /// Waits until nothing runs.
    func end() async {
      beginEnd()
      while let task = state.withLock({ state in state.jobs.values.lazy.compactMap(\.task).first }) {
        _ = await task.result
      }
      await state.withLock { $0.follower?.task }?.value
    }

    // MARK: Running

    private func run(_ id: String) async throws -> ReplicationResult {
      guard let job = state.withLock({ $0.jobs[id] }) else { throw CancellationError() }
      let outcome: Result<ReplicationResult, any Error>
      do {
        outcome = .success(try await runAgainAndAgain(job))
      } catch {
        outcome = .failure(error)
      }
      if let document = job.document, !Task.isCancelled {
        var members: JSONObject = ["_replication_id": .string(id)]
        switch outcome {
        case .success(let result):
          var stats = Self.counts(job.request.counts(of: result))
          stats["start_time"] = .string(result.start.formatted(.iso8601))
          members["_replication_stats"] = .object(stats)
          await note("completed", members, in: document)
        case .failure(let error):
          members["_replication_state_reason"] = .string("\(error)")
          await note("failed", members, in: document)
        }
      }
      state.withLock { state in
        state.jobs[id] = nil
        let next = state.jobs.values.filter { $0.task == nil }.min { $0.start < $1.start }
        if let next, hasRoom(state) { _ = begin(next.id, &state) }
      }
      return try outcome.get()
    }

    private func runAgainAndAgain(_ job: Job) async throws -> ReplicationResult {
      var logger = logger
      logger[metadataKey: "replication"] = "\(job.id)"
      while true {
        do {
          return try await runOnce(job, logger)
        } catch {
          try Task.checkCancellation()
          let isLasting = (error as? ReplicationError)?.code == .invalidRequest
          guard job.document != nil || job.request.isContinuous, !isLasting else { throw error }
          let failures = state.withLock { state in
            state.jobs[job.id]?.failures += 1
            state.jobs[job.id]?.note("crashed", "\(error)")
            return state.jobs[job.id]?.failures ?? 1
          }
          let pause = RetryPolicy().pause(afterFailures: failures, requested: nil)
          logger.warning(
            "replication failed",
            metadata: ["error": "\(error)", "pause": .stringConvertible(pause.seconds)])
          try await Task.sleep(for: pause)
          state.withLock { $0.jobs[job.id]?.note("started") }
        }
      }
    }

    private func runOnce(_ job: Job, _ logger: Logger) async throws -> ReplicationResult {
      try await job.request.withReplication(databases) { replication, database in
        var replication = replication
        replication.logger = logger
        var last = ReplicationStatus()
        for try await status in Replicator(replication, of: database.store).run() {
          last = status
          state.withLock { state in
            let caughtUp = state.jobs[job.id]?.status.caughtUp
            state.jobs[job.id]?.status = status
            // Of an earlier run.
            if status.caughtUp == nil { state.jobs[job.id]?.status.caughtUp = caughtUp }
            if status.state == .idle { state.jobs[job.id]?.failures = 0 }
            state.jobs[job.id]?.updated = .now
          }
        }
        try Task.checkCancellation()
        return last.result
      }
    }
  }
#endif
