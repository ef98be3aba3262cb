import CDTDatastore
import FoundationEssentials

/// Runs `body` with an empty datastore in a directory of its own, removed afterwards.
func withTemporaryDatastore<R>(_ body: (Datastore) throws -> R) throws -> R {
  try withTemporaryDirectory { directory in
    let manager = try DatastoreManager(directory: directory)
    defer { manager.close() }
    return try body(try manager.datastore(named: "store"))
  }
}

func withTemporaryDirectory<R>(_ body: (String) throws -> R) throws -> R {
  let path = try temporaryDirectory()
  defer { removeDirectory(path) }
  return try body(path)
}

func temporaryDirectory() throws -> String {
  let path = FileManager.default.temporaryDirectory.appending(path: "cdt-\(UUID().uuidString)").path
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  return path
}

func removeDirectory(_ path: String) {
  try? FileManager.default.removeItem(atPath: path)
}

extension DatastoreManager {
  /// Closes a datastore at the end of a test, also of one that is asynchronous.
  func close(_ name: String = "store") {
    try? closeDatastore(named: name)
  }
}
