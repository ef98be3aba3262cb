import CDTPlatform
import FoundationEssentials
import Synchronization

/// A directory of datastores.
///
/// ```swift
/// let manager = try DatastoreManager(directory: "stores")
/// let tasks = try manager.datastore(named: "tasks")
/// ```
///
/// A manager is used from any thread; several processes may have managers on one directory. Give it a directory of its
/// own, and an application one manager. Its datastores close when it goes.
///
/// Source: `docs/crud.md`, Managers.
public final class DatastoreManager: Sendable {
  /// The directory's path.
  public let directory: String

  private let options: DatastoreOptions
  private let slots = Mutex<[String: Slot]>([:])

  /// The place of one datastore. Opening one may take as long as an upgrade of its file takes, so each has a lock of its
  /// own, and the others do not wait.
  private final class Slot: Sendable {
    struct State {
      var datastore: Datastore?
      /// Whether the slot is no longer the manager's.
      var isRemoved = false
    }

    let state = Mutex(State())

    func remove() -> Datastore? {
      state.withLock { state in
        state.isRemoved = true
        return state.datastore.take()
      }
    }
  }

  /// Takes a directory, which is created when it is missing; its parents are not.
  ///
  /// - Throws: ``DatastoreError`` with the code `.io` when a file is in its place or it can't be created.
  public init(directory: String, options: DatastoreOptions = .init()) throws(DatastoreError) {
    self.directory = directory
    self.options = options
    try FileSystem.makeDirectory(directory)
    sweep()
  }

  deinit {
    for slot in slots.withLock({ Array($0.values) }) { slot.remove()?.close() }
  }

  /// The datastore of a name, created when it is missing. The same name gives the same object, from any thread.
  ///
  /// - Throws: ``DatastoreError``: `.invalidName`, `.newerFormat`, `.corrupt`, `.busy`, `.io`.
  public func datastore(named name: String) throws -> Datastore {
    try DatastoreName.check(name)
    while true {
      let slot = slots.withLock { slots in
        if let known = slots[name] { return known }
        let made = Slot()
        slots[name] = made
        return made
      }
      if let datastore = try datastore(named: name, in: slot) { return datastore }
    }
  }

  /// The datastore of a slot, opened if it is not open; `nil` when the slot was removed meanwhile.
  private func datastore(named name: String, in slot: Slot) throws -> Datastore? {
    var deleted: Datastore?
    // Closing waits for a write that may itself be waiting for this lock, so it is done without.
    defer { deleted?.close() }
    return try slot.state.withLock { state in
      if state.isRemoved { return nil }
      if let known = state.datastore {
        if known.hasFile { return known }
        deleted = state.datastore.take()
      }
      let datastore = try Datastore(name: name, directory: path(name), options: options)
      state.datastore = datastore
      return datastore
    }
  }

  /// The datastore of a name, which has to be there.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` when it is not; otherwise as ``datastore(named:)``.
  public func existingDatastore(named name: String) throws -> Datastore {
    try DatastoreName.check(name)
    guard exists(name) else { throw DatastoreError.noSuchDatastore(name, in: directory) }
    return try datastore(named: name)
  }

  /// Closes a datastore: its files are released, and later use of the object throws `.closed`. One that is not open is
  /// left as it is.
  public func closeDatastore(named name: String) {
    slots.withLock { $0.removeValue(forKey: name) }?.remove()?.close()
  }

  /// Deletes a datastore with its documents, attachments and everything its extensions keep.
  ///
  /// A crash on the way leaves it whole or gone: it is renamed aside, and then removed. Leftovers of that are removed
  /// when the next manager takes the directory.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` when there is none of that name.
  public func deleteDatastore(named name: String) throws {
    try DatastoreName.check(name)
    let aside = path(Self.deletedPrefix + UUID().uuidString)
    var isRenamed = false
    while !isRenamed {
      closeDatastore(named: name)
      isRenamed = try slots.withLock { slots in
        // Another thread may have opened it again in between.
        guard slots[name] == nil else { return false }
        guard exists(name) else { throw DatastoreError.noSuchDatastore(name, in: directory) }
        try FileSystem.rename(path(name), to: aside)
        return true
      }
    }
    try FileSystem.synchronize(directory)
    // The datastore is gone with its name; what can't be removed now, the next manager sweeps.
    try? FileSystem.remove(aside)
  }

  /// The names of the datastores in the directory, sorted.
  public func datastoreNames() throws -> [String] {
    try FileSystem.names(in: directory).filter { DatastoreName.isValid($0) && exists($0) }.sorted()
  }

  private static let deletedPrefix = ".deleted-"

  private func path(_ name: String) -> String { "\(directory)/\(name)" }

  private func exists(_ name: String) -> Bool {
    Files.kind(of: "\(path(name))/\(DatabaseFile.name)") == .file
  }

  /// Removes what deletions left that were cut short. What can't be removed now is left to the next time.
  private func sweep() {
    for name in (try? FileSystem.names(in: directory)) ?? [] where name.hasPrefix(Self.deletedPrefix) {
      try? FileSystem.remove(path(name))
    }
  }
}
