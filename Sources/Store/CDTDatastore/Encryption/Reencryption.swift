import CDTJSON
import CDTPlatform

/// Rewrites the files of a closed datastore with another data key, or without encryption.
///
/// ```
/// .people.rekeying/state.json   the datastore and the data keys that it is about
/// .people.rekeying/store/       the new files, and after the exchange the former ones
/// ```
///
/// The new directory is filled while nobody can open the datastore, and then exchanged with the datastore's in one step. So the
/// datastore is always complete, old or new, and nothing in `store` is ever needed. A run that continues an earlier run reads in the
/// state whether it can use the attachments there. It writes everything else again.
struct Reencryption {
  private let name: DatabaseName
  private let options: DatastoreOptions
  /// The datastore's directory.
  private let place: StoreDirectory
  private let work: String
  /// The directory of the new files.
  private let draft: String
  private let statePath: String

  init(of name: DatabaseName, in directory: String, options: DatastoreOptions) {
    (self.name, self.options) = (name, options)
    place = StoreDirectory(
      name: name.description, path: "\(directory)/\(name.directoryName)", timeout: options.busyTimeout)
    work = "\(directory)/\(Self.prefix)\(name.directoryName)\(Self.suffix)"
    draft = "\(work)/store"
    statePath = "\(work)/state.json"
  }

  private static let prefix = "."
  private static let suffix = ".rekeying"

  /// - Parameters:
  ///   - encryption: The secret of the new files; `nil` if they are not to be encrypted.
  ///   - progress: Called with the number of documents and attachments written, and their total.
  func run(
    to encryption: Encryption?, stop: StopSignal?, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    let lock = try lockWork()
    defer {
      // Fails if there is anything in it.
      try? Files.removeDirectory(work)
      _ = lock
    }
    let hadFormer = try removeFormer()
    guard try !isDone(encryption, hadFormer: hadFormer) else { return }
    try write(encryption, storeID: try prepareStore(), stop, progress)
    try removeFormer()
  }

  /// Opens the datastore once, which finds damage, and upgrades an older version.
  ///
  /// - Returns: Its id.
  private func prepareStore() throws -> String {
    let store = try Datastore(name: name.description, directory: place.path, options: options)
    defer { store.close() }
    try store.checkWritable()
    return store.storeID
  }

  /// Whether an earlier run has done the same: the former secret does not open the datastore, and the new one does.
  ///
  /// - Parameter hadFormer: Whether the former files were there, which proves it. Without them, the former secret that was given may
  ///   be wrong.
  private func isDone(_ encryption: Encryption?, hadFormer: Bool) throws -> Bool {
    do {
      _ = try KeyFile.keys(in: place.path, options.encryption)
      return false
    } catch let error as DatastoreError where error.code == .wrongKey {
      do { _ = try KeyFile.keys(in: place.path, encryption) } catch { return false }
      guard hadFormer || encryption == nil || options.encryption == nil else {
        throw DatastoreError(.formerKeyDiffers(place.path))
      }
      return true
    }
  }

