import CDTSQLite
import CDTTestSupport
import Foundation
import Testing

/// One process commits and makes checkpoints in turn while another does hardly anything but checkpoints: SQLite's WAL-reset bug
/// shows after about a million commits of this kind, if checkpoints don't hold the write lock.
///
/// `make torture RACES=100000000` commits as often as it is told. `CheckpointLockTests` has the deterministic form.
@Suite(.timeLimit(.minutes(600))) struct RacingCheckpointTests {
  private static let commits =
    ProcessInfo.processInfo.environment["TORTURE_RACES"].flatMap { Int($0) } ?? 50_000

  @Test func `no commit is lost beside checkpoints of another process`() throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let path = "\(directory)/file"
      let connection = try Connection(path: path, mode: .readWriteCreate, busyTimeout: .seconds(60))
      // Without a write of the page cache to the disk there are more commits in the same time.
      try connection.execute(
        """
        PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF;
        CREATE TABLE t (id INTEGER PRIMARY KEY, round INTEGER, text TEXT);
        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 4000)
          INSERT INTO t SELECT x, 0, hex(randomblob(50)) FROM n
        """)
      let other = try BuiltProgram("cdt-store-worker", ["checkpoint", directory])
      #expect(other.line() == "ready")
      defer { _ = other.kill() }
      func commit(_ number: Int, _ round: Int) throws {
        let statement = try connection.statement("UPDATE t SET round = ?1 WHERE id = ?2")
        try statement.bind(Int64(round), at: 1)
        try statement.bind(Int64(1 + number * 190), at: 2)
        try statement.run()
      }
      for round in 1...max(1, Self.commits / 23) {
        for number in 0..<20 { try commit(number, round) }
        _ = try connection.checkpointsWholeLog()
        for number in 0..<3 { try commit(number, -round) }
        let (wanted, found) = (Int64(14 * round), try connection.scalar("SELECT sum(round) FROM t"))
        try #require(found == wanted, "round \(round)")
        if round % 100_000 == 0 { Torture.progress("\(round * 23) of \(Self.commits) commits") }
      }
    }
  }
}
