import ArgumentParser
package import CDTDatastore
import CDTJSON
import CDTPlatform

/// A store on the command line: the manager's directory and the datastore's name.
package struct StoreArgument: ExpressibleByArgument {
  package let directory: String
  /// The name of the store's directory, in which a / of its name is %2F.
  package let name: String

  package init(directory: String, name: String) {
    self.directory = directory
    self.name = name
  }

  /// Whether an argument is the URL of a database instead.
  package static func isURL(_ argument: String) -> Bool {
    let start = argument.prefix(8).lowercased()
    return start.hasPrefix("http://") || start == "https://"
  }

  package init?(argument: String) {
    if Self.isURL(argument) { return nil }
    var parts = argument.splitBytes(at: "/")
    if parts.count > 1, parts.last == "" { parts.removeLast() }
    guard let name = parts.popLast(), !name.isEmpty else { return nil }
    self.name = name
    directory = parts.isEmpty ? "." : parts == [""] ? "/" : parts.joined(separator: "/")
  }

  /// The store as an argument on the command line.
  package var path: String { directory == "." ? name : "\(directory)/\(name)" }

  /// The store's name.
  package var databaseName: DatabaseName {
    get throws(DatastoreError) { try DatabaseName(directoryName: name) }
  }

  /// Opens the store, which must exist.
  package func open() throws -> Datastore {
    try open(manager())
  }

  /// Opens the store with a manager of its directory.
  package func open(_ manager: DatastoreManager) throws -> Datastore {
    do {
      return try manager.existingDatastore(named: databaseName)
    } catch let error as DatastoreError where error.code == .notFound {
      throw missing
    }
  }

  /// The error if the store does not exist.
  package var missing: ToolError {
    let others =
      (try? Files.kind(of: directory)) == .directory
      ? "\"cdtquery list \(directory)\" lists the stores there" : "check the path"
    return ToolError(.missing, "there is no store \(path); \(others), or create it with import")
  }

  /// Opens the store, or creates it with its directory.
  package func create() throws -> Datastore {
    try createWithManager().store
  }

  /// Opens the store, or creates it, and returns the manager that can close it.
  package func createWithManager() throws -> (manager: DatastoreManager, store: Datastore) {
    let made = try make()
    return (made.manager, made.store)
  }

  private func make() throws -> (manager: DatastoreManager, store: Datastore, isNew: Bool) {
    do {
      let manager = Stores.keep(try DatastoreManager(directory: directory))
      do {
        return (manager, try manager.existingDatastore(named: databaseName), false)
      } catch let error as DatastoreError where error.code == .notFound {
        return (manager, try manager.datastore(named: databaseName), true)
      }
    } catch let error as DatastoreError where error.code == .io {
      throw ToolError(.cantCreate, error.message)
    }
  }

  /// Opens the store, or creates it, for `body`. If that fails and has written nothing, a store that was created is deleted
  /// again, with its directory.
  package func withCreated<R>(_ body: (Datastore) throws -> R) throws -> R {
    let hadDirectory = try Stores.isDirectory(directory)
    let made = try make()
    do {
      return try body(made.store)
    } catch {
      if made.isNew, (try? made.store.read({ try $0.lastSequence() })) == 0 {
        try? made.manager.deleteDatastore(named: databaseName)
        // Fails if there is anything in it.
        if !hadDirectory { try? Files.removeDirectory(directory) }
      }
      throw error
    }
  }

  /// The manager of the directory, which must exist.
  package func manager() throws -> DatastoreManager {
    guard try Stores.isDirectory(directory) else { throw missing }
    return Stores.keep(try DatastoreManager(directory: directory))
  }
}
