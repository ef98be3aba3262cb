import CDTJSON
import CDTPlatform
package import CDTSQLite
import Synchronization

/// A persistent set of JSON documents, each with its revisions.
///
/// ```swift
/// let tasks = try manager.datastore(named: "tasks")
/// let task = try tasks.createDocument(from: DocumentDraft(body: ["description": "Buy milk"]))
/// ```
///
/// You can use a datastore from any thread. A read sees what was committed before it began; writes run one at a time,
/// also across processes.
///
/// See <doc:WorkingWithDocuments>.
public final class Datastore: Sendable {
  /// The datastore's name.
  public let name: String

  /// The datastore's directory.
  package let directory: String
  /// The path of the database file.
  package let databasePath: String
  let options: DatastoreOptions
  /// The rules of the manager.
  let rules: CurrentRules
  private let place: StoreDirectory
  /// The directory of the manager, if it goes with the manager and its datastores.
  private let temporary: TemporaryDirectory?
  /// The unique id of this store. A store recreated under the same name has a different one.
  package let storeID: String

  /// The access with which the database file is opened.
  package let access: FileAccess
  /// The opened database file. If it is deleted elsewhere, another file may appear at its path.
  private let file: PlacedFile
  /// The keys, if the datastore is encrypted.
  package let keys: StoreKeys?
  /// The files of attachments.
  package let attachmentFiles: AttachmentFiles
  /// The listeners that wait for commits.
  let changeListeners = ChangeListeners()
  /// Whether the files may be used.
  package let suspension: Suspension
  private let writer: WriterLock
  private let readers: ConnectionPool<StoreReader>
  /// Divides ``DatastoreOptions/memoryBudget``.
  package let memory: MemoryBudget
  /// Runs asynchronous writes, of which only one can run at a time.
  let writes = WorkQueue(threads: 1)
  let extensionObjects = DatastoreExtensions()
  private let isClosed = Atomic(false)

  init(
    name: String, directory: String, options: DatastoreOptions, rules: CurrentRules? = nil,
    temporary: TemporaryDirectory? = nil
  ) throws {
    self.name = name
    self.temporary = temporary
    self.directory = directory
    self.options = options
    self.rules = rules ?? CurrentRules(options.documentRules)
    try StorePath.check(directory)
    try FileSystem.makeDirectory(directory)
    let suspension = Suspension("the datastore \(DatastoreError.quoted(name))")
    self.suspension = suspension
    let place = StoreDirectory(
      name: name, path: directory, timeout: options.busyTimeout, suspension: suspension)
    self.place = place
    if let encryption = options.encryption { try KeyFile.makeIfNew(in: place, encryption) }
    let path = DatabaseFile.path(in: directory)
    databasePath = path
    let (opened, access, file, keys) = try place.shared {
      try StoreFiles.checkKinds(in: directory)
      let keys = try KeyFile.keys(in: directory, options.encryption)
      let before = FileIdentity(path)
      var access = try FileAccess.of(path, isState: options.isState)
      let opened: (connection: Connection, storeID: String)
      do {
        opened =
          try access.isReadOnly
          ? DatabaseFile.openReading(in: directory, access, options: options, keys?.documents)
          : DatabaseFile.openFirst(in: directory, options: options, keys?.documents)
      } catch let error as DatastoreError where error.code == .full {
        guard let reading = try FileAccess.onFullDisk(path) else { throw error }
        access = reading
        opened = try DatabaseFile.openReading(in: directory, access, options: options, keys?.documents)
      }
      // Somebody may have put another file in its place.
      guard let found = PlacedFile(path), before == nil || before == found.identity else {
        opened.connection.close()
        throw DatastoreError(.deletedElsewhere(name))
      }
      return (opened, access, found, keys)
    }
    self.keys = keys
    attachmentFiles = AttachmentFiles(
      directory: StoreFiles.attachments(in: directory), storeName: name, keys: keys, suspension)
    storeID = opened.storeID
    self.access = access
    self.file = file
    let open: @Sendable () throws -> Connection = {
      try place.shared {
        guard try Self.identity(path) == file.identity else { throw DatastoreError(.deletedElsewhere(name)) }
        guard access.isCurrent(path) else { throw DatastoreError(.changedElsewhere(name)) }
        let connection = try DatabaseFile.open(in: directory, access, options: options, keys?.documents)
        try connection.join(suspension)
        return connection
      }
    }
    let memory = MemoryBudget(options.memoryBudget)
    self.memory = memory
    writer = WriterLock(timeout: options.busyTimeout, suspension) {
      if options.durability == .normal { try RelaxedDurability.note(in: directory) }
      let connection = try open()
      try connection.setCacheSize(memory.writerShare)
      return connection
    }
    try opened.connection.join(suspension)
    readers = ConnectionPool(
      first: StoreReader(opened.connection, budget: memory), suspension: suspension,
      open: { StoreReader(try open(), budget: memory) })
    try openExtensions()
  }

  /// Whether the opened file is still the one at its path.
  ///
  /// - Throws: ``DatastoreError`` with the code `.io` if the system can't tell.
  func hasFile() throws(DatastoreError) -> Bool {
    try Self.identity(databasePath) == file.identity && access.isCurrent(databasePath)
  }

