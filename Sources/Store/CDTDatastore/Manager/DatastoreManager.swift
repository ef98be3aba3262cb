package import CDTPlatform
import CDTSQLite
import Dispatch
import Synchronization

/// Manages the datastores in a directory.
///
/// ```swift
/// let manager = try DatastoreManager(directory: "stores")
/// let tasks = try manager.datastore(named: "tasks")
/// ```
///
/// You can use a manager from any thread, and several processes may have managers for the same directory. Use a
/// separate directory for datastores and one manager per application. A datastore stays open as long as you hold it or its
/// manager.
///
/// See <doc:WorkingWithDocuments#Managers>.
public final class DatastoreManager: Sendable {
  /// The directory's path.
  public let directory: String

  private let options: DatastoreOptions
  let rules: CurrentRules
  private let state = Mutex(State())
  /// Whether datastores may be opened, deleted and encrypted.
  let suspension: Suspension
  /// The directory, if it goes with the manager and its datastores.
  private let temporary: TemporaryDirectory?

  private struct State {
    var slots: [DatabaseName: Slot] = [:]
    /// The deletions in progress. A name in this table has no slot.
    var deletions: [DatabaseName: Deletion] = [:]
  }

  /// The entry of one datastore. Opening a datastore can take long, for example to upgrade its file, so each slot has
  /// its own lock.
  private final class Slot: Sendable {
    struct State {
      var datastore: Datastore?
      /// Whether the slot was removed from the manager.
      var isRemoved = false
    }

    let state = Mutex(State())

    /// The datastore, if it is open.
    var datastore: Datastore? { state.withLock { $0.datastore } }

    func remove() -> Datastore? {
      state.withLock { state in
        state.isRemoved = true
        return state.datastore.take()
      }
    }
  }

  /// A deletion in progress, which other callers for the same name wait for.
  private final class Deletion: Sendable {
    /// The datastore that was open under the name.
    let slot: Slot?
    private let isDone = DispatchGroup()

    init(of slot: Slot?) {
      self.slot = slot
      isDone.enter()
    }

    func end() {
      isDone.leave()
    }

    /// Waits for the end of the deletion. The timeout prevents a deadlock with a write that the deletion waits for.
    ///
    /// - Returns: Whether the deletion ended before the timeout.
    func wait(_ timeout: Duration) -> Bool {
      isDone.wait(timeout: .now() + timeout.dispatchInterval) == .success
    }
  }

  /// Creates a manager and its directory, if that does not exist; the parent directory must exist.
  ///
  /// - Throws: ``DatastoreError`` with the code `.io` if the path is a file or the directory can't be created.
  public convenience init(
    directory: String, options: DatastoreOptions = .init()
  ) throws(DatastoreError) {
    try Self.prepare(directory)
    self.init(prepared: directory, options: options)
  }

  /// Creates a manager for a prepared directory.
  init(prepared directory: String, options: DatastoreOptions, temporary: TemporaryDirectory? = nil) {
    self.directory = directory
    suspension = Suspension("the manager of \(DatastoreError.quoted(directory))")
    self.options = options
    rules = CurrentRules(options.documentRules)
    self.temporary = temporary
  }

  /// Closes every datastore that is open.
  package func closeDatastores() {
    for slot in state.withLock({ Array($0.slots.values) }) { slot.remove()?.close() }
  }

  /// Opens a datastore, or creates it if it does not exist. The same name always returns the same object, on any
  /// thread.
  ///
  /// If the datastore is being deleted, this waits for the deletion and returns a new, empty datastore.
  ///
  /// - Throws: ``DatastoreError``: `.invalidName`, `.newerFormat`, `.corrupt`, `.io`; `.busy`, also if a deletion of
  ///   the datastore takes longer than the busy timeout; `.nestedWrite` inside a write to the datastore being deleted.
  public func datastore(named name: String) throws -> Datastore {
    try datastore(named: DatabaseName(ofDatastore: name))
  }

