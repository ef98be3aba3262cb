import CDTSQLite
import Testing

/// What is bound is what is read.
@Suite struct ValueTests {
  private func connection() throws -> Connection {
    try Connection(path: ":memory:", mode: .readWriteCreate)
  }

  @Test(arguments: ["", "a", "a\0b", "\0", "é", "e\u{301}", "💩", String(repeating: "x", count: 100_000)])
  func `text keeps every byte`(_ text: String) throws {
    let connection = try connection()
    for bind: (Statement) throws -> Void in [
      { try $0.bind(text, at: 1) }, { try $0.bind(text: Array(text.utf8), at: 1) },
      { statement in try Array(text.utf8).withUnsafeBytes { try statement.bind(text: $0, at: 1) } },
    ] {
      let statement = try connection.statement("SELECT ?1, typeof(?1), length(CAST(?1 AS BLOB))")
      try bind(statement)
      #expect(try statement.step())
      #expect(Array(statement.text(0).utf8) == Array(text.utf8))
      #expect(statement.text(1) == "text")
      #expect(statement.int64(2) == Int64(text.utf8.count))
      #expect(!statement.isNull(0))
    }
  }

  @Test(arguments: [0, 1, 256, 100_000])
  func `a blob keeps every byte, and an empty one is not NULL`(_ count: Int) throws {
    let blob = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let connection = try connection()
    let statement = try connection.statement("SELECT ?1, typeof(?1)")
    try statement.bind(blob: blob, at: 1)
    #expect(try statement.step())
    #expect(statement.withBytes(0) { Array($0) } == blob)
    #expect(statement.text(1) == "blob")
    #expect(!statement.isNull(0))
  }

  @Test(arguments: [0, -1, .max, .min] as [Int64]) func `an integer is exact`(_ number: Int64) throws {
    let connection = try connection()
    let statement = try connection.statement("SELECT ?1, typeof(?1)")
    try statement.bind(number, at: 1)
    #expect(try statement.step())
    #expect(statement.int64(0) == number)
    #expect(statement.text(1) == "integer")
  }

  @Test(arguments: [0.1, -0.0, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity] as [Double])
  func `a double is exact`(_ number: Double) throws {
    let connection = try connection()
    let statement = try connection.statement("SELECT ?1, typeof(?1)")
    try statement.bind(number, at: 1)
    #expect(try statement.step())
    #expect(statement.double(0) == number)
    #expect(statement.text(1) == "real")
  }

  @Test func `NULL is NULL`() throws {
    let connection = try connection()
    let statement = try connection.statement("SELECT ?1, ?2")
    #expect(try statement.step())
    #expect(statement.isNull(0))
    #expect(statement.isNull(1))
    #expect(statement.withBytes(0) { $0.count } == 0)
  }

  @Test func `a statement that is being stepped takes no other values`() throws {
    let connection = try connection()
    let statement = try connection.statement("SELECT ?1")
    #expect(try statement.step())
    #expect(throws: SQLiteError.self) { try statement.bind("x", at: 1) }
    statement.reset()
    try statement.bind("x", at: 1)
    #expect(try statement.step())
    #expect(statement.text(0) == "x")
  }

  @Test func `invalid UTF-8 is repaired when it is read`() throws {
    let connection = try connection()
    let statement = try connection.statement("SELECT CAST(x'61FF62' AS TEXT)")
    #expect(try statement.step())
    #expect(statement.text(0) == "a\u{FFFD}b")
    #expect(statement.withBytes(0) { Array($0) } == [0x61, 0xFF, 0x62])
  }
}
