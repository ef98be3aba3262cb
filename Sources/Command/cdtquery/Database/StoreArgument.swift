import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTPlatform

/// A store on the command line: the manager's directory and the datastore's name.
struct StoreArgument: ExpressibleByArgument {
  let directory: String
  /// The name of the store's directory, in which a / of its name is %2F.
  let name: String

  static var defaultCompletionKind: CompletionKind { Completions.stores }

  init(directory: String, name: String) {
    self.directory = directory
    self.name = name
  }

  init?(argument: String) {
    if DatabaseArgument.isURL(argument) { return nil }
    var parts = argument.splitBytes(at: "/")
    if parts.count > 1, parts.last == "" { parts.removeLast() }
    guard let name = parts.popLast(), !name.isEmpty else { return nil }
    self.name = name
    directory = parts.isEmpty ? "." : parts == [""] ? "/" : parts.joined(separator: "/")
  }

  /// A store that takes the place of a URL.
  init(orURL text: String) throws(ValidationError) {
    guard let argument = StoreArgument(argument: text) else {
      throw ValidationError("\"\(text)\" is neither a store nor a URL")
    }
    self = argument
  }

  /// The store as an argument on the command line.
  var path: String { directory == "." ? name : "\(directory)/\(name)" }

  /// The store's name.
  var databaseName: DatabaseName {
    get throws {
      try checkIsStore()
      return try DatabaseName(directoryName: name)
    }
  }

  /// Opens the store, which must exist, or the state of a backup.
  ///
  /// - Parameter worksInBackground: Whether it may be written to without a command that does so.
  func open(worksInBackground: Bool = true) throws -> Datastore {
    if let state { return try Stores.state(named: path) { try Self.restore(state) } }
    do {
      return try Stores.open(databaseName, in: manager(worksInBackground: worksInBackground))
    } catch let error as DatastoreError where error.code == .notFound {
      throw missing
    }
  }

  /// The error if the store does not exist.
  var missing: ToolError {
    let others =
      (try? Files.kind(of: directory)) == .directory
      ? "\"cdtquery list \(directory)\" lists the stores there" : "check the path"
    return ToolError(.missing, "there is no store \(path); \(others), or create it with import")
  }

  /// Opens the store, or creates it with its directory.
  func create() throws -> Datastore {
    try createWithManager().store
  }

  /// Opens the store, or creates it, and returns the manager that can close it.
  func createWithManager() throws -> (manager: DatastoreManager, store: Datastore) {
    let made = try make()
    return (made.manager, made.store)
  }

  private func make() throws -> (manager: DatastoreManager, store: Datastore, isNew: Bool) {
    do {
      let manager = try Stores.manager(of: directory)
      do {
        return (manager, try Stores.open(databaseName, in: manager), false)
      } catch let error as DatastoreError where error.code == .notFound {
        return (manager, try manager.datastore(named: databaseName), true)
      }
    } catch let error as DatastoreError where error.code == .io {
      throw ToolError(.cantCreate, error.message)
    }
  }

  /// Opens the store, or creates it, for `body`. If that fails and has written nothing, a store that was created is deleted
  /// again, with its directory.
  func withCreated<R>(_ body: (Datastore) throws -> R) throws -> R {
    let (store, undo) = try createUndoably()
    do {
      return try body(store)
    } catch {
      undo()
      throw error
    }
  }

  /// Opens the store, or creates it. The closure deletes a store that was created, with its directory, if nothing was written.
  func createUndoably() throws -> (store: Datastore, undo: () -> Void) {
    let hadDirectory = try Stores.isDirectory(directory)
    let made = try make()
    return (
      made.store,
      {
        guard made.isNew, (try? made.store.read({ try $0.lastSequence() })) == 0 else { return }
        try? made.manager.deleteDatastore(named: databaseName)
        // Fails if there is anything in it.
        if !hadDirectory { try? Files.removeDirectory(directory) }
      }
    )
  }

  /// The manager of the directory, which must exist.
  func manager(worksInBackground: Bool = true) throws -> DatastoreManager {
    guard try Stores.isDirectory(directory) else { throw missing }
    return try Stores.manager(of: directory, worksInBackground: worksInBackground)
  }
}
