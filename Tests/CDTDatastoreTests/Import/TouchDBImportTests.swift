import CDTDatastore
import CDTImport
import CDTJSON
import CDTSQLite
import Foundation
import Synchronization
import Testing

/// Datastores of CDTDatastore 2.x, as `Fixtures/touchdb/make.sh` makes one.
@Suite struct TouchDBImportTests {
  @Test
  func `every document comes with its winner, its body in this store's spelling, and numbers in their own`()
    throws
  {
    try withTouchDB { fixture in
      let report = try fixture.store.importTouchDB(fixture.path)
      #expect(
        report == TouchDBReport(total: 8, documents: 8, revisions: 17, attachments: 4, localDocuments: 2))
      let documents = try fixture.store.read { try $0.allDocuments() }.map { $0.json.text }
      #expect(
        documents == [
          #"{"_id":"conflicted","_rev":"2-00000000000000000000000000000b0b","v":"b"}"#,
          #"{"_id":"edited","_rev":"3-00000000000000000000000000000003","hi":"zoe"}"#,
          #"{"_id":"empty","_rev":"1-00000000000000000000000000000f01"}"#,
          #"{"_id":"pictures","_rev":"2-00000000000000000000000000000e02","of":"animals","more":true}"#,
          #"{"_id":"plain","_rev":"1-00000000000000000000000000000001","url":"http://example.com/aé","n":1.50,"#
            + #""nested":{"b":[true,null]}}"#,
          #"{"_id":"pulled","_rev":"4-00000000000000000000000000000a04","from":"server"}"#,
          #"{"_id":"revived","_rev":"3-00000000000000000000000000000d03","v":3}"#,
        ])
      #expect(try fixture.store.checkIntegrity() == [])
    }
  }

  static let trees: [(id: String, nodes: Set<String>)] = [
    ("plain", [#"none < 1-1 {"url":"http://example.com/aé","n":1.50,"nested":{"b":[true,null]}} leaf"#]),
    (
      "edited",
      [
        "none < 1-1f7588ca02054efe626a6e440a431861 none",
        #"1-1f7588ca02054efe626a6e440a431861 < 2-be2c05cd85b8468ce92b04e001b0e923 {"hi":"mike"}"#,
        #"2-be2c05cd85b8468ce92b04e001b0e923 < 3-3 {"hi":"zoe"} leaf"#,
      ]
    ),
    ("pulled", ["none < 2-a02 none", "2-a02 < 3-a03 none", #"3-a03 < 4-a04 {"from":"server"} leaf"#]),
    (
      "conflicted",
      [
        #"none < 1-b01 {"v":1}"#, #"1-b01 < 2-b0a {"v":"a"} leaf"#, #"1-b01 < 2-b0b {"v":"b"} leaf"#,
        #"1-b01 < 2-b0c {"v":"c"}"#, "2-b0c < 3-b0d {} leaf deleted",
      ]
    ),
    ("gone", [#"none < 1-c01 {"v":1}"#, "1-c01 < 2-c02 {} leaf deleted"]),
    ("revived", [#"none < 1-d01 {"v":1}"#, "1-d01 < 2-d02 {}  deleted", #"2-d02 < 3-d03 {"v":3} leaf"#]),
    ("pictures", [#"none < 1-e01 {"of":"animals"}"#, #"1-e01 < 2-e02 {"of":"animals","more":true} leaf"#]),
    ("empty", ["none < 1-f01 {} leaf"]),
  ]

  @Test(arguments: trees) func `the whole tree comes`(_ id: String, _ nodes: Set<String>) throws {
    try withTouchDB { fixture in
      try fixture.store.importTouchDB(fixture.path)
      #expect(try fixture.tree(of: id) == nodes)
    }
  }

  @Test func `conflicts, tombstones and histories are what they were`() throws {
    try withTouchDB { fixture in
      let store = fixture.store
      try store.importTouchDB(fixture.path)
      #expect(try store.read { try $0.conflictedDocumentIDs() } == ["conflicted"])
      #expect(datastoreError { try store.document(withID: "gone") }?.code == .notFound)
      #expect(try store.documents(withIDs: ["gone"]).map(\.isDeleted) == [true])
      #expect(datastoreError { try store.document(withID: "without revisions") }?.code == .notFound)
      let pulled = try store.document(withID: "pulled")
      #expect(
        try store.read { try $0.revisionHistory(of: pulled) }.map { $0.revisionID.generation } == [4, 3, 2])
      #expect(try store.read { try $0.revisionHistory(of: pulled) }.map(\.hasBody) == [true, false, false])
      // In the order in which they last changed there.
      let ids = try store.changes().documents.map(\.id)
      #expect(ids == ["plain", "edited", "pulled", "conflicted", "gone", "revived", "pictures", "empty"])
    }
  }

  @Test func `an edit after the import gets the revision that CDTDatastore would have given it`() throws {
    try withTouchDB { fixture in
      try fixture.change("DELETE FROM revs WHERE sequence IN (3, 4)")
      try fixture.change(
        "UPDATE revs SET json = CAST('{\"hello\":\"world\"}' AS BLOB), current = 1 WHERE sequence = 2")
      try fixture.store.importTouchDB(fixture.path)
      var edited = try fixture.store.document(withID: "edited")
      #expect(edited.revisionID.description == "1-1f7588ca02054efe626a6e440a431861")
      edited.body = ["hi": "mike"]
      edited = try fixture.store.updateDocument(from: edited)
      #expect(edited.revisionID.description == "2-be2c05cd85b8468ce92b04e001b0e923")
    }
  }

  @Test func `attachments come with content, type and generation, unpacked where they were packed`() throws {
    try withTouchDB { fixture in
      try fixture.store.importTouchDB(fixture.path)
      let pictures = try fixture.store.document(withID: "pictures")
      #expect(pictures.attachments.names == ["cat.jpg", "dog/../dog.jpg", "text"])
      #expect(
        pictures.attachments.map(\.contentType) == ["image/jpeg", "application/octet-stream", "text/plain"])
      #expect(pictures.attachments.map(\.generation) == [1, 2, 2])
      let contents = try pictures.attachments.map { try $0.data() }
      #expect(contents[0] == Data("a cat, in bytes \u{1}\u{2}".utf8))
      #expect(contents[1] == Data("a dog".utf8))
      #expect(contents[2] == Data(String(repeating: "a long text that packs well\n", count: 200).utf8))
      let first = try #require(RevisionID("1-00000000000000000000000000000e01"))
      let before = try fixture.store.read { try $0.document(withID: "pictures", revisionID: first) }
      #expect(before.attachments.names == ["cat.jpg"])
      #expect(before.attachments["cat.jpg"]?.digest == pictures.attachments["cat.jpg"]?.digest)
    }
  }

  @Test func `local documents come under their ids, and those that are there stay`() throws {
    try withTouchDB { fixture in
      let store = fixture.store
      try store.write { try $0.setLocalDocument(["theme": "light"], withID: "settings") }
      let report = try store.importTouchDB(fixture.path)
      #expect(report.localDocuments == 1)
      #expect(try store.read { try $0.localDocumentIDs() } == ["_local/checkpoint", "settings"])
      #expect(try store.read { try $0.localDocument(withID: "_local/checkpoint") } == ["seq": "12-abc"])
      #expect(try store.read { try $0.localDocument(withID: "settings") } == ["theme": "light"])
    }
  }

  @Test func `importing again adds nothing, also after the documents have moved on`() throws {
    try withTouchDB { fixture in
      let store = fixture.store
      try store.importTouchDB(fixture.path)
      var edited = try store.document(withID: "edited")
      edited.body["hi"] = "new"
      edited = try store.updateDocument(from: edited)
      try store.deleteDocument(withID: "conflicted")
      let state = try StoreState(store)
      let report = try store.importTouchDB(fixture.path)
      #expect(try StoreState(store) == state)
      #expect(report == TouchDBReport(total: 8, documents: 8))
      #expect(try store.document(withID: "edited") == edited)
    }
  }

  @Test func `documents that were added to the file come with the next import`() throws {
    try withTouchDB { fixture in
      try fixture.store.importTouchDB(fixture.path)
      try fixture.change(
        """
        INSERT INTO revs VALUES
          (30, 2, '4-new', 4, 1, 0, CAST('{"hi":"later"}' AS BLOB)), (31, 2, '4-other', 4, 1, 0, CAST('{}' AS BLOB))
        """)
      let report = try fixture.store.importTouchDB(fixture.path)
      #expect(report.revisions == 2)
      #expect(try fixture.store.document(withID: "edited").revisionID.description == "4-other")
      #expect(try fixture.store.read { try $0.conflictedDocumentIDs() } == ["conflicted", "edited"])
    }
  }

  // MARK: The source

  @Test func `the file and what lies beside it are left as they are`() throws {
    try withTouchDB { fixture in
      let before = try fixture.files()
      try fixture.store.importTouchDB(fixture.path)
      #expect(try fixture.files() == before)
    }
  }

  @Test func `a write-ahead log that waits is taken in, and left as it is`() throws {
    try withTouchDB { fixture in
      let connection = try Connection(path: fixture.path, mode: .readWrite)
      try connection.execute("PRAGMA journal_mode = WAL")
      try connection.execute("UPDATE revs SET json = CAST('{\"in\":\"log\"}' AS BLOB) WHERE sequence = 4")
      connection.setKeepsLogOnClose(true)
      connection.close()
      let before = try fixture.files()
      #expect(before.keys.contains("tasks.touchdb-wal"))
      let temporary = try FileManager.default.contentsOfDirectory(atPath: NSTemporaryDirectory())
      try fixture.store.importTouchDB(fixture.path)
      #expect(try fixture.store.document(withID: "edited").body == ["in": "log"])
      #expect(try fixture.files() == before)
      let copies = try FileManager.default.contentsOfDirectory(atPath: NSTemporaryDirectory())
        .filter { $0.hasPrefix("cdtdatastore-") && !temporary.contains($0) }
      #expect(copies == [])
    }
  }

  @Test func `a file of a write-ahead log that was taken in is read in place`() throws {
    try withTouchDB { fixture in
      try fixture.change("PRAGMA journal_mode = WAL; UPDATE revs SET json = '{}' WHERE sequence = 4")
      let before = try fixture.files()
      #expect(!before.keys.contains("tasks.touchdb-wal"))
      try fixture.store.importTouchDB(fixture.path)
      #expect(try fixture.store.document(withID: "edited").body == [:])
      #expect(try fixture.files() == before)
    }
  }

  @Test func `a transaction that was cut short is undone by its journal, in a copy`() throws {
    try withTouchDB { fixture in
      let connection = try Connection(path: fixture.path, mode: .readWrite)
      try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN")
      try connection.execute("UPDATE revs SET json = CAST('{\"half\":\"done\"}' AS BLOB)")
      try connection.execute("INSERT INTO info SELECT sequence, zeroblob(5000) FROM revs")
      let crashed = "\(fixture.directory)/crashed"
      try FileManager.default.createDirectory(atPath: crashed, withIntermediateDirectories: false)
      for suffix in ["", "-journal"] {
        try FileManager.default.copyItem(
          atPath: fixture.path + suffix, toPath: "\(crashed)/tasks.touchdb\(suffix)")
      }
      try FileManager.default.copyItem(
        atPath: fixture.attachments, toPath: "\(crashed)/tasks attachments")
      try connection.execute("ROLLBACK")
      connection.close()
      let before = try fixture.files()
      try fixture.store.importTouchDB("\(crashed)/tasks.touchdb")
      #expect(try fixture.store.document(withID: "edited").body == ["hi": "zoe"])
      #expect(try fixture.files() == before)
    }
  }

  @Test func `a file that is written to meanwhile is refused in the end`() throws {
    try withTouchDB { fixture in
      let (path, store) = (fixture.path, fixture.store)
      let error = touchDBError {
        try store.importTouchDB(path) { _ in
          try? FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
        }
      }
      #expect(error?.code == .changed)
      let again = try store.importTouchDB(path)
      #expect(again.documents == 8)
    }
  }

  @Test(arguments: ["with space", "100%", "a?b#c", "ünïcode", "file:x"])
  func `a path with any characters is read`(_ name: String) throws {
    try withTouchDB { fixture in
      let directory = "\(fixture.directory)/\(name)"
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
      for file in ["tasks.touchdb", "tasks attachments"] {
        try FileManager.default.moveItem(
          atPath: "\(fixture.directory)/\(file)", toPath: "\(directory)/\(file)")
      }
      let report = try fixture.store.importTouchDB("\(directory)/tasks.touchdb")
      #expect(report.attachments == 4)
    }
  }

  // MARK: Size

  @Test func `documents are written in batches, with progress after each`() throws {
    try withTouchDB { fixture in
      try fixture.change(
        """
        WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 1099)
        INSERT INTO docs SELECT i, 'many' || i FROM n;
        INSERT INTO revs SELECT doc_id, doc_id, '1-' || doc_id, NULL, 1, 0, CAST('{"n":' || doc_id || '}' AS BLOB)
          FROM docs WHERE doc_id >= 100
        """)
      let seen = Mutex<[TouchDBReport]>([])
      var importer = TouchDBImporter(into: fixture.store)
      importer.batchSize = 100
      importer.onProgress = { report in seen.withLock { $0.append(report) } }
      let report = try importer.run(fixture.path)
      #expect(report.documents == 1008)
      let counts = seen.withLock { $0.map(\.documents) }
      #expect(counts.count > 10 && counts == counts.sorted() && counts.last == 1008)
      #expect(zip(counts, counts.dropFirst()).allSatisfy { $1 - $0 <= 100 })
      #expect(try fixture.store.read { try $0.documentCount() } == 1007)
    }
  }

  @Test func `a deep history and many attachments of one document come whole`() throws {
    try withTouchDB { fixture in
      try fixture.change(
        """
        INSERT INTO docs VALUES (50, 'deep');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO revs SELECT 1000 + i, 50, i || '-' || i, nullif(999 + i, 1000), i = 1000, 0,
          iif(i % 3 = 1, CAST('{"i":' || i || '}' AS BLOB), NULL) FROM n
        """)
      let names = (0..<150).map { "file \($0)" }
      try fixture.addAttachments(names.map { ($0, Data("content of \($0)".utf8)) }, toSequence: 2000)
      // One content under two names, and again in another revision.
      try fixture.change(
        """
        INSERT INTO attachments SELECT 2000, 'copy', key, type, length, revpos, 0, NULL FROM attachments
         WHERE filename = 'file 149';
        INSERT INTO attachments SELECT 1997, filename, key, type, length, 9999, 0, NULL FROM attachments
         WHERE sequence = 2000
        """)
      let report = try fixture.store.importTouchDB(fixture.path)
      #expect(report.attachments == 4 + 2 * 151)
      let deep = try fixture.store.document(withID: "deep")
      #expect(try fixture.store.read { try $0.revisionHistory(of: deep) }.count == 1000)
      #expect(deep.attachments.count == 151)
      for name in names { #expect(try deep.attachments[name]?.data() == Data("content of \(name)".utf8)) }
      #expect(try deep.attachments["copy"]?.data() == Data("content of file 149".utf8))
      let before = try fixture.store.read {
        try $0.document(withID: "deep", revisionID: try #require(RevisionID("997-997")))
      }
      // A generation that can't be is that of the revision.
      #expect(before.attachments["copy"]?.generation == 997)
      #expect(try fixture.store.checkIntegrity() == [])
    }
  }
}

extension TouchDBReport {
  init(
    total: Int, documents: Int, revisions: Int = 0, attachments: Int = 0, localDocuments: Int = 0
  ) {
    self.init()
    self.total = total
    self.documents = documents
    self.revisions = revisions
    self.attachments = attachments
    self.localDocuments = localDocuments
  }
}
