import CDTTestSupport
import Foundation
import Testing

@testable import CDTSQLite

/// Thousands of random changes of the pages and of the log of an encrypted database. Each is noticed.
@Suite struct SealedDatabaseTests {
  private static let cipher = DatabaseCipher(key: (0..<32).map { UInt8($0) })
  private static let pageSize = DatabaseCipher.pageSize
  private static let sum: Int64 = 60 * 61 / 2 * 31

  private struct Database {
    let path: String
    let connection: Connection

    /// - Parameter keepsLog: Whether the log stays when the connection is closed.
    init(in directory: String, keepsLog: Bool) throws {
      path = "\(directory)/file"
      connection = try Connection(path: path, mode: .readWriteCreate, cipher: cipher)
      connection.setKeepsLogOnClose(keepsLog)
      try connection.execute(
        """
        PRAGMA journal_mode = WAL;
        CREATE TABLE t (number INTEGER PRIMARY KEY, text TEXT);
        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 60)
          INSERT INTO t SELECT x, printf('%0*d', x * 30, 0) FROM n
        """)
    }

    func update() throws { try connection.execute("UPDATE t SET text = printf('%0*d', number * 30, number)") }

    /// Reads every page that has rows.
    func read() throws -> Int64 {
      let connection = try Connection(path: path, mode: .readOnly, cipher: cipher)
      defer { connection.close() }
      return try connection.scalar("SELECT sum(length(text) + number) FROM t")
    }
  }

  private static func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path)))
  }

  /// Replaces a part of a file where it is.
  private static func write(_ bytes: some Collection<UInt8>, to path: String, at offset: Int) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? file.close() }
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data(bytes))
  }

  @Test func `5,000 changed, exchanged and earlier pages are told by their number`() throws {
    try withTemporaryDirectory { directory in
      let database = try Database(in: directory, keepsLog: false)
      _ = try database.connection.scalar("PRAGMA wal_checkpoint(TRUNCATE)")
      let former = try Self.bytes(database.path)
      try database.update()
      database.connection.close()
      let now = try Self.bytes(database.path)
      #expect(try database.read() == Self.sum)
      let changed = stride(from: 0, to: min(former.count, now.count), by: Self.pageSize).filter {
        former[$0..<$0 + Self.pageSize] != now[$0..<$0 + Self.pageSize]
      }
      #expect(changed.count > 10)
      var random = SeededGenerator(seed: .random(in: 0..<1_000_000))
      for number in 0..<5_000 {
        let start = try #require(changed.randomElement(using: &random))
        var page = Array(now[start..<start + Self.pageSize])
        switch number % 3 {
        case 0:
          // The rest of the first page's header is not authenticated, as SQLite's mark is in its place.
          let byte = Int.random(in: (start == 0 ? 16 : 0)..<Self.pageSize, using: &random)
          page[byte] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1:
          let other = try #require(changed.filter { $0 != start }.randomElement(using: &random))
          page = Array(now[other..<other + Self.pageSize])
        default: page = Array(former[start..<start + Self.pageSize])
        }
        try Self.write(page, to: database.path, at: start)
        let error = #expect(throws: SQLiteError.self) { try database.read() }
        let isTold =
          error?.message.contains("page \(start / Self.pageSize + 1) of \(database.path)") == true
          || start == 0 && error != nil
        #expect(isTold, "\(number): \(error?.message ?? "")")
        try Self.write(now[start..<start + Self.pageSize], to: database.path, at: start)
      }
      #expect(try database.read() == Self.sum)
    }
  }

  @Test func `5,000 changed and exchanged frames of the log are told`() throws {
    try withTemporaryDirectory { directory in
      let database = try Database(in: directory, keepsLog: true)
      try database.update()
      database.connection.close()
      let log = LogFile.path(of: database.path)
      let now = try Self.bytes(log)
      let length = SealedLog.frameLength
      let count = (now.count - SealedLog.headerLength) / length
      #expect(count > 20)
      #expect(try LogLoss.find(inLogOf: database.path, cipher: Self.cipher) == nil)
      var random = SeededGenerator(seed: .random(in: 0..<1_000_000))
      for number in 0..<5_000 {
        // What follows the last frame is not there, so its loss can't be told from a write that was cut off.
        let frame = Int.random(in: 0..<count - 1, using: &random)
        let start = SealedLog.headerLength + frame * length
        var bytes = Array(now[start..<start + length])
        if number % 2 == 0 {
          bytes[Int.random(in: 0..<length, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        } else {
          let other = (frame + Int.random(in: 1..<count, using: &random)) % count
          let place = SealedLog.headerLength + other * length
          bytes = Array(now[place..<place + length])
        }
        try Self.write(bytes, to: log, at: start)
        #expect(try LogLoss.find(inLogOf: database.path, cipher: Self.cipher) != nil, "\(number): \(frame)")
        try Self.write(now[start..<start + length], to: log, at: start)
      }
      #expect(try LogLoss.find(inLogOf: database.path, cipher: Self.cipher) == nil)
    }
  }
}
