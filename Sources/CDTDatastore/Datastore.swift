import CDTPlatform
import JSON
package import SQLite
import Synchronization

/// A set of JSON documents, each with its revisions, that stays on disk.
///
/// ```swift
/// let tasks = try manager.datastore(named: "tasks")
/// let task = try tasks.createDocument(from: DocumentRevision(body: ["description": "Buy milk"]))
/// ```
///
/// A datastore is used from any thread. Reads see what was committed when they began; writes go one after the other,
/// also between processes.
///
/// Source: `docs/crud.md`.
public final class Datastore: Sendable {
  /// The datastore's name.
  public let name: String

  /// The datastore's own directory.
  package let directory: String
  let options: DatastoreOptions
  /// What tells this store from every other, also from one that had its name before.
  package let storeID: String

  /// The database file that was opened. One that is deleted elsewhere may be followed by another under its path.
  private let identity: FileIdentity?
  /// The contents of attachments.
  package let attachmentFiles: AttachmentFiles
  /// Those who wait for commits.
  let changeListeners = ChangeListeners()
  private let writer: WriterLock
  private let readers: ConnectionPool<StoreReader>
  /// Divides ``DatastoreOptions/memoryBudget``.
  package let memory: MemoryBudget
  private let extensionObjects = DatastoreExtensions()
  private let isClosed = Atomic(false)

  init(name: String, directory: String, options: DatastoreOptions) throws {
    self.name = name
    self.directory = directory
    self.options = options
    try FileSystem.makeDirectory(directory)
    attachmentFiles = AttachmentFiles(directory: "\(directory)/attachments", storeName: name)
    let path = "\(directory)/\(DatabaseFile.name)"
    let (first, storeID) = try DatabaseFile.openFirst(path, options: options)
    self.storeID = storeID
    let identity = FileIdentity(path)
    self.identity = identity
    let open: @Sendable () throws -> Connection = {
      guard FileIdentity(path) == identity else { throw DatastoreError.closed(name) }
      let connection = try DatabaseFile.open(path, options: options)
      guard FileIdentity(path) == identity else {
        connection.close()
        throw DatastoreError.closed(name)
      }
      return connection
    }
    let memory = MemoryBudget(options.memoryBudget)
    self.memory = memory
    writer = WriterLock(timeout: options.busyTimeout) {
      let connection = try open()
      try connection.setCacheSize(memory.writerShare)
      return connection
    }
    readers = ConnectionPool(
      first: StoreReader(first, budget: memory), open: { StoreReader(try open(), budget: memory) },
      shut: { $0.close() })
    try openExtensions()
  }

  /// Whether the file that was opened is still the one under its path.
  var hasFile: Bool { FileIdentity(databasePath) == identity }

  deinit {
    close()
  }

  /// Releases the files. The manager calls it, so that the name is free for another object.
  func close() {
    isClosed.store(true, ordering: .releasing)
    extensionObjects.close()
    changeListeners.close()
    attachmentFiles.close()
    readers.close()
    writer.close()
  }

  /// How many bytes the store takes on disk, indexes and attachments too.
  public func sizeOnDisk() throws -> Int64 {
    try checkOpen()
    return FileSystem.size(of: directory)
  }

  // MARK: For extensions

  /// How long to wait for another who writes.
  package var busyTimeout: Duration { options.busyTimeout }

  /// The path of the database file.
  package var databasePath: String { "\(directory)/\(DatabaseFile.name)" }

  /// - Throws: ``DatastoreError`` with the code `.closed`.
  package func checkOpen() throws(DatastoreError) {
    if isClosed.load(ordering: .acquiring) { throw .closed(name) }
  }

  /// Lends a reader, for an extension.
  package func lendReader() throws -> ConnectionPool<StoreReader>.Lease {
    try checkOpen()
    let lease = try readers.lend()
    try lease.reader.prepare()
    return lease
  }

  /// The directory in which an extension keeps its data; it is made when it is missing, and goes with the datastore.
  ///
  /// - Parameter name: One path component; a name of the reversed-domain kind tells extensions apart.
  /// - Throws: ``DatastoreError`` for a name that is no single path component.
  public func extensionDirectory(named name: String) throws -> String {
    try checkOpen()
    guard !name.isEmpty, name != ".", name != "..", name.utf8.count <= 200,
      !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
    else { throw DatastoreError.invalidName(name) }
    let extensions = "\(directory)/extensions"
    try FileSystem.makeDirectory(extensions)
    let path = "\(extensions)/\(name)"
    try FileSystem.makeDirectory(path)
    return path
  }

  /// An extension of this datastore, made when it is first asked for and closed with the datastore.
  package func extensionObject<E: DatastoreExtension>(_ type: E.Type) throws -> E {
    if let known = extensionObjects.existing(type) { return known }
    let directory = try extensionDirectory(named: type.extensionName)
    let made = extensionObjects.extensionObject(type) { E(of: self, directory: directory) }
    guard let made else { throw DatastoreError.closed(name) }
    return made
  }

  private func hasDirectory(of type: any DatastoreExtension.Type) -> Bool {
    Files.kind(of: "\(directory)/extensions/\(type.extensionName)") == .directory
  }

  /// The extensions that have data, also those whose data another process has begun since.
  func currentExtensions() throws -> [any DatastoreExtension] {
    try openExtensions()
    return extensionObjects.all
  }

  private func openExtensions() throws {
    for type in DatastoreExtensions.knownTypes where !extensionObjects.has(type) && hasDirectory(of: type) {
      _ = try extensionObject(type)
    }
  }

  // MARK: Connections

  /// Runs `body` with a reader; every error of SQLite becomes the datastore's.
  func read<R>(_ body: (Connection) throws -> R) throws -> R {
    try checkOpen()
    do {
      return try readers.withReader { reader in
        try reader.prepare()
        return try body(reader.connection)
      }
    } catch {
      guard let failure = fileFailure(error) else { throw error }
      // What was closed or deleted meanwhile is not damaged.
      try checkOpen()
      guard hasFile else { throw DatastoreError.closed(name) }
      throw failure
    }
  }

  /// The error as the datastore's, when it is one of the file; `nil` for one of what was asked.
  private func fileFailure(_ error: any Error) -> DatastoreError? {
    if let error = error as? SQLiteError { return DatastoreError(error, path: databasePath) }
    guard let error = error as? DatastoreError, [.io, .corrupt].contains(error.code) else { return nil }
    return error
  }

  func reading(_ connection: Connection) -> DocumentReading {
    DocumentReading(connection: connection, files: attachmentFiles)
  }

  /// Runs `body` with a reader that sees one state of the store, however many statements it takes.
  func readSnapshot<R>(_ body: (Connection) throws -> R) throws -> R {
    try read { connection in try connection.transaction(.deferred) { try body(connection) } }
  }

  /// Runs `body` with the writer, when it is this caller's turn.
  func withWriter<R>(_ body: (SessionWriter) throws -> R) throws -> R {
    try checkOpen()
    do {
      return try writer.withConnection(named: name) { writer in
        // What is written to a file that was deleted elsewhere would be lost.
        guard hasFile else { throw DatastoreError.closed(name) }
        return try body(writer)
      }
    } catch let error as SQLiteError {
      throw DatastoreError(error, path: databasePath)
    }
  }
}