  /// Opens or creates a datastore whose name may be one of CouchDB; see `datastore(named:)` with a `String`.
  public func datastore(named name: DatabaseName) throws -> Datastore {
    try datastore(named: name, isCreated: true)
  }

  /// Opens or creates a datastore with a secret of its own in place of that of the options. If it is open, it is returned as it is.
  package func datastore(named name: String, encryptedWith encryption: Encryption?) throws -> Datastore {
    var options = options
    options.encryption = encryption
    return try datastore(named: DatabaseName(ofDatastore: name), isCreated: true, options)
  }

  /// Closes a datastore, and opens it for reading only, as the state of a backup at a time.
  ///
  /// - Parameter time: In seconds since 1970.
  package func reopenDatastore(named name: String, asStateAt time: Double) throws -> Datastore {
    try closeDatastore(named: name)
    var options = options
    (options.stateTime, options.isState) = (time, true)
    return try datastore(named: DatabaseName(ofDatastore: name), isCreated: false, options)
  }

  private func datastore(
    named name: DatabaseName, isCreated: Bool, _ options: DatastoreOptions? = nil
  ) throws -> Datastore {
    let options = options ?? self.options
    while true {
      let slot = try state(of: name) { state in
        if let known = state.slots[name] { return known }
        let made = Slot()
        state.slots[name] = made
        return made
      }
      if let datastore = try datastore(named: name, in: slot, isCreated: isCreated, options) {
        return datastore
      }
    }
  }

  /// Runs `body` when no deletion of the name is in progress.
  private func state<R: Sendable>(of name: DatabaseName, _ body: (inout State) -> R) throws -> R {
    while true {
      var deletion: Deletion?
      let result: R? = state.withLock { state in
        deletion = state.deletions[name]
        return deletion == nil ? body(&state) : nil
      }
      if let result { return result }
      guard let deletion else { continue }
      try checkNotWritten(deletion.slot, named: name, "opened or deleted")
      guard deletion.wait(options.busyTimeout) else {
        throw DatastoreError(.beingDeleted(name.description, options.busyTimeout))
      }
    }
  }

  /// Throws if the call would wait for a write of this thread.
  private func checkNotWritten(_ slot: Slot?, named name: DatabaseName, _ action: String)
    throws(DatastoreError)
  {
    if slot?.datastore?.isWrittenByThisThread == true {
      throw DatastoreError(.withinWrite(name.description, action))
    }
  }

  /// The datastore of a slot, opened if necessary; `nil` if the slot was removed in the meantime.
  private func datastore(
    named name: DatabaseName, in slot: Slot, isCreated: Bool, _ options: DatastoreOptions
  ) throws -> Datastore? {
    let hold = try suspension.holdFiles()
    defer { _ = hold }
    var deleted: Datastore?
    // Closing waits for a write that may be waiting for this lock, so close after releasing it.
    defer { deleted?.close() }
    return try slot.state.withLock { state in
      if state.isRemoved { return nil }
      if let known = state.datastore {
        if try known.hasFile() { return known }
        deleted = state.datastore.take()
      }
      let datastore = try openDatastore(named: name, isCreated: isCreated, options)
      guard !suspension.isSuspended else {
        datastore.close()
        throw DatastoreError(suspension.error)
      }
      state.datastore = datastore
      return datastore
    }
  }

  /// The datastores that are open, without those that are just being opened.
  var openDatastores: [Datastore] {
    state.withLock { Array($0.slots.values) }.compactMap { slot in
      slot.state.withLockIfAvailable { $0.datastore } ?? nil
    }
  }

  /// The datastores that are open, with those that are just being opened, for which this waits.
  var knownDatastores: [Datastore] {
    state.withLock { Array($0.slots.values) }.compactMap(\.datastore)
  }

