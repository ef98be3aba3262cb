import CDTCSQLite
import CDTTestSupport
import Foundation
import Testing

@testable import CDTSQLite

@Suite struct CheckedFileTests {
  /// Runs `body` with the path of a closed database whose pages have checksums, or not.
  private func withDatabase(checked: Bool = true, _ body: (_ path: String) throws -> Void) throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let path = "\(directory)/file"
    let connection = try Connection(path: path, mode: .readWriteCreate, checksPages: checked)
    try connection.execute(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE t (number INTEGER PRIMARY KEY, text TEXT);
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300)
        INSERT INTO t SELECT x, printf('%0*d', x * 20, x) FROM n;
      """)
    connection.close()
    try body(path)
  }

  private func sum(_ path: String, checksPages: Bool = true) throws -> Int64 {
    let connection = try Connection(path: path, mode: .readOnly, checksPages: checksPages)
    defer { connection.close() }
    return try connection.scalar("SELECT sum(length(text) + number) FROM t")
  }

  private let sum: Int64 = 300 * 301 / 2 * 21

  private func edit(_ path: String, _ change: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: URL(filePath: path))
    change(&data)
    try data.write(to: URL(filePath: path))
  }

  @Test func `every page of a new file has a checksum`() throws {
    try withDatabase { path in
      let data = try Data(contentsOf: URL(filePath: path))
      #expect(data[20] == 8)
      #expect(data.count > 100 * 4_096)
      for number in 1...data.count / 4_096 {
        let page = Data(data[((number - 1) * 4_096)..<(number * 4_096)])
        #expect(page.withUnsafeBytes { PageChecksum.isValid($0, number: Int64(number)) })
        #expect(page.withUnsafeBytes { !PageChecksum.isValid($0, number: Int64(number + 1)) })
      }
      let connection = try Connection(path: path, mode: .readOnly)
      #expect(try connection.hasPageChecksums())
      #expect(try sum(path) == sum)
    }
  }

  @Test(arguments: [false, true])
  func `a transaction that makes the file longer may drop what it has made`(isEncrypted: Bool) throws {
    try withTemporaryDirectory { directory in
      let cipher = isEncrypted ? DatabaseCipher(key: (0..<32).map { UInt8($0) }) : nil
      let seed = UInt64.random(in: 0..<1_000_000)
      var random = SeededGenerator(seed: seed)
      for round in 0..<12 {
        let path = "\(directory)/file\(round)"
        let connection = try Connection(path: path, mode: .readWriteCreate, cipher: cipher)
        defer { connection.close() }
        try connection.execute("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
        try connection.execute("PRAGMA cache_size = \(round % 2 == 0 ? 10 : 2_000); CREATE TABLE kept (x, y)")
        // With a log, and without one.
        if round % 3 == 0 { _ = try connection.checkpointsWholeLog() }
        try connection.execute("BEGIN IMMEDIATE")
        for number in 0..<6 {
          try connection.execute(
            """
            CREATE TABLE t\(number) (x, y); CREATE INDEX i\(number) ON t\(number) (y);
            WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < \(Int.random(in: 1...200, using: &random)))
              INSERT INTO t\(number) SELECT x, printf('%0*d', \(Int.random(in: 1...9_000, using: &random)), x) FROM n;
            INSERT INTO kept SELECT * FROM t\(number) WHERE x < 3;
            """)
          if number % 2 == 1 {
            try connection.execute("DROP TABLE t\(Int.random(in: number - 1...number, using: &random))")
          }
        }
        try connection.execute("COMMIT")
        #expect(try connection.scalar("SELECT count(*) FROM kept") > 0, "seed \(seed), round \(round)")
        #expect(
          try connection.scalar("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'")
            == 1)
      }
    }
  }

  @Test func `any changed bit is noticed when its page is read`() throws {
    try withDatabase { path in
      let whole = try Data(contentsOf: URL(filePath: path))
      var random = SystemRandomNumberGenerator()
      for trial in 0..<300 {
        // Each page in turn, its checksum included.
        let page = trial % (whole.count / 4_096)
        let place = page * 4_096 + Int.random(in: 0..<4_096, using: &random)
        try edit(path) { $0[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
        defer { try? whole.write(to: URL(filePath: path)) }
        // A header that does not claim checksums is for the store to notice.
        if place == 20 { continue }
        let error = #expect(throws: SQLiteError.self, "byte \(place)") { try sum(path) }
        #expect(error?.isCorrupt == true, "byte \(place): \(String(describing: error))")
        if page > 0 {
          #expect(error?.damagedFile == path)
          #expect(error?.message == "page \(page + 1) of \(path) differs from what was written")
        }
      }
      #expect(try sum(path) == sum)
    }
  }

  @Test func `pages in each other's places are noticed`() throws {
    try withDatabase { path in
      try edit(path) { data in
        let (one, other) = (Data(data[(9 * 4_096)..<(10 * 4_096)]), Data(data[(90 * 4_096)..<(91 * 4_096)]))
        data.replaceSubrange((9 * 4_096)..<(10 * 4_096), with: other)
        data.replaceSubrange((90 * 4_096)..<(91 * 4_096), with: one)
      }
      #expect(throws: SQLiteError.self) { try sum(path) }
    }
  }

  @Test func `other programs can read the file, and their changes are noticed`() throws {
    try withDatabase { path in
      #expect(try sum(path, checksPages: false) == sum)
      let connection = try Connection(path: path, mode: .readWrite, checksPages: false)
      try connection.execute("UPDATE t SET text = 'x' WHERE number = 1")
      connection.close()
      #expect(throws: SQLiteError.self) { try sum(path) }
    }
  }

  @Test func `a file without checksums is read and written as it is`() throws {
    try withDatabase(checked: false) { path in
      let connection = try Connection(path: path, mode: .readWrite)
      #expect(try !connection.hasPageChecksums())
      try connection.execute("UPDATE t SET text = text")
      connection.close()
      #expect(try sum(path, checksPages: false) == sum)
      #expect(try Data(contentsOf: URL(filePath: path))[20] == 0)
    }
  }

  @Test func `pages of another size are verified by a connection that was open before`() throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/file"
      let reader = try Connection(path: path, mode: .readWriteCreate)
      defer { reader.close() }
      #expect(try reader.scalar("SELECT count(*) FROM sqlite_schema") == 0)
      let writer = try Connection(path: path, mode: .readWriteCreate)
      defer { writer.close() }
      try writer.execute(
        """
        PRAGMA page_size = 1024;
        CREATE TABLE t (text TEXT);
        INSERT INTO t VALUES (printf('%0*d', 20000, 1));
        """)
      #expect(try reader.scalar("SELECT sum(length(text)) FROM t") == 20_000)
      #expect(try reader.hasPageChecksums())
      try edit(path) { $0[5 * 1_024 + 1_000] ^= 1 }
      try reader.execute("PRAGMA shrink_memory")
      let error = #expect(throws: SQLiteError.self) {
        try reader.scalar("SELECT count(*) FROM t WHERE text > ''")
      }
      #expect(error?.message == "page 6 of \(path) differs from what was written")
    }
  }

  /// SQLite reads a part of a page where it needs no more of a long value.
  @Test func `a part of a page is verified with its page`() throws {
    try withDatabase { path in
      let connection = try Connection(path: path, mode: .readOnly)
      var file: UnsafeMutablePointer<sqlite3_file>?
      let handle = connection.handle
      _ = try connection.scalar("SELECT count(*) FROM t")
      #expect(sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK)
      let opened = try #require(file)
      let methods = opened.pointee.pMethods.pointee
      var buffer = [UInt8](repeating: 0, count: 4_088)
      #expect(methods.xRead(opened, &buffer, 4_088, 5 * 4_096) == SQLITE_OK)
      let page = try Data(contentsOf: URL(filePath: path))[(5 * 4_096)..<(5 * 4_096 + 4_088)]
      #expect(buffer == [UInt8](page))
      #expect(methods.xRead(opened, &buffer, 10, 5 * 4_096 + 100) == SQLITE_OK)
      try edit(path) { $0[5 * 4_096 + 4_000] ^= 1 }
      connection.close()
      let again = try Connection(path: path, mode: .readOnly)
      defer { again.close() }
      _ = try? again.scalar("SELECT count(*) FROM t")
      #expect(
        sqlite3_file_control(again.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK)
      let damaged = try #require(file)
      let reread = damaged.pointee.pMethods.pointee
      #expect(reread.xRead(damaged, &buffer, 10, 5 * 4_096 + 100) == SQLiteError.damagedPageCode)
      #expect(reread.xRead(damaged, &buffer, 10, 6 * 4_096 + 100) == SQLITE_OK)
    }
  }
}
