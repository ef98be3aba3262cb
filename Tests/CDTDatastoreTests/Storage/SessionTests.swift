import CDTDatastore
import CDTSQLite
import CDTTestSupport
import Testing

@Suite struct SessionTests {
  @Test func `the newest thousand writers are remembered`() throws {
    try withTemporaryDirectory { directory in
      func write(_ id: String) throws {
        let manager = try DatastoreManager(directory: directory)
        try manager.datastore(named: "store").createDocument(from: DocumentDraft(id: id, body: [:]))
        try manager.closeDatastore(named: "store")
      }
      for number in 0..<3 { try write("a\(number)") }
      let file = try Connection(path: "\(directory)/store/db.sync", mode: .readWrite)
      #expect(try file.scalar("SELECT count(*) FROM sessions") == 3)
      try file.execute(
        """
        WITH RECURSIVE n(i) AS (VALUES(4) UNION ALL SELECT i + 1 FROM n WHERE i < 1_100)
        INSERT INTO sessions SELECT -i, 'of the past' FROM n
        """.replacing("_", with: ""))
      file.close()
      try write("b")
      let after = try Connection(path: "\(directory)/store/db.sync", mode: .readOnly)
      defer { after.close() }
      #expect(try after.scalar("SELECT count(*) FROM sessions") == 1_000)
      #expect(try after.scalar("SELECT count(*) FROM sessions WHERE start > 0") == 4)
    }
  }
}
