import CDTDatastore
import CDTImport
import CDTSQLite
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
