import JSON
import SQLite
import TestSupport
import Testing

@testable import CDTQuery

/// What a reader remembers is what a look-up in its snapshot would find.
@Suite struct DocumentCacheTests {
  /// A cache that follows a table.
  private final class Bench {
    let table: DocumentsTable
    let cache: DocumentCache

    init(_ directory: String, capacity: Int = DocumentCache.defaultCapacity) throws {
      table = try DocumentsTable(directory)
      cache = DocumentCache(capacity: capacity)
    }

    func put(_ number: Int64, id: String = "x", body: String = "{}") throws {
      try table.put(number, id: id, body: body)
    }

    func begin() throws {
      let written = try table.begin().written
      try cache.begin(written, on: table.reader)
    }

    /// Asks for documents in two snapshots, so that they are taken in.
    ///
    /// - Returns: How many are.
    @discardableResult
    func meet(_ sequences: ClosedRange<Int64>) throws -> Int {
      for sequence in sequences { _ = try cache.want(sequence) }
      try begin()
      return try sequences.filter { try cache.want($0) == nil }.count
    }
  }

  private func withBench(
    capacity: Int = DocumentCache.defaultCapacity, _ body: (Bench) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let bench = try Bench(directory, capacity: capacity)
      defer { bench.table.close() }
      try body(bench)
    }
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(decoding: bytes, as: UTF8.self)
  }

  @Test func `a document is taken in when it is met again`() throws {
    try withBench { bench in
      try bench.put(7, id: "e\u{301}", body: #"{"a":"é"}"#)
      try bench.begin()
      #expect(try bench.cache.want(1) == 1)
      #expect(try bench.cache.want(1) == 1)
      #expect(bench.cache.count == 0)
      try bench.begin()
      #expect(try bench.cache.want(1) == nil)
      let document = try #require(bench.cache.current)
      #expect(Array(document.id) == Array("e\u{301}".utf8))
      #expect(Array(document.revision) == Array("1-1".utf8))
      #expect(Array(document.body) == Array(#"{"a":"é"}"#.utf8))
      #expect(document.number == 7 && document.written == 1 && document.attachments == 0)
      try bench.begin()
      #expect(try bench.cache.want(1) == nil)
    }
  }

  @Test func `a document that was written since is left out, and no other`() throws {
    try withBench { bench in
      for number in 1...10 { try bench.put(Int64(number)) }
      try bench.begin()
      #expect(try bench.meet(1...10) == 10)
      try bench.put(3)
      try bench.put(4)
      try bench.begin()
      #expect(bench.cache.count == 8)
      for sequence in 1...10 {
        let isGone = sequence == 3 || sequence == 4
        // What is gone need not be looked up either.
        #expect(try bench.cache.want(Int64(sequence)) == nil)
        #expect((bench.cache.current == nil) == isGone, "\(sequence)")
        #expect((bench.cache.find(Int64(sequence)) == nil) == isGone)
      }
      #expect(try bench.meet(11...12) == 2 && bench.cache.current?.number == 4)
    }
  }

  @Test func `what is gone is not found, however often it is asked for`() throws {
    try withBench { bench in
      try bench.put(1)
      try bench.put(1)
      try bench.begin()
      for _ in 0..<3 { #expect(try bench.meet(1...1) == 0) }
      #expect(bench.cache.current == nil && bench.cache.count == 0)
    }
  }

  /// What may happen to the file between two snapshots, after which nothing that was known can be relied on.
  static let breaks: [(name: String, sql: String)] = [
    ("a write that is no document's", "INSERT INTO other VALUES (1)"),
    ("documents that were taken back", "DELETE FROM documents WHERE sequence > 5"),
    (
      "another history of the same length",
      "UPDATE sessions SET token = 'another'; UPDATE documents SET body = '{\"b\":2}'"
    ),
    (
      "another history that has gone on",
      """
      UPDATE sessions SET token = 'another'; UPDATE documents SET body = '{\"b\":2}';
      INSERT INTO documents VALUES (11, 11, 'x', '1-x', NULL, 0, 0, '{}')
      """
    ),
  ]

  @Test(arguments: breaks.indices)
  func `nothing is kept after a break`(number: Int) throws {
    try withBench { bench in
      for number in 1...10 { try bench.put(Int64(number)) }
      try bench.begin()
      try bench.meet(1...10)
      try bench.table.writer.execute(Self.breaks[number].sql)
      try bench.begin()
      #expect(bench.cache.count == 0, "\(Self.breaks[number].name)")
    }
  }

  @Test func `a session that goes on from the last is no break`() throws {
    try withBench { bench in
      for number in 1...10 { try bench.put(Int64(number)) }
      try bench.begin()
      try bench.meet(1...10)
      for start in [11, 12] {
        try bench.table.writer.execute("INSERT INTO sessions VALUES (\(start), 'token \(start)')")
        try bench.put(Int64(start))
        try bench.begin()
        #expect(bench.cache.count == 10)
      }
    }
  }

  @Test func `another connection to the file goes on with what is known`() throws {
    try withBench { bench in
      for number in 1...10 { try bench.put(Int64(number)) }
      try bench.begin()
      try bench.meet(1...10)
      for number in [Int64(3), 4] {
        try bench.table.changeConnection()
        bench.cache.changeConnection()
        // Once with a write in between, once without.
        if number == 4 { try bench.put(number) }
        try bench.begin()
        #expect(bench.cache.count == (number == 4 ? 9 : 10))
      }
      #expect(try bench.meet(11...11) == 1 && bench.cache.current?.number == 4)
      try bench.table.changeConnection()
      bench.cache.changeConnection()
      try bench.table.writer.execute("UPDATE sessions SET token = 'another'")
      try bench.begin()
      #expect(bench.cache.count == 0)
    }
  }

  @Test func `after very many writes it begins anew`() throws {
    try withBench { bench in
      try bench.put(1)
      try bench.begin()
      try bench.meet(1...1)
      try bench.table.writer.execute(
        """
        WITH RECURSIVE n(i) AS (VALUES(2) UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
        INSERT INTO documents SELECT i, i, 'x', '1-x', NULL, 0, 0, '{}' FROM n
        """)
      try bench.begin()
      #expect(bench.cache.count == 0)
      #expect(try bench.meet(1...1) == 1)
    }
  }

  /// Documents of several sizes, some larger than a segment, in a cache that holds a part of them.
  @Test func `a full cache makes room between snapshots and never gives a wrong document`() throws {
    var random = SeededGenerator(seed: 5)
    try withBench(capacity: 40 * 4_096) { bench in
      var bodies: [Int64: String] = [:]
      var sequences: [Int64: Int64] = [:]
      var hits = 0
      for round in 0..<400 {
        for _ in 0..<(round == 0 ? 600 : 3) {
          let number = Int64.random(in: 0..<600, using: &random)
          let size =
            Int.random(in: 0..<100, using: &random) == 0 ? 5_000 : Int.random(in: 0..<800, using: &random)
          bodies[number] = String(repeating: "\(number % 10)", count: size)
          try bench.put(number, id: "id \(number)", body: bodies[number] ?? "")
          sequences[number] = bench.table.lastSequence
        }
        try bench.begin()
        for _ in 0..<100 {
          // Some are asked for more often than others.
          let number = Int64.random(in: 0..<Int64.random(in: 1...600, using: &random), using: &random)
          guard let sequence = sequences[number] else { continue }
          if try bench.cache.want(sequence) == nil {
            hits += 1
            let document = try #require(bench.cache.current)
            #expect(Self.text(document.id) == "id \(number)")
            #expect(Self.text(document.body) == bodies[number])
            #expect(document.sequence == sequence && document.number == number)
          } else {
            #expect(bench.cache.current == nil)
          }
        }
      }
      #expect(hits > 5_000)
      #expect(bench.cache.count < 600)
    }
  }

  @Test func `an entry stays where it is while the snapshot lasts`() throws {
    try withBench(capacity: 40 * 1_024) { bench in
      for number in 1...200 { try bench.put(Int64(number), body: String(repeating: "x", count: 400)) }
      try bench.begin()
      try bench.meet(1...1)
      let first = try #require(bench.cache.current)
      for sequence in Int64(2)...200 { _ = try bench.cache.want(sequence) }
      try bench.begin()
      let entry = try #require(bench.cache.find(1)).entry
      #expect(entry == first.entry)
      for sequence in Int64(2)...200 { _ = try bench.cache.want(sequence) }
      #expect(entry == bench.cache.find(1)?.entry && first.sequence == 1)
      #expect(bench.cache.count < 200)
      let before = bench.cache.count
      try bench.begin()
      #expect(bench.cache.count < before)
    }
  }

  @Test func `a table of keys agrees with a dictionary`() {
    var random = SeededGenerator(seed: 11)
    var table = OffsetTable()
    var keys: [Int64] = []
    var offsets: [Int64: Int] = [:]
    for _ in 0..<60_000 {
      // Near each other, as sequences are, and some that share their lower half.
      let key = Int64.random(in: 0..<4_000, using: &random) + (Bool.random(using: &random) ? 1 << 32 : 0)
      if let offset = offsets.removeValue(forKey: key) {
        #expect(table.offset(of: key) { keys[$0 / 8] == key } == offset)
        table.remove(key) { keys[$0 / 8] == key }
      } else {
        offsets[key] = 8 * keys.count
        table.insert(key, offset: 8 * keys.count)
        keys.append(key)
      }
      #expect(table.count == offsets.count)
    }
    for key in Int64(0)..<4_000 {
      #expect(table.offset(of: key) { keys[$0 / 8] == key } == offsets[key])
    }
  }

  @Test func `sequences are known in the next snapshot, until others push them out`() {
    var met = MetSequences()
    func isKnown(_ sequences: some Sequence<Int64>) -> [Bool] { sequences.map { met.meet($0) } }
    #expect(!isKnown(0..<100_000).contains(true))
    #expect(!isKnown(0..<100_000).contains(true))
    met.beginSnapshot()
    #expect(!isKnown(0..<100_000).contains(false))
    let others: [Int64] = [1 << 18, 0, .max]
    #expect(!isKnown(others).contains(true))
    met.beginSnapshot()
    #expect(isKnown(others) == [false, false, true])
  }
}
