import SQLite
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
    try statement.bindNull(at: 1)
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

  @Test func `text that is no UTF-8 is repaired when it is read`() throws {
    let connection = try connection()
    let statement = try connection.statement("SELECT CAST(x'61FF62' AS TEXT)")
    #expect(try statement.step())
    #expect(statement.text(0) == "a\u{FFFD}b")
    #expect(statement.withBytes(0) { Array($0) } == [0x61, 0xFF, 0x62])
  }
}

@Suite struct FunctionTests {
  @Test func `a function gets its arguments and gives its result`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.createFunction("echo", argumentCount: 1, deterministic: true) { call in
      call.withBytes(at: 0) { call.setResult(text: $0) }
    }
    try connection.createFunction("blob", argumentCount: 1, deterministic: true) { call in
      call.withBytes(at: 0) { call.setResult(blob: $0) }
    }
    try connection.createFunction("twice", argumentCount: 1, deterministic: true) { call in
      call.setResult(call.int64(at: 0) * 2)
    }
    try connection.createFunction("half", argumentCount: 1, deterministic: true) { call in
      call.setResult(Double(call.int64(at: 0)) / 2)
    }
    let statement = try connection.statement(
      "SELECT echo(?1), typeof(echo('')), typeof(blob('')), twice(21), half(1), echo(NULL), hex(blob(x'00FF'))"
    )
    try statement.bind("a\0é", at: 1)
    #expect(try statement.step())
    #expect(Array(statement.text(0).utf8) == Array("a\0é".utf8))
    #expect(statement.text(1) == "text")
    #expect(statement.text(2) == "blob")
    #expect(statement.int64(3) == 42)
    #expect(statement.double(4) == 0.5)
    #expect(statement.text(5) == "")
    #expect(statement.text(6) == "00FF")
  }

  @Test func `arguments that are not there are nothing`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.createFunction("f", argumentCount: -1, deterministic: true) { call in
      let bytes = [-1, 1, 99, Int.max].map { call.withBytes(at: $0) { $0.count } }
      let objects = [-1, 0, 1].map { call.object(at: $0, type: "x") == nil }
      call.setResult(bytes == [0, 0, 0, 0] && objects == [true, true, true] ? call.int64(at: 5) : 1)
    }
    #expect(try connection.scalar("SELECT f(7)") == 0)
    #expect(try connection.scalar("SELECT f()") == 0)
  }

  @Test func `a function's error fails the statement`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.createFunction("fail", argumentCount: 0, deterministic: true) { $0.setError("broken") }
    let error = #expect(throws: SQLiteError.self) { try connection.scalar("SELECT fail()") }
    #expect(error?.message == "broken")
    #expect(error?.sql == "SELECT fail()")
    #expect(try connection.scalar("SELECT 1") == 1)
  }

  @Test func `a schema can't call a function`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.createFunction("f", argumentCount: 0, deterministic: true) { $0.setResult(1 as Int64) }
    try connection.execute("CREATE VIEW v AS SELECT f() AS x")
    let error = #expect(throws: SQLiteError.self) { try connection.scalar("SELECT x FROM v") }
    #expect(error?.message.contains("unsafe use of f") == true)
  }

  final class Box {
    let number: Int64
    init(_ number: Int64) { self.number = number }
  }

  @Test func `an object is handed to a function under its type, and held as long as it is bound`() throws {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.createFunction("number", argumentCount: 1, deterministic: true) { call in
      call.setResult((call.object(at: 0, type: "box") as? Box)?.number ?? -1)
    }
    weak var kept: Box?
    let statement = try connection.statement("SELECT number(?1)")
    do {
      let box = Box(7)
      kept = box
      try statement.bind(object: box, type: "box", at: 1)
    }
    #expect(kept != nil)
    #expect(try statement.step())
    #expect(statement.int64(0) == 7)
    statement.reset()
    let again = try connection.statement("SELECT number(?1)")
    #expect(again === statement)
    #expect(kept == nil)
    try again.bind(object: Box(7), type: "other", at: 1)
    #expect(try again.step())
    #expect(again.int64(0) == -1)
    #expect(try connection.scalar("SELECT number(12345)") == -1)
    #expect(try connection.scalar("SELECT number(x'0102')") == -1)
  }

  @Test func `a function goes with its connection`() throws {
    weak var kept: Box?
    do {
      let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
      let box = Box(3)
      kept = box
      try connection.createFunction("number", argumentCount: 0, deterministic: true) {
        $0.setResult(box.number)
      }
      #expect(try connection.scalar("SELECT number()") == 3)
    }
    #expect(kept == nil)
  }
}
