import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery
import CDTSQLite
import CDTTestSupport
import Foundation
import Testing

/// The text of a document has its id and its revision's, and columns depend on what has to be escaped there.
@Suite struct StoredTextTests {
  private static let ids = [
    "plain", "ä€😀", #"a"b"#, #"a\b"#, "a\nb", "a\u{0}b", #"","_rev":"1-x","a":""#, "a,b}", "_design/views",
    String(repeating: "i", count: 2_000),
  ]
  private static let revisions = [
    "1-a", #"1-a"b"#, #"1-\"#, "1-\u{1}", "1-ä€", "12-" + String(repeating: "f", count: 32),
  ]
  private static let bodies: [JSONObject] = [
    [:], ["a": 1], ["a": ","], ["": [:]], ["text": .string(String(repeating: "é", count: 1_000))],
  ]

  /// A document for each combination.
  private func withDocuments(
    _ body: (_ manager: DatastoreManager, _ documents: [DocumentRevision]) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      var documents: [DocumentRevision] = []
      for id in Self.ids {
        for revision in Self.revisions {
          for content in Self.bodies {
            let revision = try #require(RevisionID(revision))
            documents.append(
              DocumentRevision(id: "\(id)\(documents.count)", revisionID: revision, body: content))
          }
        }
      }
      try store.write { transaction in
        for document in documents { try transaction.forceInsert(document) }
      }
      try body(manager, documents)
    }
  }

  private func check(_ store: Datastore, has documents: [DocumentRevision]) throws {
    #expect(try store.checkIntegrity() == [])
    let changes = try store.changes().documents
    #expect(changes.map(\.id) == documents.map(\.id))
    #expect(changes.map(\.revisionID) == documents.map(\.revisionID))
    try store.read { transaction in
      for document in documents {
        let read = try transaction.document(withID: document.id)
        #expect(read.revisionID == document.revisionID && read.body == document.body)
        let revision = document.revisionID.description
        var whole: JSONObject = ["_id": .string(document.id), "_rev": .string(revision)]
        for (name, value) in document.body { whole[name] = value }
        #expect(try transaction.documentText(withID: document.id) == whole.utf8Text)
        #expect(
          try transaction.currentRevisions(ofDocument: document.id).map(\.revisionID.description) == [
            revision
          ])
      }
    }
    for document in documents where document.id.hasPrefix("plain") || document.id.contains("\\") {
      let query = try Query(["_id": .string(document.id), "_rev": .string(document.revisionID.description)])
      var texts: [[UInt8]] = []
      try store.results(for: query).forEachJSON { texts.append(Array($0)) }
      #expect(try texts == [store.read { try $0.documentText(withID: document.id) }])
    }
  }

  @Test func `every id, revision and body is read as it was saved`() throws {
    try withDocuments { manager, documents in
      try check(try manager.datastore(named: "store"), has: documents)
    }
  }

  @Test func `documents are found, sorted and grouped by ids that are escaped in their texts`() throws {
    try withDocuments { manager, documents in
      let store = try manager.datastore(named: "store")
      for fields in [["_rev", "_id"], ["_id"], []] {
        func key(_ document: DocumentRevision) -> [UInt8] {
          let revision = fields.count == 2 ? Array(document.revisionID.description.utf8) + [0] : []
          return revision + Array(document.id.utf8)
        }
        let results = documents.filter { !$0.id.hasPrefix("_design/") }
        let sorted = results.sorted { key($0).lexicographicallyPrecedes(key($1)) }
        let query = try Query(
          ["_rev": ["$gte": "1-"], "_id": ["$gt": ""]], sort: fields.map { SortField.ascending($0) })
        var texts: [[UInt8]] = []
        try store.results(for: query).forEachJSON { texts.append(Array($0)) }
        let wanted = try store.read { transaction in
          try sorted.map { try transaction.documentText(withID: $0.id) }
        }
        #expect(texts == wanted, "\(fields)")
      }
      let groups = try store.read { try $0.group(GroupQuery(by: ["_rev"], [.count(as: "n")])) }
      #expect(
        Set(groups.map { $0["_rev"]?.stringValue }) == Set(documents.map(\.revisionID.description)))
    }
  }

  @Test func `imported documents have texts`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      var lines = ""
      for (number, id) in Self.ids.enumerated() {
        var document: JSONObject = ["_id": .string(id)]
        for (name, value) in Self.bodies[number % Self.bodies.count] { document[name] = value }
        lines += document.text + "\n"
      }
      try Data(lines.utf8).write(to: URL(filePath: "\(directory)/lines.jsonl"))
      #expect(try DocumentImporter(into: store).run(["\(directory)/lines.jsonl"]).imported == Self.ids.count)
      #expect(try store.checkIntegrity() == [])
      #expect(try Set(store.read { try $0.allDocumentIDs() }) == Set(Self.ids))
      try manager.closeDatastore(named: "store")
    }
  }

  @Test func `documents of version 6 get texts when the store is opened`() throws {
    try withDocuments { manager, documents in
      try manager.closeDatastore(named: "store")
      try withDatabase(of: "store", in: manager.directory) { connection in
        try connection.transaction(.immediate) {
          try connection.execute(
            """
            DROP INDEX tombstones;
            DROP INDEX conflicts;
            ALTER TABLE documents RENAME TO later;
            CREATE TABLE documents (
              number INTEGER PRIMARY KEY, sequence INTEGER NOT NULL UNIQUE, id TEXT NOT NULL UNIQUE, revision TEXT NOT NULL,
              parent TEXT, written INTEGER, leaves INTEGER NOT NULL, deleted INTEGER NOT NULL, attachments INTEGER NOT NULL,
              body TEXT NOT NULL
            );
            INSERT INTO documents
              SELECT number, sequence, id, \(StoredText.revisionSQL), parent, written, leaves, deleted, attachments,
                     \(StoredText.bodySQL)
                FROM later;
            DROP TABLE later;
            CREATE INDEX tombstones ON documents (number) WHERE deleted;
            CREATE INDEX conflicts ON documents (number) WHERE leaves > 1;
            PRAGMA user_version = 6
            """)
        }
      }
      try check(try manager.datastore(named: "store"), has: documents)
    }
  }

  @Test func `new documents, changed ones and those whose winner changes have texts`() throws {
    try withDocuments { manager, documents in
      let store = try manager.datastore(named: "store")
      var changed: [DocumentRevision] = []
      for document in documents.prefix(60) {
        let other = try #require(RevisionID("1-0\(document.revisionID.suffix)"))
        try store.write {
          try $0.forceInsert(DocumentRevision(id: document.id, revisionID: other, body: ["other": 1]))
        }
        // The other branch wins once this one is deleted.
        let winner = try store.document(withID: document.id)
        try store.deleteDocument(from: winner)
        changed.append(try store.document(withID: document.id))
      }
      #expect(try store.checkIntegrity() == [])
      for document in changed.prefix(30) {
        try store.updateDocument(withID: document.id) { $0.body["more"] = "ü" }
        #expect(try store.document(withID: document.id).body["more"] == "ü")
      }
      for (number, id) in Self.ids.enumerated() {
        try store.createDocument(
          from: DocumentDraft(id: "new\(id)", body: Self.bodies[number % Self.bodies.count]))
      }
      #expect(try store.checkIntegrity() == [])
    }
  }
}
