import CDTDatastore
import CDTImport
import Synchronization
import Testing

/// The limits of what an import reads.
@Suite struct ImportLimitTests {
  /// The error of a file that is read in pieces.
  private static func error(_ name: String, limit: Int = 1_000, _ pieces: [[UInt8]]) -> String? {
    let rest = Mutex(pieces[...])
    var reader = ImportReader(name) { .success(rest.withLock { $0.popFirst() } ?? []) }
    reader.limits = (document: limit, value: 1 << 20, decompressed: 1_000)
    do {
      while try reader.next() {}
      return nil
    } catch {
      return (error as? DatastoreError)?.message ?? "\(error)"
    }
  }

  @Test func `a record of a table is not longer than a document`() {
    let line = Array("text\n".utf8)
    #expect(
      Self.error("a.csv", [Array("t\n\"".utf8)] + Array(repeating: line, count: 1_000))
        == "a.csv:2: the value that begins here is larger than 1000 bytes, the most that it can have; check the format of the file"
    )
  }

  @Test func `a compressed file has a limit for its content`() {
    // 2,000 spaces.
    let bytes: [UInt8] = [
      31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 83, 80, 24, 5, 163, 96, 20, 140, 130, 81, 48, 10, 70, 193, 80, 7, 0,
      42, 202, 22, 85, 208, 7, 0, 0,
    ]
    #expect(
      Self.error("a.gz", [bytes])
        == "a.gz has more than 1000 bytes when it is decompressed, the most of one import; split it")
  }

  @Test func `the name of a column is not deeper than a document`() {
    func error(_ depth: Int) -> String? {
      let name = Array(repeating: "a", count: depth).joined(separator: ".")
      return Self.error("a.csv", limit: 1 << 20, [Array((name + "\n1\n").utf8)])
    }
    #expect(error(100) == nil)
    let message =
      "a.csv:1: the name of column 1 has more than 512 parts between dots, the most that objects can be nested; rename it, or give --flat to keep the dots in the names"
    for depth in [513, 50_000] { #expect(error(depth) == message) }
  }
}
