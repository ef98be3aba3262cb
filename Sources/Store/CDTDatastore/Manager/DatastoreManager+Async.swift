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

  /// Runs synchronous calls on a thread of the manager, for calls that have no asynchronous form.
  ///
  /// ```swift
  /// try await manager.run { try $0.deleteDatastore(named: "contacts") }
  /// ```
  ///
  /// If the task is cancelled before the closure begins, the closure is not called. It is completed once it has begun.
  @discardableResult
  public func run<R: Sendable>(_ body: @escaping @Sendable (DatastoreManager) throws -> R) async throws -> R {
    try await WorkQueue.opening.run { _ in try body(self) }
  }

  /// Opens or creates a datastore without blocking the calling thread.
  public func datastore(named name: String) async throws -> Datastore {
    try await WorkQueue.opening.run { _ in try self.datastore(named: name) }
  }

  /// Opens an existing datastore without blocking the calling thread.
  public func existingDatastore(named name: String) async throws -> Datastore {
    try await WorkQueue.opening.run { _ in try self.existingDatastore(named: name) }
  }

  /// Closes a datastore without blocking the calling thread.
  public func closeDatastore(named name: String) async throws {
    try await WorkQueue.opening.run { _ in try self.closeDatastore(named: name) }
  }

  /// Encrypts a datastore with a new data key, or makes it one that is not encrypted, without blocking the calling thread. If it is
  /// cancelled, the datastore is unchanged.
  public func reencryptDatastore(
    named name: String, with encryption: Encryption?,
    progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws {
    let name = try DatabaseName(ofDatastore: name)
    try await WorkQueue.long.run { try self.reencrypt(name, encryption, stop: $0, progress) }
  }
}
