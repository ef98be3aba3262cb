import CDTDatastore
import CDTImport
import CDTJSON
import CDTSQLite
import CDTTestSupport
import Testing

/// Errors of SQLite that name no place and no remedy by themselves.
@Suite struct SQLiteErrorTests {
  @Test func `locks of the log that change hands too fast are busy`() {
    // SQLITE_PROTOCOL
    let error = DatastoreError(
      SQLiteError(extendedCode: 15, message: "locking protocol"), path: "people/contacts")
    #expect(error.code == .busy)
    #expect(error.message == "another process is writing to people/contacts; try again later")
  }

  @Test func `a volume without shared memory is named, with the remedy`() async throws {
    try await withTemporaryDirectory { directory in
      let (status, output) = try await BuiltProgram("cdt-store-worker", ["network", directory]).ended()
      #expect(status == 0)
      let report = try JSONObject(parsing: output)
      #expect(report["code"] == "io")
      #expect(
        report["message"]?.stringValue?.hasSuffix(
          "can't be used: the volume has no shared memory for a write-ahead log; move it to a local disk")
          == true, "\(output)")
    }
  }

  @Test(arguments: [Int32(3_039_004), nil])
  func `an SQLite that can't be used is replaced by another`(version: Int32?) throws {
    let error = try #require(
      #expect(throws: SQLiteError.self) {
        try Connection(
          path: ":memory:", mode: .readWriteCreate, libraryVersion: version ?? 3_051_003,
          hasOption: { $0 == "THREADSAFE=0" })
      })
    let published = DatastoreError(error)
    #expect(published.code == .oldSQLite)
    #expect(
      published.message
        == (version == nil
          ? "SQLite was built with SQLITE_THREADSAFE=0, so it can't be used for datastores; use an SQLite that was built without it"
          : "SQLite 3.39.4 is older than 3.40.0; install a newer libsqlite3"))
  }

  @Test func `a check that lacks memory finds no damage`() {
    let finding = "*** in database main ***\nPage 21: unable to get the page. error code=7"
    #expect(SQLiteError(findingOfIntegrityCheck: finding)?.isOutOfMemory == true)
    let damage = "*** in database main ***\nPage 21: never used"
    #expect(SQLiteError(findingOfIntegrityCheck: damage) == nil)
  }

  @Test func `an import without memory says so`() {
    // SQLITE_NOMEM
    let error = TouchDBError(SQLiteError(extendedCode: 7, message: "out of memory"), path: "tasks.touchdb")
    #expect(error.code == .unreadable)
    #expect(error.message == "there is not enough memory to read it; close other programs and try again")
  }
}
