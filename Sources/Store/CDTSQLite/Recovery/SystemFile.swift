import CDTCSQLite
import CDTPlatform

/// A database file, or one beside it, whose bytes are read or written by SQLite's own file system.
///
/// Closing any other descriptor of the file would release the locks that connections in this process have on it.
/// Source: https://sqlite.org/howtocorrupt.html, section 2.2.
final class SystemFile {
  private let memory: UnsafeMutableRawPointer
  private let name: sqlite3_filename
  private let path: String
  private var file: UnsafeMutablePointer<sqlite3_file> { memory.assumingMemoryBound(to: sqlite3_file.self) }

  enum Use {
    /// A database is read.
    case reading
    /// A file whose name is that of a database with a suffix is read and written. It is made if it is missing, with the
    /// permissions of the database.
    case besideDatabase

    fileprivate var flags: Int32 {
      switch self {
      case .reading: SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB
      case .besideDatabase: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_JOURNAL
      }
    }
  }

  /// - Throws: ``SQLiteError`` if the file can't be opened.
  init(_ path: String, _ use: Use = .reading) throws(SQLiteError) {
    guard let system = sqlite3_vfs_find(nil) else {
      throw SQLiteError(extendedCode: SQLITE_NOMEM, message: "SQLite could not be initialized")
    }
    guard let name = sqlite3_create_filename(path, "", "", 0, nil) else {
      throw SQLiteError(extendedCode: SQLITE_NOMEM, message: "out of memory")
    }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: Int(system.pointee.szOsFile), alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(system.pointee.szOsFile))
    let file = memory.assumingMemoryBound(to: sqlite3_file.self)
    var opened = use.flags
    var code = CheckedFileSystem.creating { system.pointee.xOpen(system, name, file, use.flags, &opened) }
    let reason = SystemError.last
    // SQLite opens a file for reading if it can't open it for writing.
    if code == SQLITE_OK, use == .besideDatabase, opened & SQLITE_OPEN_READWRITE == 0 {
      code = SQLITE_CANTOPEN
    }
    guard code == SQLITE_OK else {
      if file.pointee.pMethods != nil { _ = file.pointee.pMethods.pointee.xClose(file) }
      memory.deallocate()
      sqlite3_free_filename(name)
      throw SQLiteError(code, reason, path)
    }
    (self.memory, self.name, self.path) = (memory, name, path)
  }

  deinit {
    _ = file.pointee.pMethods.pointee.xClose(file)
    memory.deallocate()
    sqlite3_free_filename(name)
  }

  /// The size in bytes.
  var size: Int64 {
    var size: Int64 = 0
    return file.pointee.pMethods.pointee.xFileSize(file, &size) == SQLITE_OK ? size : 0
  }

  /// The bytes at an offset; zeros take the place of what is beyond the end or can't be read.
  func bytes(at offset: Int64, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    _ = bytes.withUnsafeMutableBytes { file.read($0, at: offset) }
    return bytes
  }

  /// The bytes at an offset; zeros take the place of what is beyond the end.
  func read(at offset: Int64, count: Int) throws(SQLiteError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let code = bytes.withUnsafeMutableBytes { file.read($0, at: offset) }
    if code != SQLiteError.shortReadCode { try check(code) }
    return bytes
  }

  func write(_ bytes: [UInt8], at offset: Int64) throws(SQLiteError) {
    try check(bytes.withUnsafeBytes { file.write($0, at: offset) })
  }

  /// Waits until everything is on the disk.
  func synchronize() throws(SQLiteError) {
    try check(file.pointee.pMethods.pointee.xSync(file, SQLITE_SYNC_FULL))
  }

  private func check(_ code: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw SQLiteError(code, .last, path) }
  }
}
