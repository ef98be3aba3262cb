import CDTDatastore
import FoundationEssentials
import SQLite
import Testing

@testable import CDTQuery

/// Runs `body` with an empty datastore in a directory of its own, removed afterwards.
func withTemporaryDatastore<R>(_ body: (Datastore) throws -> R) throws -> R {
  try withTemporaryDirectory { directory in
    let manager = try DatastoreManager(directory: directory)
    defer { manager.closeDatastore(named: "store") }
    return try body(try manager.datastore(named: "store"))
  }
}

/// Runs `body` with a datastore whose indexes can't follow what is written in it: another connection has their lock.
///
/// The datastore does not wait for that connection.
func withIndexesHeld<R>(_ store: Datastore, _ body: () throws -> R) throws -> R {
  let other = try Connection(path: store.indexManager().path, mode: .readWrite)
  defer { other.close() }
  try other.begin(.immediate)
  return try body()
}

/// As ``withTemporaryDatastore(_:)``, but nothing in the datastore waits for others.
func withImpatientDatastore<R>(_ body: (Datastore) throws -> R) throws -> R {
  try withTemporaryDirectory { directory in
    var options = DatastoreOptions()
    options.busyTimeout = .milliseconds(10)
    let manager = try DatastoreManager(directory: directory, options: options)
    defer { manager.closeDatastore(named: "store") }
    return try body(try manager.datastore(named: "store"))
  }
}

/// Runs `body` with a directory in memory, where the system has one: a file that is not to last need not wait for a disk.
func withDirectoryInMemory<R>(_ body: (String) throws -> R) throws -> R {
  let memory = "/dev/shm"
  guard FileManager.default.isWritableFile(atPath: memory) else { return try withTemporaryDirectory(body) }
  return try withTemporaryDirectory(in: URL(filePath: memory), body)
}

func withTemporaryDirectory<R>(
  in parent: URL = FileManager.default.temporaryDirectory, _ body: (String) throws -> R
) throws -> R {
  let path = parent.appending(path: "cdtquery-\(UUID().uuidString)").path
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: path) }
  return try body(path)
}
