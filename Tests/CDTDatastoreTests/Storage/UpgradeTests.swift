import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTQuery
import CDTSQLite
import CDTTestSupport
import Foundation
import Synchronization
import Testing

/// Stores that earlier versions wrote, kept in `Fixtures` beside the scripts that made them.
@Suite struct UpgradeTests {
  /// Runs `body` with a manager whose directory has a store with the file of a fixture.
  ///
  /// - Parameter indexes: Whether it has the fixture's indexes, too.
  private func withFixture(
    _ name: String, indexes: Bool = false, _ body: (_ manager: DatastoreManager) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name)")
        .path
      let files = FileManager.default
      try files.createDirectory(atPath: "\(directory)/store", withIntermediateDirectories: false)
      try files.copyItem(atPath: "\(fixture)/db.sync", toPath: "\(directory)/store/db.sync")
      if indexes {
        try files.copyItem(atPath: "\(fixture)/extensions", toPath: "\(directory)/store/extensions")
      }
      try body(try DatastoreManager(directory: directory))
    }
  }

  private func schema(_ store: Datastore) throws -> [String] {
    let connection = try Connection(path: store.databasePath, mode: .readWrite)
    defer { connection.close() }
    let statement = try connection.statement("SELECT name, sql FROM sqlite_schema ORDER BY name")
    var schema: [String] = []
    while try statement.step() {
      schema.append(
        "\(statement.text(0)) \(statement.text(1).split { " \n".contains($0) }.joined(separator: " "))")
    }
    return schema
  }

  private func version(_ store: Datastore) throws -> Int64 {
    let connection = try Connection(path: store.databasePath, mode: .readOnly)
    defer { connection.close() }
    let version = try connection.scalar("PRAGMA user_version")
    #expect(try connection.hasPageChecksums() == (version == DatabaseFile.version))
    return version
  }

  @Test(arguments: ["schema-v1", "schema-v2", "schema-v3", "schema-v4", "schema-v5", "schema-v6"])
  func `an earlier version is brought up to date, with all that is in it`(fixture: String) throws {
    try withFixture(fixture) { manager in
      let store = try manager.datastore(named: "store")
      #expect(try schema(store) == schema(try manager.datastore(named: "new")))
      #expect(try store.checkIntegrity() == [])
      #expect(try store.read { try $0.allDocumentIDs() } == ["conflict", "history"])
      #expect(try store.read { try $0.lastSequence() } == 8)
      #expect(try store.read { try $0.localDocument(withID: "checkpoint") } == ["last": 8])
      #expect(datastoreError { try store.document(withID: "deleted") }?.code == .notFound)

      var history = try store.document(withID: "history")
      #expect(
        try store.read { try $0.revisionHistory(of: history) }.map(\.body) == [
          ["hi": "mike"], ["hello": "world"],
        ])
      #expect(try store.read { try $0.conflictedDocumentIDs() } == ["conflict"])
      #expect(
        try store.read { try $0.currentRevisions(ofDocument: "conflict") }.map(\.body) == [
          ["hi": "mike"], ["hi": "joe"],
        ])

      history.body["more"] = 1
      #expect(try store.updateDocument(from: history).sequence == 9)
      try store.write { try $0.resolveConflicts(for: "conflict") { _, leaves in leaves.last } }
      #expect(try store.document(withID: "conflict").body == ["hi": "joe"])
      try store.createDocument(from: DocumentDraft(id: "deleted", body: ["again": true]))
      let hasChecksums = fixture == "schema-v6"
      #expect(
        try version(store) == (hasChecksums ? DatabaseFile.version : DatabaseFile.versionWithoutChecksums))
      try store.compact()
      #expect(try version(store) == DatabaseFile.version)
      #expect(try store.checkIntegrity() == [])
      #expect(try store.read { try $0.allDocumentIDs() } == ["conflict", "deleted", "history"])
    }
  }

  @Test func `checksums are added when nothing else uses the store`() throws {
    try withFixture("schema-v5") { manager in
      let store = try manager.datastore(named: "store")
      let file = "\(manager.directory)/store/db.sync"
      let other = try Connection(path: file, mode: .readWrite)
      #expect(try other.scalar("SELECT count(*) FROM documents") == 3)
      #expect(try store.compact().hasChecksums == false)
      #expect(try version(store) == DatabaseFile.versionWithoutChecksums)
      try store.createDocument(from: DocumentDraft(id: "new", body: [:]))
      other.close()
      #expect(try store.compact().hasChecksums)
      #expect(try version(store) == DatabaseFile.version)
      #expect(try store.read { try $0.documentCount() } == 3)
      #expect(try store.checkIntegrity() == [])
    }
  }

  /// It was killed when the rewritten pages were in the log, and not yet in the file.
  @Test func `the next connection finishes an interrupted addition of checksums`() throws {
    try withFixture("schema-v5") { manager in
      let file = "\(manager.directory)/store/db.sync"
      let connection = try Connection(path: file, mode: .readWrite)
      connection.reservePageChecksums()
      try connection.execute("PRAGMA wal_autocheckpoint = 0; VACUUM")
      connection.setKeepsLogOnClose(true)
      connection.close()
      let header = try Data(contentsOf: URL(filePath: file))
      #expect(header[20] == 0)
      let store = try manager.datastore(named: "store")
      #expect(try version(store) == DatabaseFile.version)
      #expect(try store.checkIntegrity() == [])
      #expect(try store.read { try $0.documentCount() } == 2)
    }
  }

  /// Another process keeps the file locked, for which the upgrade waits.
  @Test func `a store that is being upgraded keeps nobody from the others of its manager`() throws {
    try withFixture("schema-v1") { manager in
      let held = try Connection(path: "\(manager.directory)/store/db.sync", mode: .readWrite)
      defer { held.close() }
      try held.begin(.immediate)
      let before = openFiles(below: "\(manager.directory)/store")
      let failure = Mutex<(any Error)?>(nil)
      let opening = Thread {
        do {
          _ = try manager.datastore(named: "store")
        } catch {
          failure.withLock { $0 = error }
        }
      }
      opening.start()
      try blockUntil("another file is open") {
        openFiles(below: "\(manager.directory)/store") != before || opening.isFinished
      }
      let other = try manager.datastore(named: "other")
      try other.createDocument(from: DocumentDraft(id: "a", body: [:]))
      #expect(try manager.datastoreNames() == ["other", "store"])
      try manager.closeDatastore(named: "other")
      try manager.deleteDatastore(named: "other")
      #expect(!opening.isFinished)
      held.rollBack()
      try blockUntil("the datastore is open") { opening.isFinished }
      #expect(failure.withLock { $0 == nil })
      #expect(try manager.datastore(named: "store").read { try $0.documentCount() } == 2)
    }
  }

  /// `schema-v3` has beside it the file of indexes that was written with it, in version 3 of its layout.
  @Test func `indexes of an earlier version are made again from the documents`() throws {
    try withFixture("schema-v3", indexes: true) { manager in
      let store = try manager.datastore(named: "store")
      let query = try Query(["hi": ["$exists": true]], sort: ["hi"], useIndex: "by_hi")
      #expect(try store.read { try $0.find(query) }.map(\.id) == ["conflict", "history"])
      try store.createDocument(from: DocumentDraft(id: "new", body: ["hi": "anna", "text": "some word"]))
      #expect(try store.read { try $0.find(query) }.map(\.id) == ["new", "conflict", "history"])
      #expect(try store.find(["$text": ["$search": "word"]]).map(\.id) == ["new"])
      try store.updateIndexes()
      #expect(try store.listIndexes().map(\.name) == ["by_hi", "words"])
      #expect(try store.listIndexes().map(\.entries) == [3, 3])
      #expect(try store.read { try $0.explain(query) }.json["waiting"] == 0)
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `an upgrade that fails leaves the file in its version`() throws {
    try withFixture("schema-v1") { manager in
      try withDatabase(of: "store", in: manager.directory) { connection in
        try connection.execute("CREATE TABLE conflicts (a)")
      }
      datastoreError { try manager.datastore(named: "store") }
      try withDatabase(of: "store", in: manager.directory) { connection in
        let (version, indexes) = (
          try connection.scalar("PRAGMA user_version"),
          try connection.scalar("SELECT count(*) FROM sqlite_schema WHERE name = 'losing_leaves'")
        )
        #expect(version == 1)
        #expect(indexes == 0)
        try connection.execute("DROP TABLE conflicts")
      }
      #expect(try manager.datastore(named: "store").read { try $0.documentCount() } == 2)
    }
  }
}
