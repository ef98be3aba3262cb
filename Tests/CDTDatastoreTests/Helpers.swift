import CDTDatastore
import CDTSQLite
import Foundation
import Testing

/// The datastore's error that a closure ends with; anything else fails the test.
@discardableResult
func datastoreError<R>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> R
) -> DatastoreError? {
  #expect(throws: DatastoreError.self, sourceLocation: sourceLocation) { _ = try body() }
}

/// What a datastore holds, to be compared before and after something that must leave it alone.
struct StoreState: Equatable {
  let count: Int
  let lastSequence: Int64
  let documents: [DocumentRevision]
  let changes: Changes

  init(_ store: Datastore) throws {
    count = try store.read { try $0.documentCount() }
    lastSequence = try store.read { try $0.lastSequence() }
    documents = try store.read { try $0.allDocuments() }
    changes = try store.changes()
  }
}

/// How many files below a directory this process has open.
func openFiles(below directory: String) -> Int {
  let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return descriptors.count { descriptor in
    let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    return file?.hasPrefix(directory) ?? false
  }
}

/// Runs SQL on a datastore's file, as another process could.
func withDatabase<R>(of store: String, in directory: String, _ body: (Connection) throws -> R) throws -> R {
  let connection = try Connection(path: "\(directory)/\(store)/db.sync", mode: .readWrite)
  defer { connection.close() }
  return try body(connection)
}
