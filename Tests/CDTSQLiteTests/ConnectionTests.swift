import CDTCSQLite
import CDTSQLite
import CDTTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

/// The version that `scripts/test-with-newest-sqlite.sh` has had the tests load.
private let expectedVersion = ProcessInfo.processInfo.environment["EXPECTED_SQLITE"]

@Suite struct ConnectionTests {
  @Test(.enabled(if: expectedVersion != nil))
  func `the SQLite that is loaded is the one that the run is for`() {
    #expect(String(cString: sqlite3_libversion()) == expectedVersion)
  }

  @Test func `rows come back in order, and the statement is reset after the last`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (3)")
    let statement = try connection.statement("SELECT x FROM t ORDER BY x")
    for _ in 0..<2 {
      var seen: [Int64] = []
      while try statement.step() { seen.append(statement.int64(0)) }
      #expect(seen == [1, 2, 3])
      #expect(statement.isNull(0))
    }
    #expect(try connection.scalar("SELECT count(*) FROM t") == 3)
    #expect(try connection.scalar("SELECT x FROM t WHERE x > 9") == 0)
    #expect(connection.lastInsertRowID == 3)
  }

  @Test func `a database in memory makes no file`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.execute("CREATE TABLE t (x)")
    #expect(!FileManager.default.fileExists(atPath: ":memory:"))
  }

  @Test(.enabled(if: !SQLiteLibrary.hasOption("DEFAULT_MEMSTATUS=0"), "it counts memory"))
  func `the settings of SQLite that all of a process shares are left alone`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.execute("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(1000000))")
    #expect(sqlite3_memory_used() > 1_000_000)
  }

  @Test func `an SQLite that is too old is refused by its version`() throws {
    let error = #expect(throws: SQLiteError.self) {
      try Connection(path: ":memory:", mode: .readWriteCreate, libraryVersion: 3_039_004)
    }
    #expect(error?.isOldLibrary == true)
    #expect(error?.message == "SQLite 3.39.4 is older than 3.40.0")
  }

  static let unusable = [
    ("THREADSAFE=0", true), ("OMIT_WAL", true), ("OMIT_AUTOVACUUM", true), ("TEMP_STORE=0", false),
  ]

  @Test(arguments: unusable) func `an SQLite without what databases need is refused by the option`(
    option: String, isForAll: Bool
  ) throws {
    func open(_ cipher: DatabaseCipher?) throws(SQLiteError) -> Connection {
      try Connection(path: ":memory:", mode: .readWriteCreate, cipher: cipher, hasOption: { $0 == option })
    }
    let cipher = DatabaseCipher(key: Array(repeating: 1, count: 32))
    let error = #expect(throws: SQLiteError.self) { try open(isForAll ? nil : cipher) }
    #expect(error?.isUnusableLibrary == true)
    let kind = isForAll ? "" : "encrypted "
    let message = "SQLite was built with SQLITE_\(option), so it can't be used for \(kind)datastores"
    #expect(error?.message == message)
    if !isForAll { _ = try open(nil) }
  }

  @Test func `synchronized bytes are on the disk, not in its cache`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    #expect(try connection.scalar("PRAGMA fullfsync") == 1)
  }

  @Test func `a page that is added and freed at once is written`() throws {
    try withTemporaryDirectory { directory in
      let connection = try Connection(path: "\(directory)/file", mode: .readWriteCreate)
      try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE kept (x)")
      try connection.execute(
        "BEGIN; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(20000)); DROP TABLE t; COMMIT")
      #expect(try connection.scalar("PRAGMA freelist_count") > 4)
      connection.close()
      #expect(try RawDatabase.pagesWithoutChecksum(in: "\(directory)/file").isEmpty)
    }
  }

  @Test func `the options of SQLite are those that it lists`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    let statement = try connection.statement("PRAGMA compile_options")
    var options = Set<String>()
    while try statement.step() { options.insert(statement.text(0)) }
    #expect(SQLiteLibrary.hasFullText == options.contains("ENABLE_FTS5"))
    #expect(SQLiteLibrary.hasSizes == options.contains("ENABLE_DBSTAT_VTAB"))
    #expect(options.allSatisfy(SQLiteLibrary.hasOption))
  }

  @Test func `an error has the extended code and the SQL, but no bound value`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.execute("CREATE TABLE t (x UNIQUE)")
    let sql = "INSERT INTO t VALUES (?1)"
    let statement = try connection.statement(sql)
    try statement.bind("secret", at: 1)
    try statement.run()
    let error = #expect(throws: SQLiteError.self) { try statement.run() }
    #expect(error?.extendedCode == 2067)  // SQLITE_CONSTRAINT_UNIQUE
    #expect(error?.code == SQLITE_CONSTRAINT)
    #expect(error?.isConstraint == true)
    #expect(error?.sql == sql)
    #expect(
      error?.description
        == #"UNIQUE constraint failed: t.x (SQLite code 2067) in "INSERT INTO t VALUES (?1)""#)
    #expect(error?.description.contains("secret") == false)
  }

  @Test func `SQL that is wrong or empty is an error`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    #expect(throws: SQLiteError.self) { try connection.statement("SELEC 1") }
    #expect(throws: SQLiteError.self) { try connection.execute("SELEC 1") }
    let empty = #expect(throws: SQLiteError.self) { try connection.statement("  -- nothing") }
    #expect(empty?.message == "the SQL is empty")
    let unknown = #expect(throws: SQLiteError.self) { try connection.statement("SELECT x FROM missing") }
    #expect(unknown?.isUnknownName == true)
    #expect(unknown?.sql == "SELECT x FROM missing")
  }

  @Test func `a position that no parameter has is an error`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    let statement = try connection.statement("SELECT ?1")
    for position in [0, 2, -1, Int.max, Int.min] {
      let error = #expect(throws: SQLiteError.self) { try statement.bind(Int64(1), at: position) }
      #expect(error?.code == SQLITE_RANGE)
    }
  }

  @Test func `a column that is not there is NULL`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    let statement = try connection.statement("SELECT 1")
    #expect(statement.columnCount == 1)
    #expect(statement.isNull(0))
    #expect(try statement.step())
    for column in [1, -1, Int(Int32.max)] {
      #expect(statement.isNull(column))
      #expect(statement.int64(column) == 0)
      #expect(statement.double(column) == 0)
      #expect(statement.text(column) == "")
    }
  }

  @Test func `everything throws once the connection is closed`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
    let cached = try connection.statement("SELECT x FROM t")
    #expect(try cached.step())
    let second = try connection.statement("SELECT x FROM t")
    #expect(try second.step())
    connection.close()
    connection.close()
    #expect(connection.isClosed)
    #expect(!connection.isInTransaction)
    for statement in [cached, second] {
      let error = #expect(throws: SQLiteError.self) { try statement.step() }
      #expect(error?.code == SQLITE_MISUSE)
      #expect(error?.message == "the connection is closed")
      #expect(throws: SQLiteError.self) { try statement.bind("x", at: 1) }
      #expect(statement.isNull(0))
      #expect(statement.text(0) == "")
      #expect(statement.columnCount == 0)
      statement.reset()
    }
    #expect(throws: SQLiteError.self) { try connection.execute("SELECT 1") }
    #expect(throws: SQLiteError.self) { try connection.statement("SELECT 1") }
    #expect(throws: SQLiteError.self) { try connection.attach(path: ":memory:", as: "other") }
    #expect(throws: SQLiteError.self) { try connection.transaction(.immediate) {} }
    connection.setProgressCheck { false }
    connection.setKeepsLogOnClose(true)
  }

  @Test func `a statement outlives its connection as an error`() throws {
    let statement: Statement
    do {
      let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
      statement = try connection.statement("SELECT 1")
    }
    #expect(throws: SQLiteError.self) { try statement.step() }
  }

  @Test func `closing ends statements that the cache has let go`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    let first = try connection.statement("SELECT 0")
    for number in 1...200 { _ = try connection.statement("SELECT \(number)") }
    #expect(try connection.statement("SELECT 0") !== first)
    #expect(try first.step())
    connection.close()
    #expect(throws: SQLiteError.self) { try first.step() }
  }

  @Test func `a cached statement is used again, with nothing bound`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    let first = try connection.statement("SELECT ?1")
    try first.bind(Int64(7), at: 1)
    #expect(try first.step())
    first.reset()
    let again = try connection.statement("SELECT ?1")
    #expect(again === first)
    #expect(try again.step())
    #expect(again.isNull(0))
  }

  @Test func `a statement that is being stepped is left alone`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
    let outer = try connection.statement("SELECT x FROM t ORDER BY x")
    var seen: [[Int64]] = []
    while try outer.step() {
      let inner = try connection.statement("SELECT x FROM t ORDER BY x")
      #expect(inner !== outer)
      while try inner.step() { seen.append([outer.int64(0), inner.int64(0)]) }
    }
    #expect(seen == [[1, 1], [1, 2], [2, 1], [2, 2]])
  }

  @Test func `a transaction is kept whole or not at all`() throws {
    struct Failure: Error {}
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.execute("CREATE TABLE t (x)")
    for kind in [Connection.TransactionKind.deferred, .immediate] {
      #expect(throws: Failure.self) {
        try connection.transaction(kind) {
          try connection.execute("INSERT INTO t VALUES (1)")
          #expect(connection.isInTransaction)
          throw Failure()
        }
      }
      #expect(!connection.isInTransaction)
    }
    #expect(try connection.scalar("SELECT count(*) FROM t") == 0)
    let result = try connection.transaction(.immediate) {
      try connection.execute("INSERT INTO t VALUES (1)")
      return connection.changes
    }
    #expect(result == 1)
    #expect(try connection.scalar("SELECT count(*) FROM t") == 1)
    #expect(throws: SQLiteError.self) {
      try connection.transaction(.deferred) { try connection.transaction(.deferred) {} }
    }
    #expect(!connection.isInTransaction)
  }

  private static let endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

  @Test func `a check that says no ends what runs`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    var questions = 0
    connection.setProgressCheck {
      questions += 1
      return questions < 10
    }
    let error = #expect(throws: SQLiteError.self) { try connection.execute(Self.endless) }
    #expect(error?.isInterrupted == true)
    #expect(questions == 10)
    connection.setProgressCheck(nil)
    #expect(try connection.scalar("SELECT 7") == 7)
  }

  @Test func `rows are inserted many at a time, and those that are refused are not counted`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.execute("CREATE TABLE t (x PRIMARY KEY, y)")
    let insertion = RowInsertion("INSERT INTO t (x, y)", row: "(?, ?)", tail: "ON CONFLICT DO NOTHING")
    for count in [0, 1, 63, 64, 65, 200] {
      try connection.execute("DELETE FROM t")
      let texts = (0..<count).map { Array("row \($0 / 2)".utf8) }
      let inserted = try insertion.run(count, on: connection) {
        row, statement, position throws(SQLiteError) in
        try statement.bind(text: texts[row], at: position)
        try statement.bind(Int64(row), at: position + 1)
      }
      #expect(inserted == (count + 1) / 2)
      #expect(try connection.scalar("SELECT count(*) FROM t WHERE x = 'row ' || (y / 2)") == Int64(inserted))
    }
  }
}

