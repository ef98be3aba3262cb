import CDTDatastore
package import CDTJSON
import CDTPlatform
import CouchDB
import Logging
import Synchronization

/// The state that all requests of a server share.
final class ServerState: Sendable {
  /// The configuration at the start; ``settings`` has what admins have changed since.
  let configuration: ServerConfiguration
  let settings: ServerSettings
  let databases: Databases
  let authenticator: Authenticator
  /// The token that every request must have besides; `nil` if none is needed.
  let addressToken: AddressToken?
  let logger: Logger
  let tasks = ActiveTasks()
  /// Each takes a thread, and up to ``RequestContext/longestImport`` in the temporary directory.
  let imports = RequestLimit(4, of: "imports")
  /// Each copies a database into the temporary directory.
  let backups = RequestLimit(2, of: "backups")
  /// The server accepts no more requests.
  let shutdown = OneTimeEvent()
  let background = BackgroundTasks()
  let metrics = ServerMetrics()
  #if Replication
    let replications: ReplicationJobs
  #endif
  /// Of this run. Replicators use it to recognize a server.
  let uuid = RandomID.digits()

  init(
    configuration: ServerConfiguration, settings: ServerSettings, databases: Databases,
    authenticator: Authenticator, logger: Logger
  ) throws(ServerError) {
    self.configuration = configuration
    self.settings = settings
    self.databases = databases
    self.authenticator = authenticator
    addressToken = configuration.addressToken.map { AddressToken($0) }
    self.logger = logger
    #if Replication
      replications = try ReplicationJobs(configuration, databases, logger)
    #endif
  }

  /// Takes the port that the server listens at.
  func listen(at port: Int) {
    #if Replication
      replications.hosts.listen(at: port)
    #endif
  }

  /// Runs the server with the replications that its databases describe.
  func withReplications(_ body: () async throws -> Void) async throws {
    #if Replication
      replications.begin()
      do {
        try await body()
      } catch {
        await replications.end()
        throw error
      }
      await replications.end()
    #else
      try await body()
    #endif
  }

  /// Begins to end: no more requests are accepted, and replications stop.
  func beginShutdown() {
    shutdown.happen()
    #if Replication
      replications.beginEnd()
    #endif
  }

  /// Logs that a client's credentials were refused.
  func noteFailedLogin(_ name: String?, from peer: String, _ error: CouchError) {
    guard error.status == 401 || error.status == 403 || error.status == 429 else { return }
    logger.notice(
      "login failed",
      metadata: [
        "user": "\((name ?? "").prefix(200))", "client": "\(peer)",
        "status": .stringConvertible(error.status),
      ])
  }

  /// Whether there are users. Without them, anyone who can reach the server may do everything.
  var hasUsers: Bool { configuration.usersFile != nil }
}

/// Something that happens once, such as the end of a server, and that tasks wait for.
final class OneTimeEvent: Sendable {
  private struct State {
    var hasHappened = false
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var next = 0
  }

  private let state = Mutex(State())

  /// Ends every wait.
  func happen() {
    let waiting = state.withLock { state in
      state.hasHappened = true
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for continuation in waiting { continuation.resume() }
  }

  var hasHappened: Bool { state.withLock { $0.hasHappened } }

  /// Waits for it, or for the cancellation of the task.
  func wait() async {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.hasHappened || Task.isCancelled { return true }
          state.waiting[id] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
    }
  }
}

/// The long operations that requests have started.
package final class ActiveTasks: Sendable {
  private struct Entry: Sendable {
    let type: String
    let database: String
    let start: Date
    var updated: Date
    /// The number of changes that are processed, and of all; `nil` if the operation does not count them.
    var progress: (done: Int, total: Int)?
  }

  private let entries = Mutex<[String: Entry]>([:])

  package init() {}

  /// Reports how many changes an operation has processed, and how many there are.
  package typealias Report = @Sendable (_ done: Int, _ total: Int) -> Void

  /// Runs an operation and lists it meanwhile.
  package func run<R>(
    _ type: String, on database: String, isolation: isolated (any Actor)? = #isolation,
    _ body: (_ report: @escaping Report) async throws -> R
  ) async rethrows -> R {
    let (id, start) = (RandomID.uuid(), Date.now)
    entries.withLock { $0[id] = Entry(type: type, database: database, start: start, updated: start) }
    defer { _ = entries.withLock { $0.removeValue(forKey: id) } }
    return try await body { done, total in
      self.entries.withLock { entries in
        entries[id]?.progress = (done, total)
        entries[id]?.updated = .now
      }
    }
  }

  package var json: [JSONValue] {
    entries.withLock { entries in
      entries.sorted { $0.value.start < $1.value.start }.map { id, entry in
        var task: JSONObject = [
          "type": .string(entry.type), "database": .string(entry.database), "pid": .string(id),
          "started_on": .int(Int64(entry.start.timeIntervalSince1970)),
          "updated_on": .int(Int64(entry.updated.timeIntervalSince1970)),
        ]
        if let (done, total) = entry.progress {
          task["changes_done"] = .int(Int64(done))
          task["total_changes"] = .int(Int64(total))
          task["progress"] = .int(Int64(total > 0 ? Double(done) / Double(total) * 100 : 100))
        }
        return .object(task)
      }
    }
  }
}

/// Tasks that go on when their request has been answered. The server waits for them before it ends, for some time.
final class BackgroundTasks: Sendable {
  private struct State {
    var tasks: [Int: Task<Void, Never>] = [:]
    var next = 0
  }

  private let state = Mutex(State())

  func add(_ body: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      let number = state.next
      state.next += 1
      state.tasks[number] = Task {
        await body()
        self.state.withLock { $0.tasks[number] = nil }
      }
    }
  }

  /// Waits for all tasks, and cancels them if the task that waits is cancelled.
  func wait() async {
    while let task = state.withLock({ $0.tasks.first }) {
      await withTaskCancellationHandler {
        await task.value.value
      } onCancel: {
        task.value.cancel()
      }
      state.withLock { $0.tasks[task.key] = nil }
    }
  }
}
