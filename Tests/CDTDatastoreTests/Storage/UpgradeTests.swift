import CDTDatastore
import Foundation
import JSON
import SQLite
import Testing

/// Stores that earlier versions wrote, kept in `Fixtures` beside the scripts that made them.
@Suite struct UpgradeTests {
  /// Runs `body` with a manager whose directory has a store with the file of a fixture.
  private func withFixture(_ name: String, _ body: (_ manager: DatastoreManager) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let fixture = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures/\(name)/db.sync")
      try FileManager.default.createDirectory(
        atPath: "\(directory)/store", withIntermediateDirectories: false)
      try FileManager.default.copyItem(atPath: fixture.path, toPath: "\(directory)/store/db.sync")
      try body(try DatastoreManager(directory: directory))
    }
  }

  private func schema(_ store: Datastore) throws -> [String] {
    let connection = try Connection(path: store.databasePath, mode: .readWrite)
    defer { connection.close() }
    let statement = try connection.statement("SELECT name, sql FROM sqlite_schema ORDER BY name")
    var schema = ["\(try connection.scalar("PRAGMA user_version"))"]
    while try statement.step() {
      schema.append(
        "\(statement.text(0)) \(statement.text(1).split { " \n".contains($0) }.joined(separator: " "))")
    }
    return schema
  }

  @Test(arguments: ["schema-v1", "schema-v2", "schema-v3"])
  func `an earlier version is brought up to date, with all that is in it`(fixture: String) throws {
    try withFixture(fixture) { manager in
      let store = try manager.datastore(named: "store")
      #expect(try schema(store) == schema(try manager.datastore(named: "new")))
      #expect(try store.checkIntegrity() == [])
      #expect(try store.allDocumentIDs() == ["conflict", "history"])
      #expect(try store.lastSequence == 8)
      #expect(try store.localDocument(withID: "checkpoint") == ["last": 8])
      #expect(datastoreError { try store.document(withID: "deleted") }?.code == .notFound)

      var history = try store.document(withID: "history")
      #expect(try store.revisionHistory(of: history).map(\.body) == [["hi": "mike"], ["hello": "world"]])
      #expect(try store.conflictedDocumentIDs() == ["conflict"])
      #expect(try store.liveRevisions(ofDocument: "conflict").map(\.body) == [["hi": "mike"], ["hi": "joe"]])

      history.body["more"] = 1
      #expect(try store.updateDocument(from: history).sequence == 9)
      try store.resolveConflicts(for: "conflict") { _, leaves in leaves.last }
      #expect(try store.document(withID: "conflict").body == ["hi": "joe"])
      try store.createDocument(from: DocumentRevision(id: "deleted", body: ["again": true]))
      try store.compact()
      #expect(try store.checkIntegrity() == [])
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
      #expect(try manager.datastore(named: "store").documentCount == 2)
    }
  }
}
