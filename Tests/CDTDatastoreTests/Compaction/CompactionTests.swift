import CDTDatastore
import CDTJSON
import CDTQuery
import CDTSQLite
import CDTTestSupport
import Foundation
import Testing

/// What compaction takes away and what it leaves, see `docs/crud.md`.
@Suite struct CompactionTests {
  private static func first(_ number: Int) -> DocumentDraft {
    DocumentDraft(
      id: "\(number)", body: ["n": 0, "text": .string(String(repeating: "x", count: 2_000))],
      attachments: [DocumentAttachment(data: Data("\(number) 0".utf8), name: "x", contentType: "")])
  }

  /// Runs `body` with a store of 50 documents, each of 20 long revisions and with an attachment that changed once.
  private func withHistory(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<50 {
          var revision = try transaction.createDocument(
            from: Self.first(number))
          for version in 1..<20 {
            revision.body = [
              "n": .int(Int64(version)), "text": .string(String(repeating: "x", count: 2_000)),
            ]
            if version % 10 == 0 {
              let data = Data("\(number) \(version)".utf8)
              revision.attachments = [DocumentAttachment(data: data, name: "x", contentType: "")]
            }
            revision = try transaction.updateDocument(from: revision)
          }
        }
      }
      try body(store)
    }
  }

  @Test func `bodies, attachments and pages go, and what was freed is told`() throws {
    try withHistory { store in
      let documents = try store.read { try $0.allDocuments() }
      #expect(store.attachmentFileNames.count == 100)
      let before = try store.sizeOnDisk()
      let report = try store.compact()
      #expect(report.revisions == 950)
      #expect(report.attachments == 50)
      #expect(report.bytesFreed == before - (try store.sizeOnDisk()))
      #expect(report.bytesFreed > 950 * 2_000)
      #expect(store.attachmentFileNames.count == 50)
      let connection = try Connection(path: store.databasePath, mode: .readWrite)
      defer { connection.close() }
      #expect(try connection.scalar("PRAGMA freelist_count") == 0)
      #expect(try store.read { try $0.allDocuments() } == documents)
      #expect(
        try documents.map { try $0.attachments["x"]?.data() }
          == documents.map { Data("\($0.id) 10".utf8) })
      #expect(try store.checkIntegrity() == [])

      let again = try store.compact()
      #expect(again.revisions == 0)
      #expect(again.attachments == 0)
    }
  }

  @Test func `the history still lists every generation, without bodies`() throws {
    try withHistory { store in
      let last = try store.document(withID: "7")
      let before = try store.read { try $0.revisionHistory(of: last) }
      try store.compact()
      let after = try store.read { try $0.revisionHistory(of: last) }
      #expect(after.map(\.revisionID) == before.map(\.revisionID))
      #expect(after.map(\.sequence) == before.map(\.sequence))
      #expect(after.map(\.hasBody) == [true] + Array(repeating: false, count: 19))
      #expect(after[0] == before[0])
      let inner = after[1].revisionID
      let error = datastoreError { try store.read { try $0.document(withID: "7", revisionID: inner) } }
      #expect(error?.code == .notFound)
      // Nor can what has no body be saved by mistake.
      #expect(datastoreError { try store.updateDocument(from: after[1]) }?.code == .missingBody)
    }
  }

  @Test func `every leaf keeps its body and attachments, tombstones stay`() throws {
    try withTemporaryDatastore { store in
      for revision in ["2-b", "2-c", "2-a"] {
        try store.insert(
          revision, after: ["1-a"],
          attachments: [DocumentAttachment(data: Data(revision.utf8), name: "x", contentType: "")])
      }
      try store.insert("3-t", after: ["2-t", "1-a"], isDeleted: true)
      let before = try TreeState(of: "a", in: store)
      let state = try StoreState(store)
      try store.compact()
      #expect(try TreeState(of: "a", in: store) == before)
      #expect(try StoreState(store) == state)
      try store.deleteDocument(withID: "a")
      #expect(try store.compact().attachments == 3)
      #expect(try store.documents(withIDs: ["a"]).map(\.isDeleted) == [true])
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `local documents and indexes are left alone`() throws {
    try withHistory { store in
      try store.write { try $0.setLocalDocument(["checkpoint": 7], withID: "peer") }
      try store.ensureIndexed(["n"], name: "by_n")
      try store.compact()
      #expect(try store.read { try $0.localDocument(withID: "peer") } == ["checkpoint": 7])
      #expect(try store.find(["n": 19]).map(\.id).count == 50)
    }
  }

  /// A busy timeout longer than the test may take shows that nobody is waited for.
  @Test(.timeLimit(.usual)) func `readers go on, and are not waited for`() throws {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.busyTimeout = .seconds(3_600)
      options.durability = .normal
      let manager = try DatastoreManager(directory: directory, options: options)
      let store = try manager.datastore(named: "store")
      try store.write { transaction in
        for number in 0..<200 {
          var revision = try transaction.createDocument(
            from: DocumentDraft(id: "\(number)", body: ["n": .int(Int64(number))]))
          revision.body["again"] = true
          try transaction.updateDocument(from: revision)
        }
      }
      let results = try store.results(for: Query([:]))
      var found = [try #require(try results.next())]
      try store.deleteDocument(withID: "199")
      try store.compact()
      found += try results.documents()
      #expect(found.count == 200)
      #expect(found.allSatisfy { $0.body["again"] == true })
      results.close()
      // A compaction does not wait for a reader in the background, either.
      try blockUntil("the log is cut off") {
        try store.compact()
        return try FileManager.default.attributesOfItem(atPath: "\(store.databasePath)-wal")[.size] as? Int
          == 0
      }
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `within a write it is refused, and a closed store is not compacted`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let error = datastoreError { try store.write { _ in try store.compact() } }
      #expect(error?.code == .nestedWrite)
      try manager.closeDatastore(named: "store")
      #expect(datastoreError { try store.compact() }?.code == .closed)
    }
  }
}
