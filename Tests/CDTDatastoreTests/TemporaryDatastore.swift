import CDTDatastore
import CDTTestSupport

/// Runs `body` with an empty datastore in memory.
func withTemporaryDatastore<R>(_ body: (Datastore) throws -> R) throws -> R {
  let manager = try DatastoreManager.inMemory()
  defer { manager.close() }
  return try body(try manager.datastore(named: "store"))
}

extension DatastoreManager {
  /// Closes a datastore at the end of a test, also of one that is asynchronous.
  func close(_ name: String = "store") {
    try? closeDatastore(named: name)
  }
}