  /// Opens the files. If another process deletes the datastore at the same moment, this starts again.
  private func openDatastore(
    named name: DatabaseName, isCreated: Bool, _ options: DatastoreOptions
  ) throws -> Datastore {
    var attempts = 0
    while true {
      guard try isCreated || exists(name) else {
        throw DatastoreError(.noSuchDatastore(name.description, in: directory))
      }
      do {
        let datastore = try Datastore(
          name: name.description, directory: path(name), options: options, rules: rules, temporary: temporary)
        // Where they can't be removed, the datastore can be used nevertheless.
        if datastore.keys != nil { try? reencryption(of: name).removeUnencryptedDraft() }
        return datastore
      } catch let error as DatastoreError {
        let isDeleted = try error.code == .closed || FileSystem.kind(of: path(name)) == nil
        attempts += 1
        guard isDeleted, attempts < 10 else { throw error }
      }
    }
  }

  /// Opens an existing datastore.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` if it does not exist; the other errors of
  ///   `datastore(named:)`.
  public func existingDatastore(named name: String) throws -> Datastore {
    try existingDatastore(named: DatabaseName(ofDatastore: name))
  }

  /// Opens an existing datastore whose name may be one of CouchDB; see `existingDatastore(named:)` with a `String`.
  public func existingDatastore(named name: DatabaseName) throws -> Datastore {
    guard try exists(name) else { throw DatastoreError(.noSuchDatastore(name.description, in: directory)) }
    return try datastore(named: name, isCreated: false)
  }

  /// Closes a datastore: its files are closed, and later use of the object throws `.closed`. If it is not open,
  /// nothing happens. The call waits for a write in progress.
  ///
  /// - Throws: ``DatastoreError`` with the code `.nestedWrite` inside a write to the datastore on the same thread; the
  ///   datastore then stays open.
  public func closeDatastore(named name: String) throws(DatastoreError) {
    // No datastore has another name.
    guard let name = try? DatabaseName(ofDatastore: name) else { return }
    try closeDatastore(named: name)
  }

  /// Closes a datastore whose name may be one of CouchDB; see `closeDatastore(named:)` with a `String`.
  public func closeDatastore(named name: DatabaseName) throws(DatastoreError) {
    try checkNotWritten(state.withLock { $0.slots[name] }, named: name, "closed")
    let hold = try? suspension.hold()
    defer { _ = hold }
    state.withLock { $0.slots.removeValue(forKey: name) }?.remove()?.close()
  }

  /// Deletes a datastore with its documents, attachments and the data of its extensions.
  ///
  /// The call waits for a write in progress. Callers that open the same name in the meantime wait for the deletion and
  /// get a new, empty datastore. The directory is renamed before it is removed, so after a crash the datastore is
  /// either complete or deleted. The next manager of the directory removes what is left. Files that the datastore has
  /// not made stay in the directory, and symbolic links are not followed.
  ///
  /// - Throws: ``DatastoreError``: `.notFound` if the datastore does not exist; `.corrupt` if its `db.sync` is another
  ///   program's, which is left alone; `.nestedWrite` inside a write to the
  ///   datastore on the same thread, which leaves it unchanged; `.busy` if another deletion of it, or others
  ///   that open or close it, take longer than the busy timeout.
  public func deleteDatastore(named name: String) throws {
    try deleteDatastore(named: DatabaseName(ofDatastore: name))
  }

