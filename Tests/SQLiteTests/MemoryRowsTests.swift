import SQLite
import Testing

/// A statement reads rows in memory as a table.
@Suite struct MemoryRowsTests {
  private final class Rows: MemoryRows {
    let bytes: [UInt8]
    let rows: [[MemoryValue]]

    init(_ rows: [[MemoryValue]], bytes: String = "") {
      self.rows = rows
      self.bytes = Array(bytes.utf8)
    }

    var count: Int { rows.count }

    func read(row: Int, of bytes: UnsafeRawBufferPointer, into values: inout [MemoryValue]) {
      values += rows[row]
    }
  }

  private func connection() throws -> Connection {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.execute("CREATE TABLE t (a, b)")
    return connection
  }

  private func contents(_ connection: Connection) throws -> [String] {
    let statement = try connection.statement("SELECT quote(a) || ' ' || quote(b) FROM t ORDER BY rowid")
    var found: [String] = []
    while try statement.step() { found.append(statement.text(0)) }
    return found
  }

  @Test func `every kind of value comes through, in the order of the rows`() throws {
    let connection = try connection()
    let rows = Rows(
      [
        [.int(.min), .double(0.5)], [.text(0..<3), .blob(1..<2)], [.text(3..<3), .blob(0..<0)],
        [.int(1)], [],
      ], bytes: "abc")
    try connection.run("INSERT INTO t SELECT c0, c1 FROM memory_rows", reading: rows)
    #expect(
      try contents(connection)
        == ["-9223372036854775808 0.5", "'abc' X'62'", "'' X''", "1 NULL", "NULL NULL"])
  }

  @Test func `what lies outside of the bytes is left out`() throws {
    let connection = try connection()
    let rows = Rows([[.text(1..<1_000), .blob(-5 ..< -1)]], bytes: "abc")
    try connection.run("INSERT INTO t SELECT c0, c1 FROM memory_rows", reading: rows)
    #expect(try contents(connection) == ["'bc' X''"])
  }

  @Test func `there are no rows but while a statement reads them`() throws {
    let connection = try connection()
    try connection.run("INSERT INTO t SELECT c0, c1 FROM memory_rows", reading: Rows([[.int(1), .int(2)]]))
    #expect(try connection.scalar("SELECT count(*) FROM memory_rows") == 0)
    #expect(throws: SQLiteError.self) {
      try connection.run("INSERT INTO missing SELECT c0 FROM memory_rows", reading: Rows([[.int(1)]]))
    }
    #expect(try connection.scalar("SELECT count(*) FROM memory_rows") == 0)
  }

  @Test func `a schema can't name the table`() throws {
    let connection = try connection()
    try connection.run("INSERT INTO t SELECT c0, c1 FROM memory_rows", reading: Rows([]))
    try? connection.execute("CREATE VIEW v AS SELECT * FROM memory_rows")
    #expect(throws: SQLiteError.self) { try connection.scalar("SELECT count(*) FROM v") }
  }
}