  private func write(
    _ encryption: Encryption?, storeID: String, _ stop: StopSignal?,
    _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws {
    try place.exclusive {
      guard try FileSystem.kind(of: place.path) == .directory else {
        throw DatastoreError(.linkedDirectory(place.path))
      }
      let old = try KeyFile.keys(in: place.path, options.encryption)
      guard old != nil || encryption != nil else { throw DatastoreError(.noKeyForPlainStore(place.path)) }
      let new = try begin(encryption, storeID: storeID, old)
      var count = 0
      let contents = try DatabaseFile.copy(
        from: place.path, old?.documents, to: draft, new?.documents, options: options, stop: stop
      ) { documents, total, contents in
        count = total
        progress(documents, total + contents)
      }
      try copyAttachments(contents, old, new, stop) { progress(count + $0, count + contents.count) }
      try copyExtensions(old, new)
      try FileSystem.perform("exchange", place.path, Files.publish(draft, at: place.path, asExchange: true))
    }
  }

  // MARK: The state

  /// The subject of a draft: a datastore and its keys.
  private struct State {
    let store: String
    /// The ids of the data keys; `nil` for none.
    let old, new: String?

    init(store: String, old: String?, new: String?) {
      (self.store, self.old, self.new) = (store, old, new)
    }

    init?(_ text: [UInt8]) {
      guard let json = try? JSONValue(parsing: text), let store = json["store"]?.stringValue else {
        return nil
      }
      (self.store, old, new) = (store, json["old"]?.stringValue, json["new"]?.stringValue)
    }

    var text: String {
      func id(_ id: String?) -> JSONValue { id.map { .string($0) } ?? .null }
      return JSONValue.object(["store": .string(store), "old": id(old), "new": id(new)]).prettyText
    }
  }

  private func state() throws -> State? {
    guard try FileSystem.kind(of: statePath) == .file else { return nil }
    return State(
      try FileSystem.perform("read", statePath, OpenFile(statePath, for: .reading).bytes(at: 0, count: 4_096))
    )
  }

  /// Continues an interrupted draft, or begins one.
  ///
  /// - Returns: The keys of the new files.
  private func begin(_ encryption: Encryption?, storeID: String, _ old: StoreKeys?) throws -> StoreKeys? {
    if let state = try state(), state.store.hasSameBytes(as: storeID), state.old == old?.id,
      try FileSystem.kind(of: draft) == .directory
    {
      if state.new == nil, encryption == nil { return nil }
      // Another secret begins another draft.
      if let encryption, let keys = try? KeyFile.existingKeys(in: draft, encryption), keys.id == state.new {
        return keys
      }
    }
    try removeDraft()
    try FileSystem.makeDirectory(draft, followsLinks: false)
    try checkExchange()
    let new = try encryption.map { try KeyFile.make(in: draft, $0) }
    let state = State(store: storeID, old: old?.id, new: new?.id)
    try FileSystem.perform("write", statePath, Files.replace(statePath, with: Array(state.text.utf8)))
    return new
  }

  /// Throws if the file system can't exchange directories, before there is anything to exchange.
  private func checkExchange() throws {
    let other = "\(work)/other"
    try FileSystem.makeDirectory(other, followsLinks: false)
    defer { try? Files.removeDirectory(other) }
    do {
      try Files.exchange(draft, other)
    } catch {
      throw DatastoreError(.cannotExchange(place.path, error))
    }
  }

  // MARK: Copying

  private func copyAttachments(
    _ contents: [AttachmentRow], _ old: StoreKeys?, _ new: StoreKeys?, _ stop: StopSignal?,
    _ progress: (_ done: Int) -> Void
  ) throws {
    func files(_ directory: String, _ keys: StoreKeys?) -> AttachmentFiles {
      AttachmentFiles(
        directory: StoreFiles.attachments(in: directory), storeName: name.description, keys: keys)
    }
    let (source, target) = (files(place.path, old), files(draft, new))
    // Of an interrupted run.
    _ = try target.removeAbandoned()
    let wanted = Set(contents.map(\.key))
    for key in try target.keys() where !wanted.contains(key) { _ = target.remove(key) }
    for (number, row) in contents.enumerated() {
      try stop?.check()
      _ = try target.adopt(DocumentAttachment(row, in: source))
      progress(number + 1)
    }
    // Also what an interrupted run has copied. Empty contents have no file.
    if try FileSystem.kind(of: StoreFiles.attachments(in: draft)) != nil { try target.synchronize() }
  }

  /// Copies the data of extensions. Index files are left out, as they are made again from the definitions.
  private func copyExtensions(_ old: StoreKeys?, _ new: StoreKeys?) throws {
    let (source, target) = (StoreFiles.extensions(in: place.path), StoreFiles.extensions(in: draft))
    try FileSystem.remove(target)
    guard try FileSystem.kind(of: source) == .directory else { return }
    try FileSystem.makeDirectory(target, followsLinks: false)
    for name in try FileSystem.names(in: source) {
      if name == StoreFiles.indexExtension {
        try copyDefinitions("\(source)/\(name)", old, "\(target)/\(name)", new)
      } else {
        try StoreFiles.copyTree("\(source)/\(name)", to: "\(target)/\(name)")
      }
    }
    try FileSystem.synchronize(target)
  }

  private func copyDefinitions(
    _ source: String, _ old: StoreKeys?, _ target: String, _ new: StoreKeys?
  ) throws {
    try FileSystem.makeDirectory(target, followsLinks: false)
    let name = StoreFiles.indexDefinitions
    let (path, copy) = ("\(source)/\(name)", "\(target)/\(name)")
    guard try FileSystem.kind(of: path) == .file else { return }
    var content = try FileSystem.reading(path) {
      let file = try OpenFile(path, for: .reading)
      return try file.bytes(at: 0, count: Int(clamping: file.length()))
    }
    if let old {
      guard let opened = old.open(content, named: name) else {
        throw DatastoreError(.damaged(path, "it differs from what was written"))
      }
      content = opened
    }
    content = new?.seal(content, named: name) ?? content
    try FileSystem.perform("write", copy, Files.replace(copy, with: content))
  }

  // MARK: Removing

  /// Waits for another run.
  private func lockWork() throws -> DirectoryLock {
    while true {
      try FileSystem.makeDirectory(work, followsLinks: false)
      do {
        guard let lock = try DirectoryLock.take(work, for: .exclusive, timeout: options.busyTimeout) else {
          throw DatastoreError(.inUse(name.description, options.busyTimeout))
        }
        return lock
      } catch let error as SystemError {
        // Another run has just ended, and removed it.
        guard error.isMissing else { throw DatastoreError(error, "lock", work) }
      }
    }
  }

  /// Removes the former files, if the new ones have taken their place.
  ///
  /// - Returns: Whether the new files are in place.
  @discardableResult private func removeFormer() throws -> Bool {
    guard let state = try state(), try KeyFile.id(in: place.path) == state.new,
      state.new != state.old
    else { return false }
    // What the datastore has not made stays with it.
    let kept = try FileSystem.kind(of: draft) == .directory ? StoreFiles.foreignNames(in: draft) : []
    for name in kept where try FileSystem.kind(of: "\(place.path)/\(name)") == nil {
      try FileSystem.rename("\(draft)/\(name)", to: "\(place.path)/\(name)")
    }
    try removeDraft()
    return true
  }

  /// The unencrypted files that an interrupted run has made of a datastore that is still encrypted; `nil` if there are none.
  func unencryptedDraft() throws -> String? {
    guard let state = try state(), state.old != nil, state.new == nil, try KeyFile.id(in: place.path) != nil
    else { return nil }
    return work
  }

  /// Removes them, unless a run is under way.
  func removeUnencryptedDraft() throws {
    guard try unencryptedDraft() != nil else { return }
    try betweenRuns {
      // A run may have ended in the meantime.
      if try unencryptedDraft() != nil { try removeDraft() }
    }
  }

  /// Runs `body`, which removes what runs have left, unless one is under way.
  private func betweenRuns(_ body: () throws -> Void) throws {
    guard try FileSystem.kind(of: work) == .directory,
      let lock = try DirectoryLock.take(work, for: .exclusive, timeout: .zero)
    else { return }
    defer { _ = lock }
    try body()
    // Fails if there is anything in it.
    try? Files.removeDirectory(work)
  }

  private func removeDraft() throws {
    if try FileSystem.kind(of: draft) == .directory { try StoreFiles.remove(draft) }
    try FileSystem.perform("remove", statePath, Files.remove(statePath))
  }

  /// Removes what interrupted runs have left of datastores that have their new files. The others can be continued.
  static func sweep(_ directory: String) {
    for file in (try? FileSystem.names(in: directory)) ?? []
    where file.hasPrefix(prefix) && file.hasSuffix(suffix) {
      guard
        let name = try? DatabaseName(
          directoryName: String(file.dropFirst(prefix.count).dropLast(suffix.count)))
      else { continue }
      let leftover = Reencryption(of: name, in: directory, options: DatastoreOptions())
      try? leftover.betweenRuns { try leftover.removeFormer() }
    }
  }

  /// Removes what interrupted runs have left of a datastore that is deleted.
  func discard() throws {
    guard try FileSystem.kind(of: work) == .directory else { return }
    let lock = try lockWork()
    try removeDraft()
    try FileSystem.perform("remove", work, Files.removeDirectory(work))
    _ = consume lock
  }
}