  /// Deletes a datastore whose name may be one of CouchDB; see `deleteDatastore(named:)` with a `String`.
  public func deleteDatastore(named name: DatabaseName) throws {
    try checkNotWritten(state.withLock { $0.slots[name] }, named: name, "deleted")
    let hold = try suspension.holdFiles()
    defer { _ = hold }
    let deletion = try state(of: name) { state in
      let made = Deletion(of: state.slots.removeValue(forKey: name))
      state.deletions[name] = made
      return made
    }
    let aside = "\(directory)/\(Self.deletedPrefix)\(RandomID.uuid())"
    do {
      defer {
        state.withLock { _ = $0.deletions.removeValue(forKey: name) }
        deletion.end()
      }
      // The slot keeps the datastore while it closes, for a caller that opens the name inside a write to it.
      deletion.slot?.datastore?.close()
      deletion.slot?.remove()?.close()
      do {
        try StoreDirectory(name: name.description, path: path(name), timeout: options.busyTimeout).exclusive {
          // Somebody may just have made the directory.
          guard try exists(name) else {
            throw DatastoreError(.noSuchDatastore(name.description, in: directory))
          }
          guard try FileSystem.kind(of: path(name)) == .directory else {
            throw DatastoreError(.linkedDirectory(path(name)))
          }
          try FileOwner.check(DatabaseFile.path(in: path(name)))
          try FileSystem.rename(path(name), to: aside)
        }
      } catch {
        // Another process may have deleted it at the same moment.
        guard try exists(name) else {
          throw DatastoreError(.noSuchDatastore(name.description, in: directory))
        }
        throw error
      }
    }
    try FileSystem.synchronize(directory)
    // The datastore is already deleted. The next manager removes files that can't be removed now.
    try? Reencryption(of: name, in: directory, options: options).discard()
    do { try StoreFiles.remove(aside) } catch { return }
    // What is left was not made by the datastore. The directory gets its name back, unless that is taken by now.
    if (try? FileSystem.kind(of: aside)) == .directory {
      try? FileSystem.rename(aside, to: path(name))
    }
  }

  /// Replaces the secret of an encrypted datastore, which is not open. Nothing is encrypted again: the secret only encrypts the key
  /// of the files (`reencryptDatastore(named:with:progress:)` does that). The manager's options have the old one.
  ///
  /// - Parameters:
  ///   - name: The datastore's name.
  ///   - encryption: The new secret.
  /// - Throws: ``DatastoreError``: `.notFound` if the datastore does not exist; `.wrongKey` if the secret is wrong, or if it
  ///   is not encrypted; `.busy` if others that open, close or delete it take longer than the busy timeout; `.full`, `.io`.
  public func changeEncryption(ofDatastoreNamed name: String, to encryption: Encryption) throws {
    try changeEncryption(ofDatastoreNamed: DatabaseName(ofDatastore: name), to: encryption)
  }

  /// Replaces the secret of an encrypted datastore whose name may be one of CouchDB.
  package func changeEncryption(ofDatastoreNamed name: DatabaseName, to encryption: Encryption) throws {
    guard try exists(name) else { throw DatastoreError(.noSuchDatastore(name.description, in: directory)) }
    let hold = try suspension.holdFiles()
    defer { _ = hold }
    guard let old = options.encryption else {
      throw try KeyFile.id(in: path(name)) == nil
        ? DatastoreError(.keyForPlainStore(path(name))) : DatastoreError(.missingKey(path(name)))
    }
    try StoreDirectory(name: name.description, path: path(name), timeout: options.busyTimeout).exclusive {
      try KeyFile.changeSecret(in: path(name), from: old, to: encryption)
    }
  }

