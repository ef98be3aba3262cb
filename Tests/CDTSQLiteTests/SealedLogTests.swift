import CDTCSQLite
import CDTDigest
import CDTTestSupport
import Foundation
import Testing

@testable import CDTSQLite

/// The log of an encrypted database with transactions that are larger than SQLite's cache.
@Suite struct SealedLogTests {
  private static let cipher = DatabaseCipher(key: (0..<32).map { UInt8($0) })

  /// A table of some hundred pages, on a connection with a cache of ten.
  private static func open(_ path: String, _ cipher: DatabaseCipher? = cipher, cache: Int = 10) throws
    -> Connection
  {
    let connection = try Connection(path: path, mode: .readWriteCreate, cipher: cipher)
    connection.setKeepsLogOnClose(true)
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA cache_size = \(cache)")
    return connection
  }

  private static let table = """
    CREATE TABLE t (number INTEGER PRIMARY KEY, value INTEGER, text TEXT);
    CREATE INDEX byValue ON t (value, text);
    WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 600)
      INSERT INTO t SELECT x, x * 7919 % 600, printf('%0*d', x % 300, x) FROM n
    """

  private static func content(_ connection: Connection) throws -> [String] {
    let statement = try connection.statement("SELECT number, value, text FROM t ORDER BY number")
    defer { statement.reset() }
    var rows: [String] = []
    while try statement.step() {
      rows.append("\(statement.int64(0)) \(statement.int64(1)) \(statement.text(2))")
    }
    return rows
  }

