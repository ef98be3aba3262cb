import CDTCSQLite

/// A database file whose pages have checksums, or are encrypted: the methods that SQLite calls, on one thread at a time.
///
/// Source: https://sqlite.org/vfs.html
final class CheckedFile {
  /// The file that SQLite passes to each method.
  typealias File = UnsafeMutablePointer<sqlite3_file>

  /// The size of this file's part of the memory, also if it is a ``SealedLogFile``; the rest is the system's.
  static let size =
    (max(MemoryLayout<csqlite_checked_file>.stride, MemoryLayout<csqlite_sealed_log>.stride) + 15) / 16 * 16

  /// The system's file.
  let file: File
  /// The form of the pages in the file.
  let codec: any PageCodec
  /// The number of the last page that was found damaged, or 0.
  var damagedPage: Int64 = 0
  /// The beginning of the index of the log, which SQLite has mapped.
  private(set) var logIndex: UnsafeMutableRawPointer?
  /// The reasons for which this file holds the write lock of the log.
  var writeLockUses: WriteLockUses = []
  /// Whether another connection keeps the write lock while this one makes a checkpoint.
  var isWriteLockLent = false
  /// Whether the index of the log was found wrong.
  var isLogIndexWrong = false

  private init(_ file: File, _ codec: any PageCodec) { (self.file, self.codec) = (file, codec) }

  /// Makes a file that the system's VFS has opened a checked one.
  static func open(_ file: File, _ codec: any PageCodec) {
    let object = Unmanaged.passRetained(CheckedFile(system(file), codec)).toOpaque()
    memory(of: file).initialize(
      to: csqlite_checked_file(base: sqlite3_file(pMethods: ioMethods), file: object))
  }

  private static func memory(of file: File) -> UnsafeMutablePointer<csqlite_checked_file> {
    UnsafeMutableRawPointer(file).assumingMemoryBound(to: csqlite_checked_file.self)
  }

  /// The object of an open file, which must be a checked one.
  static func of(_ file: File?) -> CheckedFile? {
    file.flatMap { memory(of: $0).pointee.file }.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }

  /// The file of a database of a connection; `nil` if it is not a checked one.
  static func of(_ schema: String, in connection: OpaquePointer) -> CheckedFile? {
    var file: File?
    let code = sqlite3_file_control(connection, schema, SQLITE_FCNTL_FILE_POINTER, &file)
    return code == SQLITE_OK && file?.pointee.pMethods == ioMethods ? of(file) : nil
  }

  /// The first file of a connection's databases that `condition` holds for, and its path.
  static func first(
    in connection: OpaquePointer, where condition: (CheckedFile) -> Bool
  ) -> (file: CheckedFile, path: String)? {
    var index: Int32 = 0
    while let name = sqlite3_db_name(connection, index) {
      index += 1
      if let file = of(String(cString: name), in: connection), condition(file),
        let path = sqlite3_db_filename(connection, name)
      {
        return (file, String(cString: path))
      }
    }
    return nil
  }

  /// The system's file.
  static func system(_ file: File) -> File {
    (UnsafeMutableRawPointer(file) + size).assumingMemoryBound(to: sqlite3_file.self)
  }

  var methods: sqlite3_io_methods { file.pointee.pMethods.pointee }

  // MARK: Pages

  /// Whether the pages have checksums or are encrypted.
  var hasCodedPages: Bool { codec.pageSize(of: file) != nil }

