/// How a manager's datastores work.
public struct DatastoreOptions: Sendable, Hashable {
  /// What a write that has returned can lose.
  public enum Durability: Sendable, Hashable {
    /// Nothing: it is on disk, whatever happens.
    case full
    /// The last writes before a power failure; a crash of the process loses nothing, and the store is never damaged.
    /// Writes do not wait for the disk.
    case normal
  }

  /// What a write that has returned can lose.
  public var durability = Durability.full

  /// How long to wait for another process or another thread that is writing before giving up with the code `.busy`.
  public var busyTimeout = Duration.seconds(5)

  /// How much memory each datastore may take for its caches, its sorts and the building of its indexes, all threads
  /// together, in bytes. Documents and results that you hold do not count.
  ///
  /// More memory saves reading from files. Below 4 MB or so everything still works, slowly.
  public var memoryBudget = 64 * 1024 * 1024

  /// The defaults: full durability, five seconds, 64 MB.
  public init() {}
}