  /// The log of a connection's database.
  private static func log(of connection: Connection) throws -> SealedLog {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = withUnsafeMutablePointer(to: &file) {
      sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, $0)
    }
    #expect(code == SQLITE_OK)
    return try #require(SealedLogFile.of(file)).log
  }

  /// A random change of many rows or few, which is the same on every connection.
  private static func change(_ random: inout SeededGenerator) -> String {
    let (first, factor) = (
      Int.random(in: 1...600, using: &random), Int.random(in: 1...599, using: &random)
    )
    return switch Int.random(in: 0..<6, using: &random) {
    case 0: "UPDATE t SET value = (value + \(factor)) % 600"
    case 1: "UPDATE t SET text = printf('%0*d', (number * \(factor)) % 400, \(factor)) WHERE number % 3 = 0"
    case 2: "UPDATE t SET value = \(factor) WHERE number = \(first)"
    case 3: "DELETE FROM t WHERE number BETWEEN \(first) AND \(first + 50)"
    case 4:
      """
      INSERT OR REPLACE INTO t SELECT number + \(factor), value, text FROM t WHERE number % 5 = \(first % 5)
      """
    default: "UPDATE t SET text = text || 'x' WHERE value < \(factor)"
    }
  }

  @Test(arguments: [10, 2_000])
  func `random transactions with savepoints and rollbacks leave what they leave in a plain database`(
    cache: Int
  ) throws {
    try withTemporaryDirectory { directory in
      let seed = UInt64.random(in: 0..<1_000_000)
      var random = SeededGenerator(seed: seed)
      let paths = ["\(directory)/sealed", "\(directory)/plain"]
      var connections = [
        try Self.open(paths[0], cache: cache), try Self.open(paths[1], nil, cache: cache),
      ]
      for connection in connections { try connection.execute(Self.table) }
      var writes: Set<SealedLog.Write> = []
      for round in 0..<40 {
        if round == 0 || round % 20 == 0 {
          // What is in the log is found again by the next connection.
          for connection in connections { connection.close() }
          #expect(try LogLoss.find(inLogOf: paths[0], cipher: Self.cipher) == nil, "seed \(seed)")
          connections = [
            try Self.open(paths[0], cache: cache), try Self.open(paths[1], nil, cache: cache),
          ]
          _ = try connections[0].scalar("SELECT count(*) FROM t")
          try Self.log(of: connections[0]).onWrite = { writes.insert($0) }
        }
        var statements: [String] = []
        for step in 0..<Int.random(in: 1...4, using: &random) {
          statements.append(Self.change(&random))
          switch Int.random(in: 0..<4, using: &random) {
          // An older SQLite could lose the transaction then (docs/reliability.md, Defects of SQLite).
          case 0 where sqlite3_libversion_number() >= 3_050_002:
            statements += ["SAVEPOINT s\(step)", Self.change(&random), "ROLLBACK TO s\(step)"]
          case 1: statements += ["SAVEPOINT s\(step)", Self.change(&random), "RELEASE s\(step)"]
          default: break
          }
        }
        let end = Int.random(in: 0..<4, using: &random) == 0 ? "ROLLBACK" : "COMMIT"
        for connection in connections {
          try connection.execute((["BEGIN IMMEDIATE"] + statements + [end]).joined(separator: ";"))
        }
        if round % 7 == 0 { for connection in connections { _ = try connection.checkpointsWholeLog() } }
        let wanted = try Self.content(connections[1])
        let other = try Connection(path: paths[0], mode: .readOnly, cipher: Self.cipher)
        defer { other.close() }
        try #require(try Self.content(other) == wanted, "seed \(seed), round \(round)")
        try #require(try Self.content(connections[0]) == wanted, "seed \(seed), round \(round)")
      }
      #expect(try connections[0].scalar("SELECT count(*) FROM pragma_integrity_check WHERE 1") == 1)
      // Every way in which a log can be written has been tried.
      if cache == 10 { #expect(writes == Set(SealedLog.Write.allCases)) }
      for connection in connections { connection.close() }
    }
  }

  /// Seals a decrypted frame as earlier versions did with those of large transactions.
  private static func sealWithoutSalts(_ frame: inout [UInt8], number: Int64) {
    let context =
      withUnsafeBytes(of: number.littleEndian) { Array($0) } + frame[..<8]
      + [UInt8](repeating: 0, count: 8)
    frame.withUnsafeMutableBytes { bytes in
      let page = UnsafeMutableRawBufferPointer(rebasing: bytes[SealedLog.frameHeaderLength...])
      context.withUnsafeBytes { AuthenticatedCipher(key: cipher.logKey).seal(page, with: $0) }
      if let block = bytes.baseAddress { BlockCipher(key: cipher.headerKey).encrypt(block + 8) }
    }
  }

  @Test func `a log whose pages an earlier version sealed without salts is read`() throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/file"
      let connection = try Self.open(path)
      try connection.execute(Self.table)
      let wanted = try Self.content(connection)
      connection.close()
      let log = LogFile.path(of: path)
      var bytes = Array(try Data(contentsOf: URL(filePath: log)))
      let sealed = SealedLog(Self.cipher)
      let count = (bytes.count - SealedLog.headerLength) / SealedLog.frameLength
      #expect(count > 50)
      for number in stride(from: 0, to: count, by: 3) {
        let range =
          SealedLog.headerLength + number * SealedLog.frameLength..<SealedLog.headerLength + (number + 1)
          * SealedLog.frameLength
        var frame = Array(bytes[range])
        #expect(sealed.open(&frame, number: Int64(number)))
        Self.sealWithoutSalts(&frame, number: Int64(number))
        bytes.replaceSubrange(range, with: frame)
      }
      try Data(bytes).write(to: URL(filePath: log))
      #expect(try LogLoss.find(inLogOf: path, cipher: Self.cipher) == nil)
      let reader = try Self.open(path)
      defer { reader.close() }
      #expect(try Self.content(reader) == wanted)
    }
  }

  /// A file in memory, with the calls that a log needs.
  private static func withFile(_ body: (SealedLog, UnsafeMutablePointer<sqlite3_file>) throws -> Void) throws
  {
    try withTemporaryDirectory { directory in
      let system = try #require(sqlite3_vfs_find(nil))
      let file = UnsafeMutableRawPointer.allocate(byteCount: Int(system.pointee.szOsFile), alignment: 16)
        .assumingMemoryBound(to: sqlite3_file.self)
      defer { file.deallocate() }
      let name = sqlite3_create_filename("\(directory)/log", "", "", 0, nil)
      defer { sqlite3_free_filename(name) }
      let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB
      try #require(system.pointee.xOpen(system, name, file, flags, nil) == SQLITE_OK)
      defer { _ = file.pointee.pMethods.pointee.xClose(file) }
      try body(SealedLog(cipher), file)
    }
  }

  private static func header(_ page: UInt8, salt: UInt8) -> [UInt8] {
    [0, 0, 0, page, 0, 0, 0, 0] + [UInt8](repeating: salt, count: 8) + [UInt8](repeating: 5, count: 8)
  }

  private static let page = (0..<DatabaseCipher.pageSize).map { UInt8(truncatingIfNeeded: $0) }

  private static func write(
    _ bytes: [UInt8], at offset: Int, _ log: SealedLog, _ file: UnsafeMutablePointer<sqlite3_file>
  ) -> Int32 {
    bytes.withUnsafeBytes { log.write(file, $0, at: Int64(offset)) }
  }

  @Test func `a header that does not fit its page is an error of the next write and of the sync`() throws {
    try Self.withFile { log, file in
      let (first, second) = (SealedLog.headerLength, SealedLog.headerLength + SealedLog.frameLength)
      let page = first + SealedLog.frameHeaderLength
      #expect(Self.write([UInt8](repeating: 7, count: SealedLog.headerLength), at: 0, log, file) == SQLITE_OK)
      #expect(Self.write(Self.header(2, salt: 7), at: first, log, file) == SQLITE_OK)
      #expect(Self.write(Self.page, at: page, log, file) == SQLITE_OK)
      #expect(log.finish(file) == SQLITE_OK)
      // The same header again is fine, also without having read the frame.
      #expect(Self.write(Self.header(2, salt: 7), at: first, log, file) == SQLITE_OK)
      #expect(log.finish(file) == SQLITE_OK)
      #expect(Self.write(Self.header(3, salt: 7), at: first, log, file) == SQLITE_OK)
      #expect(log.finish(file) != SQLITE_OK)
      #expect(Self.write(Self.header(4, salt: 7), at: second, log, file) == SQLiteError.writeCode)
      #expect(Self.write(Self.page, at: page, log, file) == SQLITE_OK)
      #expect(log.finish(file) == SQLITE_OK)
    }
  }

  @Test func `a page before its header, and a part of a frame, are not written`() throws {
    try Self.withFile { log, file in
      let first = SealedLog.headerLength
      #expect(Self.write([UInt8](repeating: 7, count: SealedLog.headerLength), at: 0, log, file) == SQLITE_OK)
      #expect(Self.write(Self.page, at: first + SealedLog.frameHeaderLength, log, file) != SQLITE_OK)
      #expect(Self.write(Array(Self.page[..<100]), at: first + 24, log, file) == SQLiteError.writeCode)
      #expect(Self.write([1, 2, 3], at: first, log, file) == SQLiteError.writeCode)
    }
  }

  @Test func `a damaged frame is cut off when the log is read first, and an error later`() throws {
    try Self.withFile { log, file in
      let first = SealedLog.headerLength
      #expect(Self.write([UInt8](repeating: 7, count: SealedLog.headerLength), at: 0, log, file) == SQLITE_OK)
      #expect(Self.write(Self.header(2, salt: 7) + Self.page, at: first, log, file) == SQLITE_OK)
      #expect(file.pointee.pMethods.pointee.xWrite(file, [1, 2, 3, 4], 4, Int64(first + 1_000)) == SQLITE_OK)
      var (buffer, damaged) = ([UInt8](repeating: 1, count: SealedLog.frameLength), Int64(0))
      func read(_ count: Int, at offset: Int) -> Int32 {
        buffer.withUnsafeMutableBytes { bytes in
          log.read(
            file, UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]), at: Int64(offset),
            damagedPage: &damaged)
        }
      }
      #expect(read(SealedLog.frameLength, at: first) == SQLiteError.damagedPageCode)
      #expect(damaged == 2)
      #expect(read(SealedLog.headerLength, at: 0) == SQLITE_OK)
      #expect(read(SealedLog.frameLength, at: first) == SQLITE_OK)
      #expect(buffer[SealedLog.frameHeaderLength...].allSatisfy { $0 == 0 })
      #expect(read(DatabaseCipher.pageSize, at: first + 24) == SQLiteError.damagedPageCode)
      #expect(
        Self.write(Self.header(3, salt: 7) + Self.page, at: first + SealedLog.frameLength, log, file)
          == SQLITE_OK)
      #expect(read(SealedLog.frameLength, at: first) == SQLiteError.damagedPageCode)
    }
  }
}