  private static func identity(_ path: String) throws(DatastoreError) -> FileIdentity? {
    try FileSystem.perform("read", path, FileStatus.ofFile(at: path))?.identity
  }

  /// Whether this thread is inside a write to the datastore.
  var isWrittenByThisThread: Bool { writer.isHeldByThisThread }

  deinit {
    close()
  }

  /// Closes the files. The manager calls it, so that another object can open the datastore.
  func close() {
    isClosed.store(true, ordering: .releasing)
    extensionObjects.close()
    changeListeners.close()
    attachmentFiles.close()
    readers.close()
    writer.close()
    file.close()
  }

  /// The size of the store on disk in bytes, including indexes and attachments.
  public func sizeOnDisk() throws -> Int64 {
    try checkFile()
    return try FileSystem.size(of: directory)
  }

  // MARK: For extensions

  /// The keys of a damaged datastore, which is encrypted with the same secret as this one, or not at all.
  package func keys(ofDamagedStoreIn directory: String) throws -> StoreKeys? {
    try KeyFile.existingKeys(in: directory, options.encryption)
  }

  /// Makes the key file of a backup the datastore's, whose new secret is then the backup's.
  ///
  /// - Parameter isNew: Whether the backup has no increments yet.
  /// - Throws: ``DatastoreError`` with the code `.wrongKey` if the backup has another data key, or none.
  package func copyKeyFile(toBackupIn directory: String, isNew: Bool) throws {
    try KeyFile.copy(of: self, keys, toBackupIn: directory, isNew: isNew)
  }

  /// The time to wait for another writer.
  package var busyTimeout: Duration { options.busyTimeout }

  /// Whether extensions may write in the background.
  package var worksInBackground: Bool { options.worksInBackground }

  /// The time of the state of a backup that the datastore has, in seconds since 1970.
  package var stateTime: Double? { options.stateTime }

  /// - Throws: ``DatastoreError`` with the code `.closed` or `.suspended`.
  package func checkOpen() throws(DatastoreError) {
    if isClosed.load(ordering: .acquiring) { throw DatastoreError(.closed(name)) }
    try suspension.check()
  }

  /// Whether the datastore is suspended, and not closed.
  var isSuspended: Bool { suspension.isSuspended && !isClosed.load(ordering: .acquiring) }

  /// A deleted file can still be read while it is open, but its content is obsolete.
  ///
  /// - Throws: ``DatastoreError`` with the code `.closed`.
  package func checkFile() throws(DatastoreError) {
    try checkOpen()
    try checkPlace(Self.identity(databasePath) == file.identity)
  }

  /// Like ``checkFile()``, for a read: a directory that was moved away is only noticed soon.
  private func checkFileSoon() throws(DatastoreError) {
    try checkOpen()
    try checkPlace(FileSystem.perform("read", databasePath, file.isInPlace()))
  }

  private func checkPlace(_ isInPlace: Bool) throws(DatastoreError) {
    guard isInPlace else { throw DatastoreError(.deletedElsewhere(name)) }
    guard access.isCurrent(databasePath) else { throw DatastoreError(.changedElsewhere(name)) }
  }

  /// Throws if the file was changed while it was read without locks, as the results may be wrong. Call it after a read.
  package func checkUnchanged() throws(DatastoreError) {
    if access.isImmutable { try checkFile() }
  }

  /// - Throws: ``DatastoreError`` with the code `.io` if the datastore can only be read, `.full` if that is because the disk is full.
  package func checkWritable() throws(DatastoreError) {
    if options.isState { throw DatastoreError(.stateOfBackup) }
    if access.isDiskFull {
      try checkFile()
      throw DatastoreError(SystemError.full, "write to", directory)
    }
    if access.isReadOnly { throw DatastoreError(.readOnly(directory)) }
  }

  /// Keeps the files in place while the result lives: nobody deletes the datastore or moves a file (``exclusive(_:)``). Take
  /// it to open or create files.
  ///
  /// - Throws: ``DatastoreError`` with the code `.closed` if the datastore was deleted, `.busy` after the busy timeout.
  package func stayInPlace() throws -> PlaceLock {
    let lock = try place.lockShared()
    try checkFile()
    return lock
  }

  /// Runs `body`, which moves or removes a database of an extension, while no file is opened or closed.
  ///
  /// - Throws: ``DatastoreError`` with the code `.closed` if the datastore was deleted, `.busy` after the busy timeout.
  package func exclusive<R>(_ body: () throws -> R) throws -> R {
    try place.exclusive {
      try checkFile()
      return try body()
    }
  }

  /// Lends a reader.
  func lendReader() throws -> ConnectionPool<StoreReader>.Lease {
    try checkFileSoon()
    return try mappingFailures {
      let lease = try readers.lend()
      try lease.reader.prepare()
      return lease
    }
  }

  /// Ends the transactions that idle readers keep (``StoreReader``), so that the log can restart.
  package func endKeptStates() {
    readers.endStates()
  }

