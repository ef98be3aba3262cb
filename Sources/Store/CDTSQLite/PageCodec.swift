import CDTCSQLite

/// The form of the pages in a database file: SQLite gets them, and writes them to the log, without checksums and not encrypted.
///
/// Each open file has one of its own. The methods that return a code of SQLite return `SQLITE_OK`, or the error that SQLite gets.
protocol PageCodec: AnyObject {
  /// The file of the system's VFS.
  typealias File = UnsafeMutablePointer<sqlite3_file>

  /// The size of a page in bytes; `nil` while the pages of the file have no other form than in SQLite.
  func pageSize(of file: File) -> Int?

  /// Turns a page of the file into SQLite's form, where it is.
  ///
  /// - Returns: ``SQLiteError/damagedPageCode`` if the page differs from what was written.
  func open(_ page: UnsafeMutableRawBufferPointer, number: Int64, of file: File) -> Int32

  /// Reads a part of the first page: SQLite reads the header before it locks the file.
  func readHeader(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int64, of file: File) -> Int32

  /// Writes a page in the form that it has in the file.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64, to file: File) -> Int32

  /// Other connections may have written to the file since the last call.
  func noteOtherWriters()

  /// In a checkpoint nothing else writes to the file, and SQLite syncs it at the end.
  func beginCheckpoint(of file: File) -> Int32

  /// Waits until everything that belongs to the pages, but is not in the file, is on the disk.
  func synchronize() -> Int32
}

extension PageCodec {
  func noteOtherWriters() {}
  func beginCheckpoint(of file: File) -> Int32 { SQLITE_OK }
  func synchronize() -> Int32 { SQLITE_OK }
}

/// The calls of a file of the system's VFS.
extension UnsafeMutablePointer<sqlite3_file> {
  func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
    pointee.pMethods.pointee.xRead(self, bytes.baseAddress, Int32(clamping: bytes.count), offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
    pointee.pMethods.pointee.xWrite(self, bytes.baseAddress, Int32(clamping: bytes.count), offset)
  }

  /// Writes bytes in another form.
  ///
  /// - Parameter change: Changes a copy of the bytes.
  func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ change: (UnsafeMutableRawBufferPointer) -> Int32
  ) -> Int32 {
    withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 8) { copy in
      copy.copyMemory(from: bytes)
      let code = change(copy)
      return code == SQLITE_OK ? write(UnsafeRawBufferPointer(copy), at: offset) : code
    }
  }
}
