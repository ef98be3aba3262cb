public import CDTDatastore
public import CDTJSON
public import Logging

/// The options of a replication: the ends, the direction, the filter and the settings.
///
/// ```swift
/// let couch = try RemoteDatabase("https://couch.example.org/tasks", credentials: .basic("ana", password))
/// let replication = Replication(.pull, with: couch, filter: .selector(["type": "task"]))
/// let result = try await Replicator(replication, of: store).replicate()
/// ```
///
/// See <doc:ReplicatingStores>.
public struct Replication: Sendable {
  /// The direction in which revisions are transferred, as seen from the local store.
  public enum Direction: String, Sendable, Hashable, CaseIterable {
    /// From the other end to the store.
    case pull
    /// From the store to the other end.
    case push
    /// Both, at the same time.
    case both
  }

  /// The other end: a database at a server, or another store.
  package enum Peer: Sendable {
    /// A database that a server offers.
    case remote(RemoteDatabase)
    /// A store, which is used directly.
    case store(Datastore)
  }

  /// The direction in which revisions are transferred.
  public var direction: Direction
  /// The other end.
  package var peer: Peer
  /// The filter of the revisions to transfer; `nil` for all.
  public var filter: ReplicationFilter?
  /// Whether a push with a selector or a closure also transfers the revision with which a document leaves it, if the target has an earlier
  /// one. Its body is one that the filter does not accept. A pull always transfers it.
  public var pushesLeftFilter = false
  /// Whether the replication goes on with new changes until it is stopped.
  public var isContinuous = false
  /// Whether the rules that a store enforces also refuse revisions that it receives. They are counted and listed, and the rest
  /// goes on. A store whose rules name the user would otherwise refuse what other users have written. What is sent
  /// is always what the store's user sees.
  public var enforcesRules = true
  /// The rules of the user for whom a server runs it, in place of those of the store.
  package var rules: (any DocumentRules)?
  /// Whether a database that does not exist is created at the server.
  public var createsDatabase = false
  /// The maximum number of changed documents between two checkpoints. A replication that was interrupted repeats at
  /// most so many.
  public var batchSize = 2_500
  /// The maximum number of requests at the same time.
  public var concurrentRequests = 4
  /// The treatment of a server that can't be reached or is overloaded.
  public var retries = RetryPolicy()
  /// The log, which is silent by default: each batch and the end of a run at the level `info`, each failure after which a step
  /// is repeated at `notice`. Its lines have no credentials, and nothing of documents.
  public var logger = Logger(label: "CDTReplication") { _ in SwiftLogNoOpLogHandler() }

  /// Creates a replication with a database at a server.
  public init(
    _ direction: Direction, with database: RemoteDatabase, filter: ReplicationFilter? = nil
  ) {
    self.direction = direction
    peer = .remote(database)
    self.filter = filter
  }

  /// Creates a replication with another store.
  public init(_ direction: Direction, with store: Datastore, filter: ReplicationFilter? = nil) {
    self.direction = direction
    peer = .store(store)
    self.filter = filter
  }
}

extension Replication {
  /// The id of the checkpoints of one direction.
  ///
  /// - Parameter reader: The user who reads a store with rules: another user has other documents to send.
  func checkpointID(from source: String, to target: String, as reader: UserContext?) -> String {
    var filter = filter?.json.objectValue
    // The former name, so that checkpoints of earlier builds are found.
    if pushesLeftFilter { filter?["departed"] = true }
    let user = reader?.json(inDatabase: "").text ?? ""
    return Checkpoint.id(source: source + user, target: target, filter: filter.map { .object($0) } ?? .null)
  }
}

/// A filter of the revisions to transfer.
public enum ReplicationFilter: Sendable {
  /// The revisions that match a selector. A server evaluates the selector by its own rules.
  case selector(JSONObject)
  /// The documents with these ids.
  case documentIDs([String])
  /// The revisions that a filter function of a design document at the server accepts, such as `tasks/open`. For pulls.
  case designDocument(String, parameters: [String: String] = [:])
  /// The revisions for which a closure returns true. For pushes, and between stores.
  ///
  /// The name stands for the closure: when the closure accepts other revisions than before, give it another name, so
  /// that the replication starts from the beginning.
  case closure(named: String, @Sendable (DocumentRevision) throws -> Bool)
}
