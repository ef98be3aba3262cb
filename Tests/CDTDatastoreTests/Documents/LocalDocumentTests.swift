import CDTDatastore
import CDTJSON
import CDTSQLite
import CDTTestSupport
import Testing

@Suite struct LocalDocumentTests {
  @Test func `a local document is saved, replaced, listed and removed, apart from documents`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["document": true]))
      let before = try StoreState(store)
      #expect(try store.read { try $0.localDocument(withID: "a") } == nil)
      for id in ["a", "_local/x", "e\u{301}", "\u{e9}", "a\0b"] {
        try store.write { try $0.setLocalDocument(["id": .string(id)], withID: id) }
        try store.write { try $0.setLocalDocument(["id": .string(id), "again": true], withID: id) }
      }
      #expect(try store.read { try $0.localDocument(withID: "a") } == ["id": "a", "again": true])
      #expect(try store.read { try $0.localDocumentIDs() }.count == 5)
      try store.write { try $0.setLocalDocument(nil, withID: "a") }
      try store.write { try $0.setLocalDocument(nil, withID: "a") }
      #expect(try store.read { try $0.localDocument(withID: "a") } == nil)
      #expect(try StoreState(store) == before)
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `values that a body can't hold are refused`() throws {
    try withTemporaryDatastore { store in
      #expect(
        datastoreError { try store.write { try $0.setLocalDocument([:], withID: "") } }?.code == .invalidID)
      #expect(
        datastoreError { try store.write { try $0.setLocalDocument(["_x": 1], withID: "a") } }?.code
          == .reservedKey)
      let infinite: JSONObject = ["x": .double(.infinity)]
      #expect(
        datastoreError { try store.write { try $0.setLocalDocument(infinite, withID: "a") } }?.code
          == .invalidBody)
      let ids = try store.read { try $0.localDocumentIDs() }
      #expect(ids == [])
    }
  }

  struct Undone: Error {}

  @Test func `local documents take part in transactions`() throws {
    try withTemporaryDatastore { store in
      let before = try StoreState(store)
      #expect(throws: Undone.self) {
        try store.write { transaction in
          try transaction.setLocalDocument(["n": 1], withID: "a")
          #expect(try transaction.localDocument(withID: "a") == ["n": 1])
          #expect(try store.read { try $0.localDocument(withID: "a") } == nil)
          throw Undone()
        }
      }
      #expect(try store.read { try $0.localDocument(withID: "a") } == nil)
      #expect(try StoreState(store) == before)
    }
  }

  @Test func `a damaged one is corrupt, and found by the check`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.write { try $0.setLocalDocument(["n": 1], withID: "a") }
      for text in ["", "[]", "{\"n\":", "x"] {
        try withDatabase(of: "store", in: directory) { connection in
          let statement = try connection.statement("UPDATE local_documents SET body = ?1")
          try statement.bind(text, at: 1)
          try statement.run()
        }
        #expect(datastoreError { try store.read { try $0.localDocument(withID: "a") } }?.code == .corrupt)
        #expect(
          try store.checkIntegrity().map(\.description)
            == ["body: document \"a\": the body of the local document differs from what was saved"])
      }
    }
  }
}
