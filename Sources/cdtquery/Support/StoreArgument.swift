import ArgumentParser
import CDTDatastore
import CDTPlatform

/// A store on the command line: the manager's directory and the datastore's name.
struct StoreArgument: ExpressibleByArgument {
  let directory: String
  let name: String

  init?(argument: String) {
    let trimmed = argument.hasSuffix("/") ? String(argument.dropLast()) : argument
    guard let name = trimmed.split(separator: "/", omittingEmptySubsequences: false).last, !name.isEmpty
    else {
      return nil
    }
    self.name = String(name)
    let parent = trimmed.dropLast(name.count)
    directory = parent.isEmpty ? "." : parent == "/" ? "/" : String(parent.dropLast())
  }

  /// The store as it can be given on a command line again.
  var path: String { directory == "." ? name : "\(directory)/\(name)" }

  /// The store, which has to be there.
  func open() throws -> Datastore {
    do {
      return try manager().existingDatastore(named: name)
    } catch let error as DatastoreError where error.code == .notFound {
      throw missing
    }
  }

  /// What is said when the store is not there.
  var missing: ToolError {
    let others =
      Files.kind(of: directory) == .directory
      ? "\"cdtquery list \(directory)\" names those there are" : "check the path"
    return ToolError(.missing, "there is no store \(path); \(others), and import creates one")
  }

  /// The store, created with its directory when it is missing.
  func create() throws -> Datastore {
    do {
      return try Stores.keep(try DatastoreManager(directory: directory)).datastore(named: name)
    } catch let error as DatastoreError where error.code == .io {
      throw ToolError(.cantCreate, error.message)
    }
  }

  /// The manager of the directory, which has to be there.
  func manager() throws -> DatastoreManager {
    guard Files.kind(of: directory) == .directory else { throw missing }
    return Stores.keep(try DatastoreManager(directory: directory))
  }
}
