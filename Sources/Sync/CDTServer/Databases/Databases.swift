package import CDTDatastore
import CDTPlatform
import CouchDB
import Synchronization

/// The datastores of a manager, opened when they are asked for.
///
/// Of those that no request uses, the ones used longest ago are closed when more are open than the limit allows, so that a
/// server may have more datastores than the system lets it have open files.
package final class Databases: Sendable {
  /// The directory of the datastores.
  var directory: String { manager.directory }

  private let manager: DatastoreManager
  private let limit: Int?
  private let hasFilesLeft: @Sendable () -> Bool
  private let state = Mutex(State())

  private struct Entry {
    var database: OpenDatabase
    var lastUse: UInt64 = 0

    /// Whether no request has the database.
    mutating func isIdle() -> Bool { isKnownUniquelyReferenced(&database) }
  }

  /// The opening or closing of a datastore.
  private typealias Change = Task<Void, any Error>

  private struct State {
    var open: [String: Entry] = [:]
    /// The datastores that are being opened or closed.
    var changes: [String: Change] = [:]
    var uses: UInt64 = 0
    /// The access rules of datastores, with the files from which they were read.
    var security: [String: (files: [FileStatus?], security: DatabaseSecurity)] = [:]
  }

  /// The maximum length of access rules that are kept.
  private static let longestSecurity = 10_000

  /// - Parameters:
  ///   - limit: The number of datastores to keep open that no request uses; `nil` for all. With a limit, nobody but
  ///     the server may use the manager's datastores, as they would be closed under them.
  ///   - hasFilesLeft: Whether a datastore can be opened and others can still open files.
  package init(
    _ manager: DatastoreManager, limit: Int? = nil,
    hasFilesLeft: @escaping @Sendable () -> Bool = { CurrentProcess.canOpen(files: 64) }
  ) {
    self.manager = manager
    self.limit = limit
    self.hasFilesLeft = hasFilesLeft
  }

  /// Whether a part of a path names a database. Of CouchDB's own ones, there is that of replications.
  static func isName(_ text: String) -> Bool { !text.hasBytePrefix("_") || isReplicator(text) }

  /// Whether a name is that of the database whose documents are replications.
  static func isReplicator(_ name: String) -> Bool {
    #if Replication
      name.hasSameBytes(as: DatabaseName.replicator)
    #else
      false
    #endif
  }

  func names() async throws -> [String] {
    try await Datastore.useFiles { [manager] in try manager.databaseNames().map(\.description) }
  }

  /// The names of the datastores that are open.
  package var openNames: Set<String> { state.withLock { Set($0.open.keys) } }

  /// A database if it is open, without counting as a use of it.
  func openDatabase(named name: String) -> OpenDatabase? { state.withLock { $0.open[name]?.database } }

  /// The bytes that the server can still write.
  func freeBytes() async throws -> Int64 {
    try await Datastore.useFiles { [directory = manager.directory] in try Files.freeBytes(in: directory) }
  }

  /// The reason why the server could not write now; `nil` if there is none that the system tells without a write.
  ///
  /// - Parameter minimum: The number of bytes that must be free.
  func obstacle(minimumFreeBytes minimum: Int64) async throws -> String? {
    try await Datastore.useFiles { [directory = manager.directory] in
      guard Files.isWritable(directory) else {
        return "The directory of the databases can't be written to; allow the server to write to it."
      }
      let free = try Files.freeBytes(in: directory)
      guard free < minimum else { return nil }
      return "The disk is full: \(free) bytes are free, fewer than \(minimum)."
    }
  }

  /// The database with a name, which stays open while the object is in use.
  ///
  /// - Throws: `CouchError.noDatabase`.
  package func database(named name: String) async throws -> OpenDatabase {
    while true {
      guard let known = state.withLock({ use(name, &$0) }) else {
        try await change(of: name) { try await self.open(name) }
        continue
      }
      do {
        try known.store.checkOpen()
        try known.store.checkUnchanged()
        try await known.refreshSettings()
        return known
      } catch let error as DatastoreError where error.code == .closed {
        forget(known)
      }
    }
  }

  /// The access rules of a database. One that is closed is opened only if its files have changed since the rules were read.
  package func security(of name: String, hasUsers: Bool) async throws -> DatabaseSecurity {
    let known = state.withLock { $0.open[name] == nil ? $0.security[name] : nil }
    if let known, try await files(of: name) == known.files { return known.security }
    let database = try await database(named: name)
    // Opening it may change the files.
    let files = try await files(of: name)
    let settings = try await DatabaseSettings.of(database.store, known: database.settings)
    let security = try DatabaseSecurity(ofDatabase: name, settings, hasUsers: hasUsers)
    state.withLock { state in
      let isKept = security.json.utf8Text.count <= Self.longestSecurity
      state.security[name] = isKept ? (files, security) : nil
    }
    return security
  }

  private func files(of name: String) async throws -> [FileStatus?] {
    try await Datastore.useFiles { [manager] in try manager.files(of: DatabaseName(name)) }
  }

  /// Creates a database. Its name must be one of CouchDB, unlike that of a datastore that an app has created.
  package func create(_ name: String) async throws {
    while true {
      if let known = state.withLock({ use(name, &$0) }) {
        do {
          // Others may have deleted it.
          _ = try await known.store.read { try $0.lastSequence() }
          throw CouchError.databaseExists
        } catch let error as DatastoreError where error.code == .closed {
          forget(known)
        }
      }
      if try await change(of: name, { try await self.make(name) }) { return }
    }
  }

  /// The database with a name, which is created if it does not exist.
  func databaseOrNew(named name: String) async throws -> OpenDatabase {
    do {
      try await create(name)
    } catch let error as CouchError where error == .databaseExists {}
    return try await database(named: name)
  }

  func delete(_ name: String) async throws {
    while let change = state.withLock({ $0.changes[name] }) { _ = await change.result }
    do {
      try await manager.run { try $0.deleteDatastore(named: DatabaseName(name)) }
    } catch let error as DatastoreError where [.notFound, .invalidName].contains(error.code) {
      throw CouchError.noDatabase
    }
    state.withLock { ($0.open[name], $0.security[name]) = (nil, nil) }
  }

  /// Forgets a database whose datastore was closed, deleted or replaced by others.
  func forget(_ database: OpenDatabase) {
    state.withLock { state in
      if state.open[database.name]?.database === database { state.open[database.name] = nil }
    }
  }

  // MARK: Opening and closing

  /// Opens or closes a datastore, or waits until another request has done so: of each name there is one change at a time.
  ///
  /// - Returns: Whether `body` has run.
  @discardableResult
  private func change(of name: String, _ body: @escaping @Sendable () async throws -> Void) async throws
    -> Bool
  {
    let (isOurs, change) = state.withLock { state -> (Bool, Change) in
      if let other = state.changes[name] { return (false, other) }
      return (true, begin(name, &state, body))
    }
    if isOurs { try await change.value } else { _ = await change.result }
    return isOurs
  }

  private func begin(
    _ name: String, _ state: inout State, _ body: @escaping @Sendable () async throws -> Void
  ) -> Change {
    let change = Change {
      defer { self.state.withLock { $0.changes[name] = nil } }
      try await body()
    }
    state.changes[name] = change
    return change
  }

  private func open(_ name: String) async throws {
    try await makeRoom()
    do {
      try await keepOpen(manager.run { try $0.existingDatastore(named: DatabaseName(name)) })
    } catch let error as DatastoreError where [.notFound, .invalidName].contains(error.code) {
      throw CouchError.noDatabase
    }
  }

  private func make(_ name: String) async throws {
    do {
      try await open(name)
    } catch let error as CouchError where error == .noDatabase {
      let name = try Self.newName(name)
      do {
        return try await keepOpen(manager.datastore(named: name))
      } catch let error as DatastoreError where error.code == .io {
        if let obstacle = try await obstacle(minimumFreeBytes: 0) { throw CouchError.forbidden(obstacle) }
        throw error
      }
    }
    throw CouchError.databaseExists
  }

  private static func newName(_ text: String) throws(CouchError) -> DatabaseName {
    if isReplicator(text), let name = try? DatabaseName(text) { return name }
    guard DatabaseName.hasCharactersOfCouchDB(text) else { throw .illegalDatabaseName(text) }
    guard let name = try? DatabaseName(text), name.isOfCouchDB else { throw .databaseNameTooLong(text) }
    return name
  }

  private func keepOpen(_ store: Datastore) async throws {
    let database: OpenDatabase
    do {
      database = try await OpenDatabase(store)
    } catch {
      // Nothing would close it.
      if limit != nil { try? await manager.closeDatastore(named: store.name) }
      throw error
    }
    state.withLock { state in
      // Another request may have opened it since, and use it.
      guard state.open[store.name]?.database.store !== store else { return }
      state.uses += 1
      state.open[store.name] = Entry(database: database, lastUse: state.uses)
    }
  }

  /// The database of an open datastore. If more are open than the limit allows, others are closed.
  private func use(_ name: String, _ state: inout State) -> OpenDatabase? {
    guard let database = state.open[name]?.database else { return nil }
    state.uses += 1
    state.open[name]?.lastUse = state.uses
    while let limit, state.open.count > limit, closeOldest(&state) != nil {}
    return database
  }

  /// Begins to close the database that was used longest ago, of those that no request uses; `nil` if there is none.
  private func closeOldest(_ state: inout State) -> Change? {
    let byUse = state.open.sorted { $0.value.lastUse < $1.value.lastUse }.map(\.key)
    let oldest = byUse.first { state.changes[$0] == nil && state.open[$0]?.isIdle() == true }
    return oldest.map { close($0, &state) }
  }

  private func close(_ name: String, _ state: inout State) -> Change {
    state.open[name] = nil
    return begin(name, &state) {
      try? await self.manager.run { try $0.closeDatastore(named: DatabaseName(name)) }
    }
  }

  /// Closes a database that no request uses, if the server may close it.
  package func closeIfIdle(_ name: String) async {
    let change = state.withLock { state -> Change? in
      guard limit != nil, state.changes[name] == nil, state.open[name]?.isIdle() == true else { return nil }
      return close(name, &state)
    }
    _ = await change?.result
  }

  /// Closes databases that no request uses, so that there is room for another database. The system may also have too few files
  /// left: then it closes all of them.
  ///
  /// - Throws: `CouchError` with the status 503 if that does not help.
  private func makeRoom() async throws {
    guard let limit else { return }
    while let change = state.withLock({ $0.open.count >= limit ? closeOldest(&$0) : nil }) {
      _ = await change.result
    }
    guard try await !Datastore.useFiles(hasFilesLeft) else { return }
    await closeIdle()
    guard try await Datastore.useFiles(hasFilesLeft) else { throw CouchError.outOfFiles }
  }

  /// Closes the databases that no request uses, if the server may close any.
  func closeIdle() async {
    guard limit != nil else { return }
    while let change = state.withLock({ closeOldest(&$0) }) { _ = await change.result }
  }
}

extension CouchError {
  static let databaseExists = CouchError(
    412, "file_exists", "The database could not be created, the file already exists.")
  static let outOfFiles = CouchError(
    503, "service_unavailable",
    "The server has too many files open; try again later, or raise its limit (ulimit -n).")
}
