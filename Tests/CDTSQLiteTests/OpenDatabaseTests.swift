import CDTPlatform
import CDTTestSupport
import Foundation
import Testing

@testable import CDTSQLite

/// Closing a descriptor of a file releases all locks that the process has on it.
@Suite struct OpenDatabaseTests {
  /// The locks of this process on SQLite's files of a database, as the system lists them.
  private func locks(_ path: String) throws -> [String] {
    let manager = FileManager.default
    return try manager.contentsOfDirectory(atPath: "/proc/self/fd").flatMap { descriptor -> [String] in
      // Other tests close their files meanwhile.
      let file = try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
      guard let file, [path, "\(path)-shm"].contains(file) else { return [] }
      return try String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
        .split(separator: "\n").filter { $0.hasPrefix("lock:") }.map { "\(file) \($0)" }
    }.sorted()
  }

  @Test func `a database that is open keeps its locks when its files are read`() throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let path = "\(directory)/file"
    let connection = try Connection(path: path, mode: .readWriteCreate)
    try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1); BEGIN")
    _ = try connection.scalar("SELECT count(*) FROM t")
    let before = try locks(path)
    #expect(before.count >= 2)

    let placed = PlacedFile(path)
    placed?.close()
    #expect(try locks(path) == before)
    #expect(try LogLoss.find(inLogOf: path) == nil)
    var rows = 0
    let raw = try #require(try RawDatabase(path, versionsWithChecksums: [1]))
    try raw.forEachRow { _ in rows += 1 }
    #expect(rows == 2)
    _ = consume raw
    #expect(try locks(path) == before)
    connection.close()
  }
}