  /// Encrypts a datastore, which is not open, with a new data key, or makes it one that is not encrypted.
  ///
  /// ```swift
  /// try manager.closeDatastore(named: "contacts")
  /// try manager.reencryptDatastore(named: "contacts", with: .passphrase("another passphrase"))
  /// ```
  ///
  /// All its files are rewritten beside it, and then take their place in one step. The documents with their histories and
  /// sequences, local documents and attachments stay, so replicators go on; the indexes are built again when they are needed.
  /// If the call is interrupted, even by a kill, the datastore is in its former form or in the new one. The next call with the
  /// same arguments continues with the attachments that are left; if the datastore has its new form, it removes what is left of the
  /// former one and returns.
  ///
  /// The manager's options have the former secret, or none if the datastore was not encrypted.
  ///
  /// - Parameters:
  ///   - name: The datastore's name.
  ///   - encryption: The new secret, which may be the former one; `nil` if the datastore is not to be encrypted any more.
  ///   - progress: Called with the number of documents and attachments written, and their total.
  /// - Throws: ``DatastoreError``: `.notFound` if the datastore does not exist; `.wrongKey` if the secret is wrong, also if the
  ///   new one opens it already, or if neither it nor the new form is encrypted; `.busy` if it is open here or in another process; `.corrupt`, also if the
  ///   content of an attachment is damaged, and `.notFound` if it is missing; `.full` if there is no space for all files once
  ///   more; `.io`, also if the file system can't exchange two directories. The datastore is then unchanged.
  /// - Complexity: O(*bytes*).
  public func reencryptDatastore(
    named name: String, with encryption: Encryption?,
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws {
    try reencrypt(DatabaseName(ofDatastore: name), encryption, progress)
  }

  /// Encrypts a datastore whose name may be one of CouchDB with a new data key.
  package func reencrypt(
    _ name: DatabaseName, _ encryption: Encryption?, stop: StopSignal? = nil,
    _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    guard try exists(name) else { throw DatastoreError(.noSuchDatastore(name.description, in: directory)) }
    let hold = try suspension.holdFiles()
    defer { _ = hold }
    let stop = stop ?? StopSignal(deadline: nil)
    let registration = suspension.whenSuspended { stop.suspend() }
    try withExtendedLifetime(registration) {
      try reencryption(of: name).run(to: encryption, stop: stop, progress)
    }
  }

  private func reencryption(of name: DatabaseName) -> Reencryption {
    Reencryption(of: name, in: directory, options: options)
  }

  /// The directory of the unencrypted files that an interrupted `reencryptDatastore(named:with:progress:)` has left of a datastore
  /// that is still encrypted; `nil` if there are none. Opening the datastore removes them, and a call that continues uses them.
  package func unencryptedFiles(of name: DatabaseName) throws -> String? {
    try reencryption(of: name).unencryptedDraft()
  }

  /// The names of the datastores in the directory, sorted, without those of which only a ``DatabaseName`` can be made.
  public func datastoreNames() throws -> [String] {
    try databaseNames().filter(\.isOfDatastore).map(\.description)
  }

  /// The names of all datastores in the directory, sorted.
  public func databaseNames() throws -> [DatabaseName] {
    try FileSystem.names(in: directory).compactMap { try? DatabaseName(directoryName: $0) }
      .filter { (try? exists($0)) == true }
      .sorted { $0.description < $1.description }
  }

  private static let deletedPrefix = ".deleted-"

  /// The status of the database file and of its log, if that has content. A commit changes it.
  package func files(of name: DatabaseName) throws(DatastoreError) -> [FileStatus?] {
    let path = DatabaseFile.path(in: path(name))
    return try [path, LogFile.path(of: path)].map { file throws(DatastoreError) in
      let status = try FileSystem.perform("read", file, FileStatus.ofFile(at: file))
      return status?.size == 0 ? nil : status
    }
  }

  private func path(_ name: DatabaseName) -> String { "\(directory)/\(name.directoryName)" }

  private func exists(_ name: DatabaseName) throws(DatastoreError) -> Bool {
    try StoreFiles.exist(in: path(name))
  }

  /// Removes what interrupted deletions and encryptions left. Files that can't be removed are left for the next manager.
  private static func sweep(_ directory: String) {
    for name in (try? FileSystem.names(in: directory)) ?? [] where isOfDeletion(name) {
      let path = "\(directory)/\(name)"
      if StoreFiles.areRemains(path) { try? StoreFiles.remove(path) }
    }
    Reencryption.sweep(directory)
  }

  private static func isOfDeletion(_ name: String) -> Bool {
    name.hasPrefix(deletedPrefix) && UUID(uuidString: String(name.dropFirst(deletedPrefix.count))) != nil
  }

  /// Creates the directory and removes what deletions left.
  static func prepare(_ directory: String) throws(DatastoreError) {
    guard directory != ":memory:" else { throw DatastoreError(.memoryAsDirectory) }
    if try FileSystem.kind(of: directory) == nil { try StorePath.check("\(directory)/x") }
    try FileSystem.makeDirectory(directory)
    sweep(directory)
  }
}

extension DatastoreManager {
  /// A warning about the loaded library of SQLite, without a full stop; `nil` if no warning is needed.
  package static var libraryWarning: String? { SQLiteLibrary.warning }
}
