import CDTDatastore
import CDTJSON
import CDTPlatform

/// A store that is filled in a directory beside its place, and moved there when it is whole. The directory is locked meanwhile.
struct StoreDraft {
  private let target: StoreArgument
  /// What the directories of drafts begin with.
  private let prefix: String

  /// - Parameter purpose: A part of the directory's name, such as `recovering`.
  init(of target: StoreArgument, purpose: String) {
    self.target = target
    prefix = ".\(target.name).\(purpose)-"
  }

  /// Throws if the store exists.
  static func check(_ target: StoreArgument) throws(ToolError) {
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
    try removeAbandoned()
    let (directory, lock) = try makeLockedDirectory()
    defer { withExtendedLifetime(lock) {} }
    let draft = StoreArgument(directory: directory, name: target.name)
    let result: R
    do {
      result = try fill(draft, body)
      try ToolError.perform("create", target.path) { () throws(SystemError) in
        try Files.rename("\(draft.directory)/\(draft.name)", to: "\(target.directory)/\(target.name)")
      }
    } catch {
      // A draft on a full disk would keep it full.
      try? removeTree(draft.directory)
      // Fails if there is anything in it.
      if !hadDirectory { try? Files.removeDirectory(target.directory) }
      throw error
    }
    // All is saved, and the next run removes what can't be removed now.
    try? Files.synchronizeDirectory(of: draft.directory)
    try? removeTree(draft.directory)
    return result
  }

  private func fill<R>(_ draft: StoreArgument, _ body: (Datastore) throws -> R) throws -> R {
    let (manager, store) = try draft.createWithManager()
    // Also after an error: what is open keeps its space.
    defer { try? manager.closeDatastore(named: draft.databaseName) }
    return try body(store)
  }

  /// Makes the directory of a draft, and locks it. If another run removes it before it is locked, another is made.
  private func makeLockedDirectory() throws -> (path: String, lock: OpenFile) {
    while true {
      let path = "\(target.directory)/\(prefix)\(RandomID.uuid())"
      var lock: OpenFile?
      try ToolError.perform("create", path) { () throws(SystemError) in
        try Files.makeDirectory(path)
        do throws(SystemError) {
          let directory = try OpenFile(path, for: .reading)
          if try directory.lock(), try directory.hasName() { lock = directory }
        } catch {
          guard error.isMissing else { throw error }
        }
      }
      if let lock { return (path, lock) }
    }
  }

  /// Removes what earlier runs for the same store have left that were interrupted: they are not locked, and have a store at most.
  private func removeAbandoned() throws {
    for name in (try? Files.names(in: target.directory)) ?? [] {
      guard let id = name.afterBytePrefix(prefix), UUID(uuidString: id) != nil else { continue }
      let path = "\(target.directory)/\(name)"
      guard (try? Files.kind(of: path, followsLinks: false)) == .directory,
        let directory = try? OpenFile(path, for: .reading), (try? directory.lock()) == true,
        let content = try? Files.names(in: path), content.allSatisfy({ $0.hasSameBytes(as: target.name) })
      else { continue }
      try removeTree(path)
      withExtendedLifetime(directory) {}
    }
  }

  private func removeTree(_ path: String) throws {
    try ToolError.perform("remove", path) { () throws(SystemError) in try Files.removeTree(path) }
  }
}
