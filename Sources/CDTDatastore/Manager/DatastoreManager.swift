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
  private let open = Mutex<[String: Datastore]>([:])

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
    for datastore in open.withLock({ Array($0.values) }) { datastore.close() }
  }

  /// The datastore of a name, created when it is missing. The same name gives the same object, from any thread.
  ///
  /// - Throws: ``DatastoreError``: `.invalidName`, `.newerFormat`, `.corrupt`, `.busy`, `.io`.
  public func datastore(named name: String) throws -> Datastore {
    try DatastoreName.check(name)
    var deleted: Datastore?
    // Closing waits for a write that may itself be waiting for this lock, so it is done without.
    defer { deleted?.close() }
    return try open.withLock { open in
      if let known = open[name] {
        guard !known.hasFile else { return known }
        deleted = open.removeValue(forKey: name)
      }
      let datastore = try Datastore(name: name, directory: path(name), options: options)
      open[name] = datastore
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
    open.withLock { $0.removeValue(forKey: name) }?.close()
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
      isRenamed = try open.withLock { open in
        // Another thread may have opened it again in between.
        guard open[name] == nil else { return false }
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
    FileSystem.kind("\(path(name))/\(DatabaseFile.name)") == .other
  }

  /// Removes what deletions left that were cut short. What can't be removed now is left to the next time.
  private func sweep() {
    for name in (try? FileSystem.names(in: directory)) ?? [] where name.hasPrefix(Self.deletedPrefix) {
      try? FileSystem.remove(path(name))
    }
  }
}
