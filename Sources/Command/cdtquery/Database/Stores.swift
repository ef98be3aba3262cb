import CDTDatastore
import CDTPlatform
import CDTQuery
import Synchronization

/// The managers of this run, which keep its stores open until its end.
enum Stores {
  private static let managers = Mutex<[String: DatastoreManager]>([:])
  /// The states of backups, by their arguments.
  private static let states = Mutex<[String: Datastore]>([:])

  /// The manager of a directory, which is created if it does not exist.
  ///
  /// - Parameter worksInBackground: Whether its stores may be written to without a command that does so. Only the first call decides.
  static func manager(of directory: String, worksInBackground: Bool = true) throws -> DatastoreManager {
    try managers.withLock { managers in
      if let manager = managers[directory] { return manager }
      var options = try KeyOptions.storeOptions()
      UserOptions.enforceRules(in: &options)
      options.worksInBackground = worksInBackground
      let manager = try DatastoreManager(directory: directory, options: options)
      managers[directory] = manager
      return manager
    }
  }

  /// Opens a store that exists. Its first read or write opens its indexes, by which documents expire and keys are unique.
  static func open(_ name: DatabaseName, in manager: DatastoreManager) throws -> Datastore {
    let had = try? manager.unencryptedFiles(of: name)
    defer { if let had { tell(had, areRemoved: (try? manager.unencryptedFiles(of: name)) == nil) } }
    let store = try manager.existingDatastore(named: name)
    Datastore.registerExtension(QueryExtension.self)
    return store
  }

  /// The state of a backup, which is restored once in this run.
  static func state(named argument: String, _ restore: () throws -> Datastore) throws -> Datastore {
    try states.withLock { states in
      if let known = states[argument] { return known }
      let state = try restore()
      states[argument] = state
      return state
    }
  }

  /// Throws if what is to be a directory of stores is a store.
  static func checkIsNoStore(_ path: String) throws {
    guard (try? Files.kind(of: "\(path)/\(DatabaseFile.name)")) == .file else { return }
    let directory = StoreArgument(argument: path)?.directory ?? "."
    throw ToolError(
      .usage, "\(path) is a store, not a directory of stores; name the directory that it is in, \(directory)")
  }

  /// Says which stores of a directory have unencrypted files beside them, although they are encrypted.
  static func tellUnencryptedFiles(in manager: DatastoreManager) throws {
    for name in try manager.databaseNames() {
      if let path = try manager.unencryptedFiles(of: name) { tell(path, areRemoved: false) }
    }
  }

  private static func tell(_ path: String, areRemoved: Bool) {
    let what = "unencrypted files that an interrupted rekey has left"
    Message.write(
      areRemoved
        ? "cdtquery: removed \(path), the \(what)"
        : "cdtquery: \(path) has \(what); run it again, or open the store with its key, which removes them")
  }

  /// Whether a path leads to a directory.
  ///
  /// - Throws: ``ToolError`` if that can't be determined.
  static func isDirectory(_ path: String) throws(ToolError) -> Bool {
    do throws(SystemError) {
      return try FileStatus(path).kind == .directory
    } catch {
      guard !error.isMissing, !error.isNotDirectory else { return false }
      throw .unreadable(path, error)
    }
  }

  /// Closes every store of this run, which checkpoints their logs, and removes the states of backups.
  static func closeAll() {
    states.withLock { $0 = [:] }
    let closed = managers.withLock { managers in
      defer { managers = [:] }
      return managers
    }
    for manager in closed.values { manager.closeDatastores() }
  }
}
