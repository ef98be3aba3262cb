import CDTCSQLite
import CDTJSON
import CDTTestSupport
import Foundation
import Testing

@testable import CDTDatastore
@testable import CDTRecovery
@testable import CDTSQLite

/// A log that a killed process has left, and that was damaged then. Its index, `-shm`, is gone.
@Suite struct DamagedLogTests {
  private static let writes = 60

  private func withKilledStore(_ body: (_ directory: String, _ log: String) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: "\(directory)/running")
      let store = try manager.datastore(named: "store")
      for number in 0..<Self.writes {
        try store.createDocument(from: DocumentDraft(id: "d\(number)", body: ["n": 5]))
      }
      try FileManager.default.copyItem(atPath: "\(directory)/running", toPath: "\(directory)/killed")
      try manager.closeDatastore(named: "store")
      try FileManager.default.removeItem(atPath: "\(directory)/killed/store/db.sync-shm")
      try body("\(directory)/killed", "\(directory)/killed/store/db.sync-wal")
    }
  }

  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let change: @Sendable (inout Data) -> Void
  }

  private static let frame = 4_096 + 24

  static let damages = [
    Damage(testDescription: "a bit of a page") { $0[$0.count / 3] ^= 1 },
    Damage(testDescription: "a frame's header") { $0[32 + 30 * frame + 17] ^= 1 },
    Damage(testDescription: "a frame's salt") { $0[32 + 30 * frame + 9] ^= 1 },
    Damage(testDescription: "a frame that takes the place of another") {
      $0.replaceSubrange(
        (32 + 30 * frame)..<(32 + 31 * frame), with: $0[(32 + 20 * frame)..<(32 + 21 * frame)])
    },
    Damage(testDescription: "zeros") {
      $0.replaceSubrange(40_000..<50_000, with: Data(repeating: 0, count: 10_000))
    },
  ]

  @Test(arguments: damages)
  func `damage in front of committed writes is reported when the store is opened`(_ c: Damage) throws {
    try withKilledStore { directory, log in
      var data = try Data(contentsOf: URL(filePath: log))
      c.change(&data)
      try data.write(to: URL(filePath: log))
      let manager = try DatastoreManager(directory: directory)
      for _ in 0..<2 {
        let error = datastoreError { try manager.existingDatastore(named: "store") }
        #expect(error?.code == .corrupt)
        #expect(error?.message.hasPrefix("\(log) is damaged: only ") == true, "\(String(describing: error))")
      }
      // Later pages have what the damaged ones had.
      try withTemporaryDatastore { saved in
        let report = try saved.recoverDocuments(from: "\(directory)/store")
        #expect(report.documents == Self.writes)
        #expect(report.losses.count == 1)
        #expect(report.losses.first?.message.contains("of the") == true)
        #expect(try saved.checkIntegrity() == [])
      }
    }
  }

  @Test func `the end of a log, as a power failure may leave it, is not reported as damage`() throws {
    try withKilledStore { directory, log in
      var data = try Data(contentsOf: URL(filePath: log))
      data[data.count - Self.frame - 100] ^= 1
      try data.write(to: URL(filePath: log))
      let manager = try DatastoreManager(directory: directory)
      #expect(
        try manager.existingDatastore(named: "store").read { try $0.documentCount() } >= Self.writes - 1)
    }
  }

  @Test(arguments: [nil, Encryption.key(Array(0..<32))])
  func `documents are in the log after a larger batch was refused in the same transaction`(
    _ encryption: Encryption?
  ) throws {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions(encryption: encryption)
      options.memoryBudget = 1_000_000
      let manager = try DatastoreManager(directory: "\(directory)/running", options: options)
      let store = try manager.datastore(named: "store")
      // Their order in the index of ids is not that of their rows, so pages are written to the log more than once.
      let ids = (0..<2_000).map { "\($0 * 7919 % 2_000)" }
      let last = try #require(ids.last)
      try store.createDocument(from: DocumentDraft(id: last, body: [:]))
      var body = JSONNormalizer()
      _ = try body.normalize(Array(#"{"text":"\#(String(repeating: "x", count: 300))"}"#.utf8))
      let batch = NewDocuments()
      for id in ids { batch.append(id: id, body: body) }
      try store.write { transaction in
        #expect(try !transaction.createDocuments(batch))
        try transaction.createDocument(from: DocumentDraft(id: "after", body: [:]))
      }
      try FileManager.default.copyItem(atPath: "\(directory)/running", toPath: "\(directory)/killed")
      try manager.closeDatastore(named: "store")
      try FileManager.default.removeItem(atPath: "\(directory)/killed/store/db.sync-shm")
      let killed = try DatastoreManager(directory: "\(directory)/killed", options: options)
      defer { killed.close() }
      let found = try killed.existingDatastore(named: "store")
      #expect(try found.read { try $0.allDocumentIDs() } == [last, "after"])
      #expect(try found.checkIntegrity() == [])
    }
  }

  /// Why no change of a store is rolled back to a savepoint.
  @Test func `SQLite before 3.50.2 can lose a commit after a rollback to a savepoint`() throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/file"
      let connection = try Connection(path: path, mode: .readWriteCreate)
      defer { connection.close() }
      try connection.execute(
        """
        PRAGMA journal_mode = WAL; PRAGMA cache_size = 10;
        CREATE TABLE t (number INTEGER PRIMARY KEY, value INTEGER); CREATE INDEX byValue ON t (value);
        BEGIN; SAVEPOINT s;
        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 9999)
          INSERT INTO t SELECT x, x * 7919 % 9999 FROM n;
        ROLLBACK TO s; INSERT INTO t VALUES (1, 1); COMMIT
        """)
      try FileManager.default.copyItem(atPath: path, toPath: "\(directory)/killed")
      try FileManager.default.copyItem(atPath: "\(path)-wal", toPath: "\(directory)/killed-wal")
      let killed = try Connection(path: "\(directory)/killed", mode: .readWrite)
      defer { killed.close() }
      let hasDefect = sqlite3_libversion_number() < 3_050_002
      #expect(try killed.scalar("SELECT count(*) FROM t") == (hasDefect ? 0 : 1))
    }
  }

  @Test func `frames of a transaction that was rolled back are not reported as damage`() throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/file"
      let connection = try Connection(path: path, mode: .readWriteCreate)
      defer { connection.close() }
      try connection.execute("PRAGMA journal_mode = WAL; PRAGMA cache_size = 10; CREATE TABLE t (text TEXT)")
      let rows = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 500) "
      for last in ["ROLLBACK", "COMMIT"] {
        try connection.execute("BEGIN; \(rows) INSERT INTO t SELECT printf('%0500d', x) FROM n; ROLLBACK")
        try connection.execute("BEGIN; INSERT INTO t VALUES ('x'); \(last)")
      }
      try FileManager.default.copyItem(atPath: path, toPath: "\(directory)/killed")
      try FileManager.default.copyItem(atPath: "\(path)-wal", toPath: "\(directory)/killed-wal")
      let frames = try Data(contentsOf: URL(filePath: "\(directory)/killed-wal")).count / Self.frame
      #expect(frames > 20)
      #expect(try LogLoss.find(inLogOf: "\(directory)/killed") == nil)
    }
  }
}
