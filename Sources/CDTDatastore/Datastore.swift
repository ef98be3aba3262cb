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
  private let readers: ConnectionPool<CoreReader>
  private let lifetime = Mutex(Lifetime())
  /// What ``Lifetime/isClosed`` says, to be looked at without a lock.
  private let isClosed = Atomic(false)

  /// The extension that was made first, which every query asks for: threads that wait for each other's lock take longer.
  private let firstExtension = AtomicLazyReference<MadeExtension>()

  private struct Lifetime {
    var isClosed = false
    var extensions: [String: any DatastoreExtension] = [:]
  }

  private final class MadeExtension: Sendable {
    let name: String
    let object: any DatastoreExtension

    init(_ name: String, _ object: any DatastoreExtension) {
      self.name = name
      self.object = object
    }
  }

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
    writer = WriterLock(open: open)
    readers = ConnectionPool(
      first: CoreReader(first, open: open), open: { CoreReader(try open(), open: open) },
      shut: { $0.connection.close() })
  }

  /// Whether the file that was opened is still the one under its path.
  var hasFile: Bool { FileIdentity(databasePath) == identity }

  deinit {
    close()
  }

  /// Releases the files. The manager calls it, so that the name is free for another object.
  func close() {
    let extensions = lifetime.withLock { lifetime in
      lifetime.isClosed = true
      isClosed.store(true, ordering: .releasing)
      defer { lifetime.extensions = [:] }
      return lifetime.extensions
    }
    for each in extensions.values { each.close() }
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

  /// The path of the database file.
  package var databasePath: String { "\(directory)/\(DatabaseFile.name)" }

  /// - Throws: ``DatastoreError`` with the code `.closed`.
  package func checkOpen() throws(DatastoreError) {
    if isClosed.load(ordering: .acquiring) { throw .closed(name) }
  }

  /// A connection for reading, set up as the datastore's own, for a pool of an extension's.
  package func openReader() throws -> Connection {
    try checkOpen()
    return try DatabaseFile.open(databasePath, options: options)
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

  /// An extension's object for this datastore, made when it is first asked for and closed with the datastore.
  package func extensionObject<E: DatastoreExtension>(
    named name: String, make: (_ directory: String) throws -> E
  ) throws -> E {
    if let first = firstExtension.load(), first.name == name, let known = first.object as? E { return known }
    if let known = lifetime.withLock({ $0.extensions[name] as? E }) { return known }
    let path = try extensionDirectory(named: name)
    return try lifetime.withLock { lifetime in
      guard !lifetime.isClosed else { throw DatastoreError.closed(self.name) }
      if let known = lifetime.extensions[name] as? E { return known }
      let made = try make(path)
      lifetime.extensions[name] = made
      _ = firstExtension.storeIfNil(MadeExtension(name, made))
      return made
    }
  }

  var extensions: [any DatastoreExtension] {
    lifetime.withLock { Array($0.extensions.values) }
  }

  // MARK: Connections

  /// Runs `body` with a reader; every error of SQLite becomes the datastore's.
  func read<R>(_ body: (Connection) throws -> R) throws -> R {
    try checkOpen()
    do {
      return try readers.withReader { try body($0.use()) }
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

/// Something that keeps data of its own beside a datastore's documents.
package protocol DatastoreExtension: AnyObject, Sendable {
  /// Releases its files: the datastore closes.
  func close()

  /// Learns of a commit, after it and outside of the transaction, on the thread that wrote.
  func didCommit(lastSequence: Int64)

  /// Gets a last chance to read the bodies that compaction is about to remove.
  func willCompact() throws
}

/// A connection that the pool hands to one reader at a time.
final class CoreReader: @unchecked Sendable {
  // Sendable without a lock of its own: the pool hands it to one user at a time, under its Mutex.
  private(set) var connection: Connection
  private let open: @Sendable () throws -> Connection
  private var wear = PageCacheWear()

  init(_ connection: Connection, open: @escaping @Sendable () throws -> Connection) {
    self.connection = connection
    self.open = open
  }

  /// The connection, ready for the next use.
  func use() -> Connection {
    // The old one still serves if there can't be another.
    if wear.isWorn(connection), let fresh = try? open() {
      connection.close()
      connection = fresh
    }
    return connection
  }
}
