/// Options of a manager's datastores.
public struct DatastoreOptions: Sendable, Hashable {
  /// The completed writes that a failure can lose.
  public enum Durability: Sendable, Hashable {
    /// None: a completed write is on disk.
    case full
    /// A power failure can lose the last writes; a crash of the process loses none, and the store is never damaged.
    /// Writes don't wait for the disk.
    case normal
  }

  /// The completed writes that a failure can lose.
  public var durability = Durability.full

  /// The time to wait for another writer, in this or another process, before throwing the code `.busy`.
  public var busyTimeout = Duration.seconds(5)

  /// The memory in bytes that each datastore can use for caches, sorts and index builds, for all threads together.
  /// Documents and results held by your code don't count.
  ///
  /// More memory saves file reads. Below about 4 MB everything works, but slowly.
  public var memoryBudget = 64 * 1024 * 1024

  /// The secret with which new datastores are encrypted, and that opens them. Without it they are not encrypted.
  public var encryption: Encryption?

  /// The rules that are enforced from the opening on; `nil` for none.
  package var documentRules: (any DocumentRules)?

  /// Whether extensions may write in the background.
  package var worksInBackground = true

  /// The time of the state of a backup that the datastore has, in seconds since 1970. Documents have expired if they had then.
  package var stateTime: Double?

  /// Whether the datastore is the state of a backup, and can only be read.
  package var isState = false

  /// Whether both have the same settings, and the same user for rules.
  public static func == (left: DatastoreOptions, right: DatastoreOptions) -> Bool {
    left.settings == right.settings
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(settings) }

  private var settings: [AnyHashable?] {
    [
      durability, busyTimeout, memoryBudget, encryption, worksInBackground, stateTime, isState,
      documentRules?.user,
    ]
  }

  /// The defaults: full durability, five seconds, 64 MB.
  ///
  /// - Parameter encryption: The secret with which datastores are encrypted, if they are.
  public init(encryption: Encryption? = nil) {
    self.encryption = encryption
  }
}