  private func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
    guard let size = codec.pageSize(of: file) else { return file.read(bytes, at: offset) }
    let number = offset / Int64(size) + 1
    let place = Int(offset % Int64(size))
    if place == 0, bytes.count == size {
      let code = readPage(bytes, number: number)
      // SQLite takes a page beyond the end of the file for an empty one.
      return code == SQLiteError.shortReadCode && mustHavePage(number) ? damage(of: number) : code
    }
    if number == 1 { return codec.readHeader(bytes, at: offset, of: file) }
    guard place + bytes.count <= size else { return SQLITE_IOERR }
    return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { page in
      let code = readPage(page, number: number)
      guard code == SQLITE_OK else {
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        return code
      }
      bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: page[place..<place + bytes.count]))
      return SQLITE_OK
    }
  }

  private func readPage(_ page: UnsafeMutableRawBufferPointer, number: Int64) -> Int32 {
    let code = file.read(page, at: (number - 1) * Int64(page.count))
    guard code == SQLITE_OK else { return code }
    let opened = codec.open(page, number: number, of: file)
    return opened == SQLiteError.damagedPageCode ? damage(of: number) : opened
  }

  /// Whether the last committed state has a page, which is not in the log. SQLite also asks for the first page of a new file, and within
  /// a transaction for pages that it has added and freed again, which it never writes.
  private func mustHavePage(_ number: Int64) -> Bool {
    guard number > 1 else { return false }
    guard let logIndex else { return true }
    // Without a log, the state has the pages of the file; SQLite compares that with the first page.
    let pages = csqlite_log_index_pages(logIndex)
    return pages < 0 || number <= pages
  }

  private func damage(of page: Int64) -> Int32 {
    damagedPage = page
    return SQLiteError.damagedPageCode
  }

  // MARK: SQLite's calls

  /// The methods that call those of the system's VFS.
  static let forwardingMethods: sqlite3_io_methods = {
    var methods = sqlite3_io_methods()
    // Version 2 has shared memory, for the write-ahead log, but no memory mapping, which would avoid the checks.
    methods.iVersion = 2
    methods.xClose = { file in CheckedFile.forward(file) { $1.xClose($0) } }
    methods.xRead = { file, buffer, count, offset in
      CheckedFile.forward(file) { $1.xRead($0, buffer, count, offset) }
    }
    methods.xWrite = { file, buffer, count, offset in
      CheckedFile.forward(file) { $1.xWrite($0, buffer, count, offset) }
    }
    methods.xTruncate = { file, size in CheckedFile.forward(file) { $1.xTruncate($0, size) } }
    methods.xSync = { file, flags in CheckedFile.forward(file) { $1.xSync($0, flags) } }
    methods.xFileSize = { file, size in CheckedFile.forward(file) { $1.xFileSize($0, size) } }
    methods.xLock = { file, level in CheckedFile.forward(file) { $1.xLock($0, level) } }
    methods.xUnlock = { file, level in CheckedFile.forward(file) { $1.xUnlock($0, level) } }
    methods.xCheckReservedLock = { file, result in
      CheckedFile.forward(file) { $1.xCheckReservedLock($0, result) }
    }
    methods.xFileControl = { file, operation, argument in
      CheckedFile.forward(file) { $1.xFileControl($0, operation, argument) }
    }
    methods.xSectorSize = { file in CheckedFile.forward(file) { $1.xSectorSize($0) } }
    methods.xDeviceCharacteristics = { file in CheckedFile.forward(file) { $1.xDeviceCharacteristics($0) } }
    methods.xShmMap = { file, region, size, extends, memory in
      CheckedFile.forward(file) {
        $1.xShmMap?($0, region, size, extends, memory) ?? SQLiteError.noSharedMemoryCode
      }
    }
    methods.xShmLock = { file, offset, count, flags in
      CheckedFile.forward(file) { $1.xShmLock?($0, offset, count, flags) ?? SQLiteError.noSharedMemoryCode }
    }
    methods.xShmBarrier = { file in
      _ = CheckedFile.forward(file) {
        $1.xShmBarrier?($0)
        return SQLITE_OK
      }
    }
    methods.xShmUnmap = { file, deletes in
      CheckedFile.forward(file) { $1.xShmUnmap?($0, deletes) ?? SQLITE_OK }
    }
    return methods
  }()

  /// Memory that is never freed, as SQLite uses it until the process ends.
  static func allocate(_ methods: sqlite3_io_methods) -> UnsafePointer<sqlite3_io_methods> {
    let memory = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    memory.initialize(to: methods)
    return UnsafePointer(memory)
  }

  /// It is never changed.
  nonisolated(unsafe) private static let ioMethods: UnsafePointer<sqlite3_io_methods> = {
    var methods = forwardingMethods
    methods.xClose = { file in
      // Released first: once the file is closed, another file may get its identity (``CopiedPages``).
      if let file, let object = memory(of: file).pointee.file {
        memory(of: file).pointee.file = nil
        Unmanaged<CheckedFile>.fromOpaque(object).release()
      }
      return CheckedFile.forward(file) { $1.xClose($0) }
    }
    methods.xRead = { file, buffer, count, offset in
      guard let file = CheckedFile.of(file) else { return SQLITE_MISUSE }
      return file.read(UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), at: offset)
    }
    methods.xWrite = { file, buffer, count, offset in
      guard let file = CheckedFile.of(file) else { return SQLITE_MISUSE }
      let bytes = UnsafeRawBufferPointer(start: buffer, count: Int(count))
      return file.codec.write(bytes, at: offset, to: file.file)
    }
    methods.xSync = { file, flags in
      guard let file = CheckedFile.of(file) else { return SQLITE_MISUSE }
      let code = file.codec.synchronize()
      return code == SQLITE_OK ? file.methods.xSync(file.file, flags) : code
    }
    methods.xFileControl = { file, operation, argument in
      guard let file = CheckedFile.of(file) else { return SQLITE_MISUSE }
      if operation == SQLITE_FCNTL_CKPT_START {
        file.codec.noteOtherWriters()
        let code = file.codec.beginCheckpoint(of: file.file)
        guard code == SQLITE_OK else { return code }
      }
      return file.methods.xFileControl(file.file, operation, argument)
    }
    methods.xShmMap = { file, region, size, extends, memory in
      guard let file = CheckedFile.of(file) else { return SQLITE_MISUSE }
      let code = CheckedFileSystem.creating {
        file.methods.xShmMap?(file.file, region, size, extends, memory) ?? SQLiteError.noSharedMemoryCode
      }
      if code == SQLITE_OK, region == 0 { file.logIndex = memory?.pointee.map(UnsafeMutableRawPointer.init) }
      return code
    }
    methods.xShmLock = { file, first, count, flags in
      CheckedFile.of(file)?.lockLog(first, count, flags) ?? SQLITE_MISUSE
    }
    methods.xShmUnmap = { file, deletes in
      guard let file = CheckedFile.of(file) else { return SQLITE_MISUSE }
      file.logIndex = nil
      return file.methods.xShmUnmap?(file.file, deletes) ?? SQLITE_OK
    }
    return allocate(methods)
  }()

  static func forward(
    _ file: File?, _ call: (File, sqlite3_io_methods) -> Int32
  ) -> Int32 {
    guard let file else { return SQLITE_MISUSE }
    let system = system(file)
    return call(system, system.pointee.pMethods.pointee)
  }
}
