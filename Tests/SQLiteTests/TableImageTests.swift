import SQLite
import Testing

/// A table that is made of rows in memory is one that SQLite reads, and has these rows.
@Suite struct TableImageTests {
  private static let layout = "(number NOT NULL, word NOT NULL, value NOT NULL, PRIMARY KEY (number, word))"

  private func connection() throws -> Connection {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.execute(
      """
      CREATE TABLE copied \(Self.layout) WITHOUT ROWID;
      CREATE TABLE inserted (number, word, value);
      CREATE TABLE findings (finding)
      """)
    return connection
  }

  /// An image with rows whose words have the lengths given.
  private func image(_ lengths: [Int], limit: Int = .max) -> TableImage {
    var image = TableImage(creating: "CREATE TABLE rows \(Self.layout) WITHOUT ROWID", limit: limit)
    var record = TableRecord()
    var bytes = RecordBytes()
    for (number, length) in lengths.enumerated() {
      record.append(int: Int64(number))
      Array(repeating: UInt8(ascii: "a") + UInt8(number % 26), count: length)
        .withUnsafeBytes { record.append(text: $0) }
      record.append(double: Double(number) + 0.5)
      bytes.append(record)
      bytes.withBytes { image.append($0) }
      record.removeAll()
      bytes.removeAll()
    }
    return image
  }

  private func check(_ lengths: [Int], _ connection: Connection, into table: String) throws {
    try connection.execute("DELETE FROM \(table)")
    try connection.run("INSERT INTO \(table) SELECT * FROM image.rows", readingImage: image(lengths))
    let statement = try connection.statement(
      "SELECT number, word, value FROM \(table) ORDER BY number, word")
    defer { statement.reset() }
    for (number, length) in lengths.enumerated() {
      try #require(try statement.step())
      let word = Array(repeating: UInt8(ascii: "a") + UInt8(number % 26), count: length)
      #expect(statement.int64(0) == Int64(number) && statement.double(2) == Double(number) + 0.5)
      #expect(statement.withBytes(1) { $0.elementsEqual(word) }, "row \(number) of \(lengths.count)")
    }
    #expect(try !statement.step())
    try connection.execute("DELETE FROM findings")
    try connection.run(
      "INSERT INTO findings SELECT integrity_check FROM pragma_integrity_check",
      readingImage: image(lengths))
    #expect(try connection.scalar("SELECT count(*) FROM findings WHERE finding <> 'ok'") == 0)
    #expect(try connection.scalar("SELECT count(*) FROM findings") == 1)
  }

  /// A leaf holds four of 16,300 bytes, and so does a page above; the fifth goes up, once a sixth follows.
  @Test(arguments: Array(1...40) + [124, 125, 126])
  func `trees of every shape are whole`(_ count: Int) throws {
    let connection = try connection()
    try check(Array(repeating: 16_300, count: count), connection, into: "copied")
    try check(Array(repeating: 16_300, count: count), connection, into: "inserted")
  }

  @Test(arguments: [
    [0, 1, 57, 58, 8_000, 16_000], [16_380, 16_381, 16_399, 16_400, 16_401, 16_402, 16_403, 16_404, 16_405],
    [16_406, 16_407, 16_408, 16_409, 16_410, 16_411, 16_412], [65_000, 65_519, 65_520, 65_521, 65_540],
    [8_199, 65_531, 73_700, 73_710, 73_720, 73_730, 73_740, 300_000], [2_000_000, 3, 150_000, 3],
  ])
  func `long rows are whole`(_ lengths: [Int]) throws {
    let connection = try connection()
    try check(lengths, connection, into: "copied")
    try check(lengths.flatMap { [5, $0] }, connection, into: "copied")
  }

  @Test func `many small rows are whole, also those after which a page is full`() throws {
    let connection = try connection()
    for count in 1_800...1_830 { try check(Array(repeating: 20, count: count), connection, into: "copied") }
    try check((0..<30_000).map { $0 * 7 % 200 }, connection, into: "copied")
  }

  @Test func `values keep their types`() throws {
    let connection = try connection()
    let numbers: [Int64] = [
      0, 1, -1, 2, 127, 128, -128, -129, 32_767, 32_768, -32_768, -32_769, 8_388_607, 8_388_608, -8_388_608,
      -8_388_609, 2_147_483_647, 2_147_483_648, -2_147_483_648, -2_147_483_649, 140_737_488_355_327,
      140_737_488_355_328, -140_737_488_355_328, -140_737_488_355_329, .max, .min,
    ].sorted()
    var image = TableImage(creating: "CREATE TABLE rows \(Self.layout) WITHOUT ROWID")
    var expected: [String] = []
    for number in numbers {
      var record = TableRecord()
      record.append(int: number)
      "é\0".utf8.withContiguousStorageIfAvailable { record.append(text: UnsafeRawBufferPointer($0)) }
      [UInt8(0), 0xFF].withUnsafeBytes { record.append(blob: $0) }
      var bytes = RecordBytes()
      bytes.append(record)
      bytes.withBytes { image.append($0) }
      expected.append("integer \(number) text C3A900 blob 00FF")
    }
    try connection.run("INSERT INTO copied SELECT * FROM image.rows", readingImage: image)
    let statement = try connection.statement(
      """
      SELECT typeof(number) || ' ' || number || ' ' || typeof(word) || ' ' || hex(CAST(word AS BLOB)) || ' ' ||
        typeof(value) || ' ' || hex(value) FROM copied
      """)
    defer { statement.reset() }
    var found: [String] = []
    while try statement.step() { found.append(statement.text(0)) }
    #expect(found == expected)
  }

  @Test func `an image serves within a transaction, again and again`() throws {
    let connection = try connection()
    try connection.transaction(.immediate) {
      try connection.run("INSERT INTO copied SELECT * FROM image.rows", readingImage: image([3, 16_300]))
      try connection.execute("DELETE FROM copied WHERE number = 1")
      // Not empty: records are made anew. The other image has its root on another page.
      try connection.run(
        "INSERT OR REPLACE INTO copied SELECT * FROM image.rows",
        readingImage: image(Array(repeating: 16_300, count: 9)))
    }
    #expect(try connection.scalar("SELECT count(*) FROM copied") == 10)
    #expect(throws: SQLiteError.self) {
      try connection.run("INSERT INTO missing SELECT * FROM image.rows", readingImage: image([1]))
    }
    try connection.run("INSERT INTO inserted SELECT * FROM image.rows", readingImage: image([1]))
    #expect(try connection.scalar("SELECT count(*) FROM inserted") == 1)
  }

  @Test func `an image without rows does nothing`() throws {
    let connection = try connection()
    try connection.run("INSERT INTO copied SELECT * FROM image.rows", readingImage: image([]))
    #expect(try connection.scalar("SELECT count(*) FROM copied") == 0)
  }

  /// The first limit is met at once, the others while the image grows from four pages to six and on.
  @Test(arguments: [0, 4, 6, 9, 13].map { $0 * 65_536 })
  func `nothing is inserted, and it is told, where memory runs out`(limit: Int) throws {
    let connection = try connection()
    #expect(throws: SQLiteError.self) {
      try connection.run(
        "INSERT INTO copied SELECT * FROM image.rows",
        readingImage: image(Array(repeating: 10_000, count: 200), limit: limit))
    }
    let copied = try connection.scalar("SELECT count(*) FROM copied")
    #expect(copied == 0)
    try check([1, 2, 3], connection, into: "copied")
  }
}
