import CDTCSQLite
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTDatastore
@testable import CDTRecovery
@testable import CDTSQLite

/// A plain SQLite that reads a store may copy its log into `db.sync`, where pages then have no checksums.
@Suite struct CopiedPagesTests {
  private static let count = 600

  private static func fill(_ store: Datastore) throws {
    try store.write { transaction in
      for number in 0..<count {
        try transaction.createDocument(
          from: DocumentDraft(id: "d\(number)", body: ["n": .int(Int64(number)), "text": "some words of it"]))
      }
    }
    try store.write { try $0.setLocalDocument(["seq": 5], withID: "checkpoint") }
    // As of a CouchDB, whose digests can't be computed.
    try store.write {
      try $0.forceInsert(
        DocumentRevision(id: "d7", revisionID: RevisionID(generation: 1, suffix: "abc"), body: ["by": "them"])
      )
    }
  }

  /// Runs `body` with the directory of a store that a process has left when it was killed.
  private func withKilledStore(_ body: (_ directory: String) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: "\(directory)/running")
      try Self.fill(manager.datastore(named: "store"))
      try FileManager.default.copyItem(atPath: "\(directory)/running", toPath: "\(directory)/killed")
      try manager.closeDatastore(named: "store")
      try? FileManager.default.removeItem(atPath: "\(directory)/killed/store/db.sync-shm")
      try body("\(directory)/killed")
    }
  }

  @discardableResult
  private func sqlite3(_ directory: String, _ sql: String) throws -> Int32 {
    let program = try SpawnedProcess(
      "/usr/bin/sqlite3", ["\(directory)/store/db.sync", sql], in: directory, environment: [:],
      input: .file("/dev/null"), output: .file("/dev/null"), errors: .file("/dev/null"))
    return program.wait()
  }

  private func pagesWithoutChecksum(_ directory: String) throws -> Set<Int64> {
    try RawDatabase.pagesWithoutChecksum(in: "\(directory)/store/db.sync")
  }

  private func expectAll(_ store: Datastore) throws {
    #expect(try store.read { try $0.documentCount() } == Self.count)
    #expect(try store.document(withID: "d5").body["n"] == 5)
    #expect(try store.read { try $0.allDocumentIDs() }.count == Self.count)
    #expect(try store.read { try $0.localDocument(withID: "checkpoint") } == ["seq": 5])
  }

  @Test func `pages that sqlite3 copied are read, reported, and sealed by a repair`() throws {
    try withKilledStore { directory in
      #expect(try sqlite3(directory, "SELECT count(*) FROM documents") == 0)
      let copied = try pagesWithoutChecksum(directory).count
      #expect(copied > 10)
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.existingDatastore(named: "store")
      try expectAll(store)
      let findings = try store.checkIntegrity()
      #expect(findings.map(\.kind) == [.checksum])
      #expect(
        findings.first?.message
          == "\(copied) pages of \(directory)/store/db.sync have no checksums, as another program, such as sqlite3, has copied "
          + "them from the log; nothing in them is damaged, and \(Self.count) of the \(Self.count + 1) revisions on them have the "
          + "digest of their content, and those of other programs can't be computed")
      #expect(try pagesWithoutChecksum(directory).count == copied)
      #expect(try store.checkIntegrity(repair: true).map(\.kind) == [.checksum])
      #expect(try pagesWithoutChecksum(directory) == [])
      #expect(try store.checkIntegrity() == [])
      try store.createDocument(from: DocumentDraft(id: "new", body: [:]))
      try manager.closeDatastore(named: "store")
      let again = try manager.existingDatastore(named: "store")
      #expect(try again.checkIntegrity() == [])
      #expect(try again.read { try $0.documentCount() } == Self.count + 1)
    }
  }

  @Test func `recover saves everything that sqlite3 has copied`() throws {
    try withKilledStore { directory in
      try sqlite3(directory, "SELECT count(*) FROM documents")
      try withTemporaryDatastore { saved in
        let report = try saved.recoverDocuments(from: "\(directory)/store")
        #expect(report.losses == [])
        #expect(report.documents == Self.count)
        #expect(report.revisions == Self.count + 1)
        try expectAll(saved)
      }
    }
  }

  @Test func `a checkpoint by sqlite3 beside an open store changes no answer, and is repaired beside it`()
    throws
  {
    try withTemporaryDatastore { store in
      let directory = String(store.directory.dropLast(store.name.count + 1))
      let file = "\(store.directory)/db.sync"
      try Self.fill(store)
      let program = try SpawnedProcess(
        "/usr/bin/sqlite3", [file, "PRAGMA wal_checkpoint; SELECT count(*) FROM documents"], in: directory,
        environment: [:], input: .file("/dev/null"), output: .file("/dev/null"), errors: .file("/dev/null"))
      #expect(program.wait() == 0)
      #expect(try RawDatabase.pagesWithoutChecksum(in: file).count > 10)
      store.closeIdleReaders()
      try expectAll(store)
      try store.updateDocument(withID: "d5") { $0.body["n"] = 5 }
      #expect(try store.checkIntegrity(repair: true).map(\.kind) == [.checksum])
      #expect(try RawDatabase.pagesWithoutChecksum(in: file) == [])
      #expect(try store.checkIntegrity() == [])
      try expectAll(store)
    }
  }

  @Test func `a check leaves the locks of this process`() throws {
    try withKilledStore { directory in
      try sqlite3(directory, "SELECT count(*) FROM documents")
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.existingDatastore(named: "store")
      try store.createDocument(from: DocumentDraft(id: "before", body: [:]))
      try store.read { snapshot in
        #expect(try snapshot.documentCount() == Self.count + 1)
        try store.createDocument(from: DocumentDraft(id: "after", body: [:]))
        #expect(try store.checkIntegrity().map(\.kind) == [.checksum])
        // Another process can't copy what this one may still read from the file.
        let output = "\(directory)/output"
        let program = try SpawnedProcess(
          "/usr/bin/sqlite3", ["\(store.directory)/db.sync", "PRAGMA wal_checkpoint"], in: directory,
          environment: [:], input: .file("/dev/null"), output: .file(output), errors: .file("/dev/null"))
        #expect(program.wait() == 0)
        let result = try String(contentsOfFile: output, encoding: .utf8).split(separator: "|")
        #expect(result.count == 3 && result[1] != result[2].dropLast())
      }
    }
  }

  @Test func `a file with the identity of one that was closed is verified by itself`() throws {
    try withKilledStore { directory in
      try sqlite3(directory, "SELECT count(*) FROM documents")
      let manager = try DatastoreManager(directory: directory)
      let closed = try manager.existingDatastore(named: "store")
      let connection = try Connection(
        path: closed.databasePath, mode: .readOnly, copiedPages: .verified { _ in true })
      try manager.closeDatastore(named: "store")
      connection.close()
      // The system gives the number of a file that was deleted to the next one.
      let file = "\(directory)/next/db.sync"
      try FileManager.default.createDirectory(
        atPath: "\(directory)/next", withIntermediateDirectories: false)
      try FileManager.default.linkItem(atPath: closed.databasePath, toPath: file)
      try FileManager.default.removeItem(atPath: closed.directory)
      let verifications = Mutex(0)
      let next = try Connection(
        path: file, mode: .readOnly,
        copiedPages: .verified { _ in
          verifications.withLock { $0 += 1 }
          return true
        })
      #expect(try next.scalar("SELECT count(*) FROM documents") == Self.count)
      #expect(verifications.withLock(\.self) == 1)
      next.close()
      try withExtendedLifetime((closed, connection, next)) {
        try expectAll(manager.existingDatastore(named: "next"))
      }
    }
  }

  @Test(arguments: [SQLITE_BUSY, SQLITE_NOMEM, SQLITE_CANTOPEN])
  func `pages that can't be verified now are not taken for damaged ones`(code: Int32) throws {
    try withKilledStore { directory in
      try sqlite3(directory, "SELECT count(*) FROM documents")
      let failures = Mutex(1)
      let connection = try Connection(
        path: "\(directory)/store/db.sync", mode: .readOnly,
        copiedPages: .verified { _ in
          let fails = failures.withLock { failures in
            failures -= 1
            return failures >= 0
          }
          if fails { throw SQLiteError(extendedCode: code, message: "for a moment") }
          return true
        })
      let error = #expect(throws: SQLiteError.self) {
        try connection.scalar("SELECT count(*) FROM documents")
      }
      #expect(error?.isCorrupt == false)
      #expect(error?.isOutOfMemory == (code == SQLITE_NOMEM))
      #expect(try connection.scalar("SELECT count(*) FROM documents") == Self.count)
    }
  }

  @Test func `zeros in place of a checksum don't hide damage`() throws {
    try withKilledStore { directory in
      let file = "\(directory)/store/db.sync"
      try DatastoreManager(directory: directory).closing { _ = try $0.existingDatastore(named: "store") }
      #expect(try pagesWithoutChecksum(directory) == [])
      let whole = try Data(contentsOf: URL(filePath: file))
      for page in 1..<whole.count / 4_096 {
        let length = [9, 24, 200, 512][page % 4]
        let end = (page + 1) * 4_096
        var data = whole
        data.replaceSubrange((end - length)..<end, with: Data(repeating: 0, count: length))
        try data.write(to: URL(filePath: file))
        do {
          try DatastoreManager(directory: directory).closing { manager in
            let store = try manager.existingDatastore(named: "store")
            for number in 0..<Self.count {
              #expect(try store.document(withID: "d\(number)").body["n"] == .int(Int64(number)))
            }
            try expectAll(store)
          }
        } catch let error as DatastoreError {
          #expect(error.code == .corrupt, "page \(page + 1): \(error)")
        }
      }
    }
  }

  @Test
  func `of a damaged page, what its digests verify is saved, and the rest of a lost document under a new id`()
    throws
  {
    try withKilledStore { directory in
      let file = "\(directory)/store/db.sync"
      try DatastoreManager(directory: directory).closing { manager in
        let store = try manager.existingDatastore(named: "store")
        try store.write {
          try $0.forceInsert(
            DocumentRevision(
              id: "theirs", revisionID: RevisionID(generation: 1, suffix: "def"), body: ["by": "them"]))
        }
      }
      // A letter of one document changes.
      var data = try Data(contentsOf: URL(filePath: file))
      let place = try #require(data.firstRange(of: Data(#""_rev":"1-def","by":"them"}"#.utf8)))
      data[place.upperBound - 3] ^= 1
      try data.write(to: URL(filePath: file))
      try withTemporaryDatastore { saved in
        let report = try saved.recoverDocuments(from: "\(directory)/store")
        #expect(report.documents == Self.count + 1)
        try expectAllBut(saved)
        let theirs = try saved.document(withID: "theirs")
        #expect(theirs.revisionID.generation == 2)
        #expect(report.losses.map(\.kind) == [.database, .body])
        #expect(
          report.losses.last?.message
            == "revision 1-def is on a damaged page and can't be verified; its content was saved as \(theirs.revisionID)"
        )
      }
    }
  }

  private func expectAllBut(_ store: Datastore) throws {
    for number in 0..<Self.count {
      #expect(try store.document(withID: "d\(number)").body["n"] == .int(Int64(number)))
    }
  }
}

extension DatastoreManager {
  /// Runs `body`, and closes the store.
  fileprivate func closing<R>(_ body: (DatastoreManager) throws -> R) throws -> R {
    defer { try? closeDatastore(named: "store") }
    return try body(self)
  }
}
