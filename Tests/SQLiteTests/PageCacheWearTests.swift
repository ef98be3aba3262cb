import Testing

@testable import SQLite

/// A connection whose table of pages has outgrown its use is noticed, and no other.
@Suite struct PageCacheWearTests {
  /// A file of 16 MB, with a connection that writes it and one that reads.
  private func withConnections(_ body: (_ writer: Connection, _ reader: Connection) throws -> Void) throws {
    try withTemporaryPath { path in
      let writer = try Connection(path: path, mode: .readWriteCreate)
      defer { writer.close() }
      try writer.execute(
        """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
        CREATE TABLE rows (number INTEGER PRIMARY KEY, content);
        WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
        INSERT INTO rows SELECT i, zeroblob(4000) FROM n;
        CREATE TABLE counter (x);
        INSERT INTO counter VALUES (0)
        """)
      let reader = try Connection(path: path, mode: .readWrite)
      defer { reader.close() }
      try reader.execute("PRAGMA cache_size = -65536")
      try body(writer, reader)
    }
  }

  /// How many uses there are until the connection is worn, up to 2,000.
  private func usesUntilWorn(_ connection: Connection, _ use: () throws -> Void) rethrows -> Int? {
    var wear = PageCacheWear()
    for number in 1...2_000 {
      if wear.isWorn(connection) { return number }
      try use()
    }
    return nil
  }

  @Test func `a scan before many small reads beside a writer wears a connection`() throws {
    try withConnections { writer, reader in
      var count = 0
      let uses = try usesUntilWorn(reader) {
        count += 1
        if count == 1 { _ = try reader.scalar("SELECT sum(length(content)) FROM rows") }
        if count == 2 { #expect(reader.pageBytes > 16 << 20) }
        // What was written is met in the next use.
        if count > 1 { _ = try reader.scalar("SELECT x FROM counter") }
        if count > 1 { try writer.execute("UPDATE counter SET x = x + 1") }
      }
      #expect(uses.map { $0 > 200 && $0 < 210 } == true)
    }
  }

  @Test func `pages that stay in use wear nothing`() throws {
    try withConnections { writer, reader in
      let uses = try usesUntilWorn(reader) { _ = try reader.scalar("SELECT sum(length(content)) FROM rows") }
      #expect(uses == nil)
      #expect(reader.pageBytes > 16 << 20)
      try writer.execute("UPDATE counter SET x = x + 1")
      _ = try reader.scalar("SELECT x FROM counter")
      #expect(reader.pageBytes < 1 << 20)
    }
  }

  @Test func `a closed connection holds nothing`() throws {
    try withConnections { _, reader in
      reader.close()
      #expect(reader.pageBytes == 0)
      #expect(usesUntilWorn(reader) {} == nil)
    }
  }
}
