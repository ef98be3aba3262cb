import CDTTestSupport
import Foundation
import Testing

@testable import CDTSQLite

/// Pages of encrypted databases that are kept for all connections.
@Suite struct OpenedPagesTests {
  private static let pageSize = DatabaseCipher.pageSize

  private static func connection(_ path: String, _ cipher: DatabaseCipher) throws -> Connection {
    let connection = try Connection(path: path, mode: .readWriteCreate, cipher: cipher)
    try connection.execute("PRAGMA journal_mode = WAL")
    return connection
  }

  private static func changeByte(ofPage page: Int, in path: String) throws {
    let file = try FileHandle(forUpdating: URL(filePath: path))
    defer { try? file.close() }
    let offset = UInt64((page - 1) * pageSize + 100)
    try file.seek(toOffset: offset)
    let byte = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: offset)
    try file.write(contentsOf: Data([byte ^ 1]))
  }

  /// A page whose bytes can't be opened any more tells which reads open it.
  @Test func `a page is opened twice for all connections, and again after a check`() throws {
    try withTemporaryDirectory { directory in
      let (opened, path) = (OpenedPages(), "\(directory)/file")
      opened.setLimit(1_000 * Self.pageSize)
      let cipher = DatabaseCipher(key: [UInt8](repeating: 1, count: 32), opened: opened)
      let writer = try Self.connection(path, cipher)
      defer { writer.close() }
      try writer.execute(
        """
        CREATE TABLE t (number INTEGER PRIMARY KEY, text TEXT);
        CREATE TABLE other (number INTEGER PRIMARY KEY);
        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 200)
          INSERT INTO t SELECT x, printf('%0400d', x) FROM n;
        PRAGMA wal_checkpoint(TRUNCATE)
        """)
      let readers = try (0..<2).map { _ in try Self.connection(path, cipher) }
      defer { for reader in readers { reader.close() } }
      func sum(_ reader: Connection) throws -> Int64 { try reader.scalar("SELECT sum(length(text)) FROM t") }
      for _ in 0..<2 {
        try writer.execute("INSERT INTO other DEFAULT VALUES")
        #expect(try sum(readers[0]) == 80_000)
      }
      try Self.changeByte(ofPage: 6, in: path)
      for reader in readers {
        try writer.execute("INSERT INTO other DEFAULT VALUES")
        #expect(try sum(reader) == 80_000)
      }

      let check = try Self.connection(path, cipher)
      defer { check.close() }
      #expect(throws: SQLiteError.self) { try check.integrityFindings() }
      try writer.execute("INSERT INTO other DEFAULT VALUES")
      for reader in readers { #expect(throws: SQLiteError.self) { try sum(reader) } }
    }
  }

  /// The lengths of rows, by their numbers, as the statement below gives them.
  private static func text(_ rows: [Int: Int]) -> String {
    rows.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
  }

  @Test(arguments: [0, 1, 3, 20, 500]) func `random writes of two databases are read by all connections`(
    pages: Int
  ) throws {
    let seed = testSeed(UInt64(pages))
    var random = SeededGenerator(seed: seed)
    try withTemporaryDirectory { directory in
      let opened = OpenedPages()
      opened.setLimit(pages * Self.pageSize)
      var models: [[Int: Int]] = [[:], [:]]
      let connections = try (0..<2).map { database in
        let cipher = DatabaseCipher(key: [UInt8](repeating: UInt8(database), count: 32), opened: opened)
        return try (0..<3).map { _ in try Self.connection("\(directory)/\(database)", cipher) }
      }
      defer { for connection in connections.joined() { connection.close() } }
      for each in connections {
        try each[0].execute("CREATE TABLE t (number INTEGER PRIMARY KEY, text TEXT)")
      }
      for step in 0..<600 {
        let database = Int.random(in: 0..<2, using: &random)
        let connection = connections[database][Int.random(in: 0..<3, using: &random)]
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<8:
          var model = models[database]
          try connection.execute("BEGIN IMMEDIATE")
          for _ in 0..<Int.random(in: 1...20, using: &random) {
            let (number, length) = (
              Int.random(in: 0..<300, using: &random), Int.random(in: 1..<2_000, using: &random)
            )
            try connection.execute("REPLACE INTO t VALUES (\(number), printf('%0*d', \(length), 1))")
            model[number] = length
          }
          let isKept = Int.random(in: 0..<5, using: &random) > 0
          try connection.execute(isKept ? "COMMIT" : "ROLLBACK")
          if isKept { models[database] = model }
        case 8: try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        case 9: try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        case 10 where step % 5 == 0:
          try connection.execute("DELETE FROM t WHERE number % 2 = 0; VACUUM")
          models[database] = models[database].filter { $0.key % 2 != 0 }
        case 11 where step % 5 == 0: #expect(try connection.integrityFindings() == [])
        default:
          let read = try connection.statement(
            "SELECT group_concat(number || ':' || length(text)) FROM (SELECT * FROM t ORDER BY number)")
          defer { read.reset() }
          #expect(try read.step())
          #expect(read.text(0) == Self.text(models[database]), "seed \(seed), step \(step)")
        }
      }
    }
  }
}
