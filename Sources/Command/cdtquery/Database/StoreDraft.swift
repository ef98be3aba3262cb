import CDTDatastore
import CDTJSON
import CDTPlatform

/// A store that is filled in a directory beside its place, and moved there when it is whole.
struct StoreDraft {
  private let target: StoreArgument
  /// The prefix of the names of draft directories.
  private let prefix: String

  /// - Parameter purpose: A part of the directory's name, such as `recovering`.
  init(of target: StoreArgument, purpose: String) {
    self.target = target
    prefix = ".\(target.name).\(purpose)-"
  }

  /// Throws if the store exists, or is the state of a backup.
  static func check(_ target: StoreArgument) throws(ToolError) {
    try target.checkIsStore()
    let kind = try ToolError.perform("read", target.path) { () throws(SystemError) in
      try Files.kind(of: target.path)
    }
    guard kind == nil else {
      throw ToolError(.cantCreate, "\(target.path) exists already; name a store that does not")
    }
  }

  /// Runs `body` with the new store, and moves the store to its place, whose directory is created if it does not exist. If that fails,
  /// nothing is left.
  func fill<R>(_ body: (Datastore) throws -> R) throws -> R {
    let hadDirectory = try Stores.isDirectory(target.directory)
    if !hadDirectory {
      try ToolError.perform("create", target.directory) { () throws(SystemError) in
        try Files.makeDirectory(target.directory)
      }
    }
    do {
      let directory = try ToolError.perform("create a directory in", target.directory) {
        () throws(SystemError) in
        try TemporaryDirectory(in: target.directory, named: prefix, removing: isDraft)
      }
      // It goes also after an error: on a full disk it would keep the disk full.
      defer { withExtendedLifetime(directory) {} }
      let draft = StoreArgument(directory: directory.path, name: target.name)
      let result = try fill(draft, body)
      try ToolError.perform("create", target.path) { () throws(SystemError) in
        try Files.publish(draft.path, at: target.path)
      }
      return result
    } catch {
      // Fails if there is anything in it.
      if !hadDirectory { try? Files.removeDirectory(target.directory) }
      throw error
    }
  }

  private func fill<R>(_ draft: StoreArgument, _ body: (Datastore) throws -> R) throws -> R {
    let (manager, store) = try draft.createWithManager()
    // Also after an error: what is open keeps its space.
    defer { try? manager.closeDatastore(named: draft.databaseName) }
    return try body(store)
  }

  /// Whether an earlier run for the same store has left a directory, which then has a store at most.
  private func isDraft(_ path: String) -> Bool {
    guard UUID(uuidString: String(path.suffix(36))) != nil, let content = try? Files.names(in: path) else {
      return false
    }
    return content.allSatisfy { $0.hasSameBytes(as: target.name) }
  }
}