  /// Closes the files that are open and not in use, for a suspension.
  func closeIdleFiles() {
    for each in extensionObjects.all { each.closeIdleFiles() }
    readers.closeIdle()
    writer.closeIfIdle()
  }

  /// Closes the readers that are not lent; others are opened when they are needed.
  package func closeIdleReaders() {
    readers.closeIdle()
  }

  /// The directory of an extension's data, created if it does not exist and deleted with the datastore. If the
  /// datastore can only be read, it is not created.
  ///
  /// - Parameter name: One path component, such as a reverse domain name, unique for each extension.
  /// - Throws: ``DatastoreError`` if the name is not a single path component.
  public func extensionDirectory(named name: String) throws -> String {
    try checkFile()
    guard !name.isEmpty, name != ".", name != "..", name.utf8.count <= 200,
      !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
    else { throw DatastoreError(.invalidName(name)) }
    let extensions = StoreFiles.extensions(in: directory)
    let path = "\(extensions)/\(name)"
    if access.isReadOnly { return path }
    return try mappingFailures {
      let lock = try stayInPlace()
      defer { _ = lock }
      try FileSystem.makeDirectory(extensions, followsLinks: false)
      try FileSystem.makeDirectory(path, followsLinks: false)
      return path
    }
  }

  /// The datastore's extension of a type, created on first use and closed with the datastore.
  package func extensionObject<E: DatastoreExtension>(_ type: E.Type) throws -> E {
    if let known = extensionObjects.existing(type) { return known }
    let directory = try extensionDirectory(named: type.extensionName)
    let made = extensionObjects.extensionObject(type) { E(of: self, directory: directory) }
    guard let made else { throw DatastoreError(.closed(name)) }
    return made
  }

  /// The extension of a type, if the datastore has it.
  package func existingExtension<E: DatastoreExtension>(_ type: E.Type) -> E? {
    extensionObjects.existing(type)
  }

  /// Lets datastores that have data of a type of extension have that extension from their opening or their next write on, before
  /// anything asks for it.
  package static func registerExtension(_ type: any DatastoreExtension.Type) {
    DatastoreExtensions.register(type)
  }

  /// Whether an extension has data. It has none where a symbolic link leads, since it would write there.
  private func hasDirectory(of type: any DatastoreExtension.Type) throws(DatastoreError) -> Bool {
    let extensions = StoreFiles.extensions(in: directory)
    guard try FileSystem.kind(of: extensions) == .directory else { return false }
    return try FileSystem.kind(of: "\(extensions)/\(type.extensionName)") == .directory
  }

  /// The extensions that have data, including data that another process created in the meantime.
  func currentExtensions() throws -> [any DatastoreExtension] {
    try openExtensions()
    return extensionObjects.all
  }

  /// Opens the extensions that have data, so that a transaction sees it.
  func openExtensions() throws {
    for type in DatastoreExtensions.knownTypes where !extensionObjects.has(type) {
      if try hasDirectory(of: type) { _ = try extensionObject(type) }
    }
  }

  /// Opens the extensions of types that were registered since the last call.
  func openNewExtensions() throws {
    let known = DatastoreExtensions.knownTypes.count
    guard extensionObjects.checkedTypes.load(ordering: .relaxed) != known else { return }
    try openExtensions()
    extensionObjects.checkedTypes.store(known, ordering: .relaxed)
  }

  // MARK: Connections

  /// Runs `body` with a reader; SQLite errors become ``DatastoreError``.
  func withReader<R>(_ body: (StoreReader) throws -> R) throws -> R {
    try mappingFailures {
      let lease = try lendReader()
      let result = try body(lease.reader)
      try checkUnchanged()
      return result
    }
  }

  /// Runs `body`; SQLite errors become ``DatastoreError``, and after the datastore was closed or deleted, every error
  /// that this may have caused becomes `.closed`.
  package func mappingFailures<R: ~Copyable>(stop: StopSignal? = nil, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch {
      guard let failure = fileFailure(error) else { throw error }
      try stop?.check()
      try checkFile()
      throw failure
    }
  }

  /// The error as a ``DatastoreError`` if it concerns the files; `nil` if it concerns the call.
  private func fileFailure(_ error: any Error) -> DatastoreError? {
    if let error = error as? SQLiteError { return DatastoreError(error, path: databasePath) }
    // A missing attachment has the code `.notFound`.
    guard let error = error as? DatastoreError, [.io, .corrupt, .full, .notFound].contains(error.code) else {
      return nil
    }
    return error
  }

  /// Runs `body` with the writer, waiting for its turn.
  func withWriter<R>(stop: StopSignal? = nil, _ body: (SessionWriter) throws -> R) throws -> R {
    try checkOpen()
    try checkWritable()
    defer { if suspension.isSuspended { closeIdleFiles() } }
    return try mappingFailures(stop: stop) {
      try writer.withConnection(named: name, stop: stop) { writer in
        // A write to a file that was deleted elsewhere would be lost.
        try checkFile()
        let result: R
        do {
          result = try body(writer)
        } catch {
          try? writer.shortenLog()
          throw error
        }
        try writer.shortenLog()
        return result
      }
    }
  }
}
