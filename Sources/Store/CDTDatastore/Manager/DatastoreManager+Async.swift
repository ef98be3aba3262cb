public import CDTPlatform

extension DatastoreManager {
  /// Creates a manager. See ``init(directory:options:)-(String,_)``.
  public convenience init(directory: URL, options: DatastoreOptions = .init()) throws(DatastoreError) {
    try self.init(directory: directory.path, options: options)
  }

  /// Creates a manager without blocking the calling thread.
  public convenience init(directory: URL, options: DatastoreOptions = .init()) async throws {
    let path = directory.path
    try await WorkQueue.opening.run { _ in try Self.prepare(path) }
    self.init(prepared: path, options: options)
  }

  /// Opens or creates a datastore without blocking the calling thread.
  public func datastore(named name: String) async throws -> Datastore {
    try await WorkQueue.opening.run { _ in try self.datastore(named: name) }
  }

  /// Opens or creates a datastore, whose name may be one of CouchDB, without blocking the calling thread.
  public func datastore(named name: DatabaseName) async throws -> Datastore {
    try await WorkQueue.opening.run { _ in try self.datastore(named: name) }
  }

  /// Opens an existing datastore without blocking the calling thread.
  public func existingDatastore(named name: String) async throws -> Datastore {
    try await WorkQueue.opening.run { _ in try self.existingDatastore(named: name) }
  }

  /// Opens an existing datastore, whose name may be one of CouchDB, without blocking the calling thread.
  public func existingDatastore(named name: DatabaseName) async throws -> Datastore {
    try await WorkQueue.opening.run { _ in try self.existingDatastore(named: name) }
  }

  /// Closes a datastore without blocking the calling thread.
  public func closeDatastore(named name: String) async throws {
    try await WorkQueue.opening.run { _ in try self.closeDatastore(named: name) }
  }

  /// Closes a datastore, whose name may be one of CouchDB, without blocking the calling thread.
  public func closeDatastore(named name: DatabaseName) async throws {
    try await WorkQueue.opening.run { _ in try self.closeDatastore(named: name) }
  }

  /// Deletes a datastore without blocking the calling thread.
  public func deleteDatastore(named name: String) async throws {
    try await WorkQueue.opening.run { _ in try self.deleteDatastore(named: name) }
  }

  /// Deletes a datastore, whose name may be one of CouchDB, without blocking the calling thread.
  public func deleteDatastore(named name: DatabaseName) async throws {
    try await WorkQueue.opening.run { _ in try self.deleteDatastore(named: name) }
  }

  /// Replaces the secret of an encrypted datastore without blocking the calling thread.
  public func changeEncryption(ofDatastoreNamed name: String, to encryption: Encryption) async throws {
    try await WorkQueue.opening.run { _ in try self.changeEncryption(ofDatastoreNamed: name, to: encryption) }
  }

  /// Replaces the secret of an encrypted datastore, whose name may be one of CouchDB, without blocking the calling thread.
  public func changeEncryption(ofDatastoreNamed name: DatabaseName, to encryption: Encryption) async throws {
    try await WorkQueue.opening.run { _ in try self.changeEncryption(ofDatastoreNamed: name, to: encryption) }
  }

  /// Encrypts a datastore with a new data key, or makes it one that is not encrypted, without blocking the calling thread. If it is
  /// cancelled, the datastore is unchanged.
  public func reencryptDatastore(
    named name: String, with encryption: Encryption?,
    progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws {
    try await reencryptDatastore(named: DatabaseName(ofDatastore: name), with: encryption, progress: progress)
  }

  /// Encrypts a datastore, whose name may be one of CouchDB, with a new data key, or makes it one that is not encrypted, without blocking
  /// the calling thread. If it is cancelled, the datastore is unchanged.
  public func reencryptDatastore(
    named name: DatabaseName, with encryption: Encryption?,
    progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws {
    try await WorkQueue.long.run { try self.reencrypt(name, encryption, stop: $0, progress) }
  }

  /// The names of the datastores in the directory, sorted, without those of which only a ``DatabaseName`` can be made.
  public func datastoreNames() async throws -> [String] {
    try await WorkQueue.files.run { _ in try self.datastoreNames() }
  }

  /// The names of all datastores in the directory, sorted.
  public func databaseNames() async throws -> [DatabaseName] {
    try await WorkQueue.files.run { _ in try self.databaseNames() }
  }
}
