import CSQLite

/// A table without row numbers as a database file in memory, made of rows in the order of its key.
///
/// SQLite fills an empty table of the same columns from it by copying records, which costs a third of what making them
/// does: see ``Connection/run(_:readingImage:)``.
///
/// ```swift
/// var image = TableImage(creating: "CREATE TABLE rows (word, page, PRIMARY KEY (word, page)) WITHOUT ROWID")
/// image.append(record)
/// try connection.run("INSERT INTO words SELECT * FROM image.rows", readingImage: image)
/// ```
///
/// The tree is made here, of pages that `TableImagePages` writes, as in https://www.sqlite.org/fileformat2.html
package struct TableImage: ~Copyable {
  private let sql: String
  private var pages: TableImagePages
  /// The levels of the tree, the leaves first.
  private var levels = [TableImageLevel(isLeaf: true)]

  /// - Parameters:
  ///   - sql: The statement that makes the table, under the name `rows`, its key being its first columns.
  ///   - size: About how many bytes its rows have.
  ///   - limit: How much memory it may take.
  package init(creating sql: String, size: Int = 0, limit: Int = .max) {
    self.sql = sql
    pages = TableImagePages(size: size, limit: limit)
  }

  /// Adds a row, a ``TableRecord``'s bytes, which must come behind those that are there.
  @inline(__always)
  package mutating func append(_ record: UnsafeRawBufferPointer) {
    if record.count <= TableImagePages.mostLocal, levels[0].deferred == nil,
      let target = pages.room(for: Varint.length(record.count) + record.count, in: &levels[0])
    {
      let start = target + Varint.write(record.count, to: target)
      if let bytes = record.baseAddress { start.copyMemory(from: bytes, byteCount: record.count) }
    } else {
      add(cell(record), to: 0)
    }
  }

  /// A record as a cell by itself; what a page can't hold of a long one goes to pages of its own.
  private mutating func cell(_ record: UnsafeRawBufferPointer) -> TableImageCell {
    let local = TableImagePages.local(of: record.count)
    var bytes = TableImagePages.varint(record.count) + record[..<local]
    if local < record.count {
      bytes += TableImagePages.bytes(of: pages.addChain(record[local...]))
    }
    return TableImageCell(bytes: bytes)
  }

  // MARK: The tree

  /// Adds a cell to a level.
  ///
  /// The first cell for which a page has no room goes up, between that page and the next; but only once another follows
  /// it, as the next page would be empty otherwise.
  private mutating func add(_ cell: TableImageCell, to number: Int) {
    if let separator = levels[number].deferred {
      levels[number].deferred = nil
      raise(separator, from: number)
    }
    if pages.place(cell, in: &levels[number]) { return }
    pages.close(levels[number], right: cell.child)
    levels[number].deferred = cell
  }

  /// Moves a cell up, with the page of its level to its left; that page is done.
  private mutating func raise(_ cell: TableImageCell, from number: Int) {
    if number + 1 == levels.count { levels.append(TableImageLevel(isLeaf: false)) }
    add(TableImageCell(bytes: cell.bytes, child: UInt32(levels[number].page)), to: number + 1)
    levels[number].page = 0
  }

  /// Completes the tree.
  ///
  /// - Returns: The number of its root page.
  private mutating func finishTree() -> UInt32 {
    var right: UInt32 = 0
    var number = 0
    while number < levels.count {
      if let last = levels[number].deferred {
        // Nothing has followed, so the cell before it goes up in its place.
        levels[number].deferred = nil
        let separator = pages.removeLast(from: &levels[number])
        pages.close(levels[number], right: separator.child)
        raise(separator, from: number)
        _ = pages.place(last, in: &levels[number])
      }
      pages.close(levels[number], right: right)
      right = UInt32(levels[number].page)
      number += 1
    }
    return right
  }

  /// Completes the image and hands out its memory, which is of SQLite's allocation; `nil` when it has no row.
  fileprivate consuming func take() throws(SQLiteError) -> UnsafeMutableBufferPointer<UInt8>? {
    let root = finishTree()
    guard !pages.hasRunOut else {
      throw SQLiteError(
        extendedCode: SQLITE_NOMEM, message: "out of memory for rows to be inserted", sql: sql)
    }
    guard root != 0 else { return nil }
    var record = TableRecord()
    for text in ["table", "rows", "rows"] { Array(text.utf8).withUnsafeBytes { record.append(text: $0) } }
    record.append(int: Int64(root))
    Array(sql.utf8).withUnsafeBytes { record.append(text: $0) }
    var bytes = RecordBytes()
    bytes.append(varint: record.count)
    bytes.append(1)
    bytes.append(record)
    return bytes.withBytes { pages.take(schema: $0) }
  }
}

extension Connection {
  /// Runs a statement that reads the rows of an image as the table `image.rows`.
  ///
  /// SQLite copies records from there when the statement says `INSERT INTO t SELECT * FROM image.rows` and `t` is empty and
  /// has the same columns and the same key; otherwise it reads and makes them.
  package func run(_ sql: String, readingImage image: consuming TableImage) throws(SQLiteError) {
    try attachImages()
    guard let memory = try image.take() else { return }
    try setImage(memory)
    // Prepared each time: a statement that is kept would go on reading where the last image had its table.
    let result = Result { () throws(SQLiteError) in try execute(sql) }
    // The memory is given back when another takes its place.
    try setImage(nil)
    try result.get()
  }

  private func setImage(_ memory: UnsafeMutableBufferPointer<UInt8>?) throws(SQLiteError) {
    guard let handle else {
      sqlite3_free(memory?.baseAddress)
      throw .closed(nil)
    }
    let size = Int64(memory?.count ?? 0)
    // On failure, too, the memory is SQLite's.
    let code = sqlite3_deserialize(
      handle, "image", memory?.baseAddress, size, size,
      UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY))
    guard code == SQLITE_OK else { throw error(code, sql: nil) }
  }
}
