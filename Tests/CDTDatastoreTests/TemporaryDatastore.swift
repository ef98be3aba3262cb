import CDTDatastore
import CDTTestSupport

/// Runs `body` with an empty datastore in a directory of its own, removed afterwards.
func withTemporaryDatastore<R>(_ body: (Datastore) throws -> R) throws -> R {
  try withTemporaryDirectory { directory in
    let manager = try DatastoreManager(directory: directory)
    defer { manager.close() }
    return try body(try manager.datastore(named: "store"))
  }
}

extension DatastoreManager {
  /// Closes a datastore at the end of a test, also of one that is asynchronous.
  func close(_ name: String = "store") {
    try? closeDatastore(named: name)
  }
}
