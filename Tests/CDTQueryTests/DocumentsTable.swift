import SQLite
import TestSupport

@testable import CDTQuery

/// A table of documents that one connection writes and another follows from snapshot to snapshot, as a ``QueryReader`` does.
final class DocumentsTable {
  let writer: Connection
  private(set) var reader: Connection
  private let path: String
  private var follower = SnapshotFollower()
  private var held: Statement?
  /// The newest sequence that was written.
  private(set) var lastSequence: Int64 = 0

  init(_ directory: String) throws {
    path = "\(directory)/db.sync"
    writer = try Connection(path: path, mode: .readWriteCreate)
    try writer.execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
      CREATE TABLE documents (
        sequence INTEGER PRIMARY KEY, number, id, revision, written, deleted, attachments, body);
      CREATE TABLE sessions (start INTEGER PRIMARY KEY, token);
      CREATE TABLE other (x);
      INSERT INTO sessions VALUES (1, 'first');
      """)
    reader = try Connection(path: path, mode: .readWrite)
  }

  func close() {
    held?.reset()
    reader.close()
    writer.close()
  }

  /// Writes a document, or its tombstone, under the next sequence.
  func put(_ number: Int64, id: String = "x", body: String = "{}", isDeleted: Bool = false) throws {
    lastSequence += 1
    let row = try writer.statement("INSERT INTO documents VALUES (?1, ?2, ?3, '1-' || ?1, NULL, ?5, 0, ?4)")
    try writer.execute("DELETE FROM documents WHERE number = \(number)")
    try row.bind(lastSequence, at: 1)
    try row.bind(number, at: 2)
    try row.bind(id, at: 3)
    try row.bind(body, at: 4)
    try row.bind(Int64(isDeleted ? 1 : 0), at: 5)
    try row.run()
  }

  /// Begins a snapshot of the reader's.
  func begin() throws -> (written: SnapshotFollower.Written, newest: Int64) {
    held?.reset()
    let statement = try reader.statement("SELECT max(sequence) FROM documents")
    _ = try statement.step()
    held = statement
    let newest = statement.int64(0)
    return (try follower.follow(to: newest, on: reader), newest)
  }

  /// Gives the reader another connection to the file.
  func changeConnection() throws {
    held?.reset()
    held = nil
    reader.close()
    reader = try Connection(path: path, mode: .readWrite)
    follower.changeConnection()
  }
}
