import CDTDatastore

/// A datastore that the threads of a process share, and that any of them may close.
struct SharedStore: Sendable {
  let manager: DatastoreManager
  let name: String

  /// - Parameter process: The number of the process. Waiting for the disk leaves little time for meeting others, so only the
  ///   first does.
  init(_ name: String, in directory: String, process: Int) throws {
    var options = DatastoreOptions()
    options.durability = process == 0 ? .full : .normal
    manager = try DatastoreManager(directory: directory, options: options)
    self.name = name
  }

  /// The datastore, opened if a thread has closed it.
  func open() throws -> Datastore { try manager.datastore(named: name) }

  func close() throws { try manager.closeDatastore(named: name) }
}

extension DatastoreError {
  /// Whether threads and processes that use a datastore at once may get this from any operation.
  var isOfSharing: Bool { code == .busy || code == .closed }
}
