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

  /// How long to wait for another process that is writing before giving up with the code `.busy`.
  public var busyTimeout = Duration.seconds(5)

  /// The defaults: full durability, five seconds.
  public init() {}
}
