import CDTTestSupport
import Foundation
import Testing

@testable import CDTSQLite

@Suite struct RawDatabaseTests {
  private func withDatabase(_ body: (_ path: String) throws -> Void) throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    try body("\(directory)/file")
  }

  /// The rows of the table `t`, and the number of bytes in all rows.
  private func rows(_ path: String) throws -> (count: Int, bytes: Int) {
    var (count, bytes) = (0, 0)
    let database = try #require(try RawDatabase(path, versionsWithChecksums: [1]))
    try database.forEachRow { row in
      for value in row.values {
        guard case .blob(let blob) = value else { continue }
        count += 1
        bytes += blob.count
      }
    }
    return (count, bytes)
  }

  @Test func `rows that share pages are not read again and again`() throws {
    try withDatabase { path in
      let connection = try Connection(path: path, mode: .readWriteCreate)
      // The row begins in an eighth of its page, and goes on in 1,000 others.
      let length = 4_084_483
      try connection.execute("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(\(length)))")
      connection.close()
      #expect(try rows(path) == (1, length))

      // All cells of the table's first page are the one row.
      var file = try Data(contentsOf: URL(filePath: path))
      let page = 4_096
      try #require(file[page] == 0x0D)
      let pointer = Array(file[page + 8..<page + 10])
      let cells = 500
      file.replaceSubrange(page + 3..<page + 5, with: [UInt8(cells >> 8), UInt8(cells & 0xFF)])
      for cell in 0..<cells {
        file.replaceSubrange(page + 8 + 2 * cell..<page + 10 + 2 * cell, with: pointer)
      }
      var changed = [UInt8](file[page..<2 * page])
      changed.withUnsafeMutableBytes { PageChecksum.store(in: $0, number: 2) }
      file.replaceSubrange(page..<2 * page, with: changed)
      try file.write(to: URL(filePath: path))
      let (count, bytes) = try rows(path)
      #expect(count >= 1)
      #expect(bytes <= 10 * length)
    }
  }
}
