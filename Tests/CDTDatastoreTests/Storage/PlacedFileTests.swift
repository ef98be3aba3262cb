import CDTPlatform
import CDTSQLite
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@Suite struct PlacedFileTests {
  /// Calls `body` with the path of a file, and one beside it.
  private func withFile(_ body: (_ path: String, _ other: String) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/file"
      try Data("a".utf8).write(to: URL(filePath: path))
      try body(path, "\(directory)/other")
    }
  }

  @Test func `a file that is removed or replaced is noticed at once`() throws {
    try withFile { path, other in
      let file = try #require(PlacedFile(path))
      #expect(try file.isInPlace())
      try Data("b".utf8).write(to: URL(filePath: other))
      try Files.rename(other, to: path)
      #expect(try !file.isInPlace())
      let next = try #require(PlacedFile(path))
      #expect(try next.isInPlace())
      #expect(next.identity != file.identity)
      try Files.remove(path)
      #expect(try !next.isInPlace())
      #expect(PlacedFile(path) == nil)
    }
  }

  @Test func `a file that is moved away is noticed soon, and when it is back`() throws {
    try withFile { path, other in
      let file = try #require(PlacedFile(path))
      try Files.rename(path, to: other)
      try blockUntil("it is noticed") { (try? file.isInPlace()) == false }
      #expect(try !file.isInPlace())
      try Files.rename(other, to: path)
      #expect(try file.isInPlace())
    }
  }

  @Test func `a file with a second name does not count as gone`() throws {
    try withFile { path, other in
      let file = try #require(PlacedFile(path))
      try FileManager.default.linkItem(atPath: path, toPath: other)
      #expect(try file.isInPlace())
      try Files.remove(path)
      try blockUntil("it is noticed") { (try? file.isInPlace()) == false }
    }
  }

  @Test func `without a descriptor the path is looked up`() throws {
    try withFile { path, other in
      let file = try #require(PlacedFile(path))
      file.close()
      #expect(try file.isInPlace())
      try Files.rename(path, to: other)
      #expect(try !file.isInPlace())
    }
  }
}

@Suite struct TickerTests {
  @Test func `closures are called until they have enough, and again after all have ended`() throws {
    let ticker = Ticker(interval: 1_000)
    for _ in 0..<3 {
      let counts = Mutex([0, 0])
      for number in 0...1 {
        try ticker.add {
          counts.withLock { counts in
            counts[number] += 1
            return counts[number] < 3 + number
          }
        }
      }
      try blockUntil("both have ended") { counts.withLock { $0 } == [3, 4] }
    }
  }
}