@Suite struct FileTests {
  @Test func `a missing file is opened only for creating`() throws {
    try withTemporaryPath { path in
      for mode in [Connection.Mode.readOnly, .readWrite] {
        let error = #expect(throws: SQLiteError.self) { try Connection(path: path, mode: mode) }
        #expect(error?.code == SQLITE_CANTOPEN)
        #expect(error?.message == "\(path): unable to open database file: No such file or directory")
      }
      #expect(!FileManager.default.fileExists(atPath: path))
      try Connection(path: path, mode: .readWriteCreate).execute("CREATE TABLE t (x)")
      #expect(FileManager.default.fileExists(atPath: path))
    }
  }

  @Test func `a connection for reading refuses to write`() throws {
    try withTemporaryPath { path in
      try Connection(path: path, mode: .readWriteCreate).execute("CREATE TABLE t (x)")
      let connection = try Connection(path: path, mode: .readOnly)
      let error = #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO t VALUES (1)") }
      #expect(error?.isReadOnly == true)
      #expect(try connection.scalar("SELECT count(*) FROM t") == 0)
    }
  }

  @Test func `an obstacle to reading a page is not a finding about the page`() throws {
    try withTemporaryPath { path in
      let connection = try Connection(path: path, mode: .readWriteCreate)
      try connection.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
      #expect(try connection.integrityFindings() == [])
    }
    for (code, isFailure) in [
      (SQLITE_NOMEM, true), (SQLITE_IOERR, true), (SQLITE_IOERR | 1 << 8, true), (SQLITE_INTERRUPT, true),
      (SQLITE_CORRUPT, false), (SQLITE_NOTADB, false), (SQLITE_IOERR | 2 << 8, false),
    ] {
      let finding = "*** in database main ***\nPage 11: unable to get the page. error code=\(code)"
      #expect(
        SQLiteError(findingOfIntegrityCheck: finding)?.extendedCode == (isFailure ? code : nil), "\(code)")
    }
    #expect(SQLiteError(findingOfIntegrityCheck: "row 1 missing from index i") == nil)
    let words = "the inverted index for FTS5 table main.t"
    #expect(SQLiteError(findingOfIntegrityCheck: "malformed \(words)") == nil)
    #expect(
      SQLiteError(findingOfIntegrityCheck: "unable to validate \(words): out of memory")?.isCorrupt == false)
  }

  @Test func `a file other than a database is corrupt when it is read`() throws {
    try withTemporaryPath { path in
      try Data(repeating: 0x41, count: 4096).write(to: URL(filePath: path))
      let connection = try Connection(path: path, mode: .readWrite)
      let error = #expect(throws: SQLiteError.self) { try connection.scalar("PRAGMA user_version") }
      #expect(error?.isCorrupt == true)
      #expect(error?.code == SQLITE_NOTADB)
    }
  }

  @Test func `a path with a NUL is refused, not cut`() throws {
    try withTemporaryPath { path in
      #expect(throws: SQLiteError.self) { try Connection(path: "\(path)\0x", mode: .readWriteCreate) }
      #expect(!FileManager.default.fileExists(atPath: path))
      let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
      #expect(throws: SQLiteError.self) { try connection.attach(path: "\(path)\0x", as: "other") }
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test func `a path that looks like a URI is a path`() throws {
    let name = "file:\(UUID().uuidString)?mode=memory"
    let path = "\(FileManager.default.currentDirectoryPath)/\(name)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Connection(path: name, mode: .readWriteCreate).execute("CREATE TABLE t (x)")
    #expect(FileManager.default.fileExists(atPath: path))
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.attach(path: name, as: "other")
    #expect(try connection.scalar("SELECT count(*) FROM other.t") == 0)
  }

  @Test func `another connection's lock is busy after the timeout`() throws {
    try withTemporaryPath { path in
      let holder = try Connection(path: path, mode: .readWriteCreate)
      try holder.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
      for timeout in [Duration.milliseconds(10), .zero, .seconds(-5)] {
        let other = try Connection(path: path, mode: .readWrite, busyTimeout: timeout)
        try holder.transaction(.immediate) {
          let error = #expect(throws: SQLiteError.self) { try other.transaction(.immediate) {} }
          #expect(error?.isBusy == true)
          #expect(!other.isInTransaction)
        }
        try other.transaction(.immediate) {}
      }
    }
  }

  @Test func `a cache of any size is taken`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    for (bytes, kibibytes) in [(Int.min, 1), (0, 1), (4_096, 4), (Int.max, Int64(Int32.max))]
      as [(Int, Int64)]
    {
      try connection.setCacheSize(bytes)
      #expect(try connection.scalar("PRAGMA cache_size") == -kibibytes)
    }
  }

  @Test func `a timeout beyond all bounds is taken`() throws {
    for seconds in [Int64.max, Int64.max / 1000, Int64.min, -1] {
      _ = try Connection(path: ":memory:", mode: .readWrite, busyTimeout: .seconds(seconds))
    }
  }

  @Test(arguments: [true, false]) func `the log is left where that was asked for`(_ keeps: Bool) throws {
    try withTemporaryPath { path in
      let connection = try Connection(path: path, mode: .readWriteCreate)
      try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
      connection.setKeepsLogOnClose(keeps)
      connection.close()
      #expect(FileManager.default.fileExists(atPath: "\(path)-wal") == keeps)
      #expect(try Connection(path: path, mode: .readWrite).scalar("SELECT count(*) FROM t") == 0)
    }
  }
}

func withTemporaryPath<R>(_ body: (String) throws -> R) throws -> R {
  try withTemporaryDirectory { try body("\($0)/file.db") }
}
