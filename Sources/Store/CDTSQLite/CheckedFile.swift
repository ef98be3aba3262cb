import CDTCSQLite
import CDTDigest
import CDTPlatform

/// A database file whose pages have checksums, or are encrypted: the methods that SQLite calls.
///
/// Pages get a ``PageChecksum`` when they are written to the file, and it is verified when they are read. A file is
/// checked if its header reserves 8 bytes in each page (byte 20). The write-ahead log has checksums of its own, which
/// SQLite verifies when it opens the log. The pages that SQLite gets, and writes to the log, have zeros in place of the
/// checksum. Source: https://sqlite.org/fileformat2.html, https://sqlite.org/vfs.html
struct CheckedFile {
  /// The file that SQLite passes to each method.
  typealias File = UnsafeMutablePointer<sqlite3_file>

  /// The size of this file's part of the memory, also if it is a ``SealedLogFile``; the rest is the system's.
  static let size =
    (max(MemoryLayout<csqlite_checked_file>.stride, MemoryLayout<csqlite_sealed_log>.stride) + 15) / 16 * 16
  /// The operation of `sqlite3_file_control` that returns the last damaged page as an `Int64`, once. SQLite leaves numbers
  /// above 100 to applications.
  static let damagedPageOperation: Int32 = 1_128
  /// The operation of `sqlite3_file_control` that returns whether the file is checked, as an `Int64`.
  static let isCheckedOperation: Int32 = 1_129
  /// The operation of `sqlite3_file_control` that gives the file its ``CopiedPages``: an `Unmanaged` reference, which is
  /// retained until the file is closed.
  static let copiedPagesOperation: Int32 = 1_130
  /// The operation of `sqlite3_file_control` that says, by an `Int64`, whether another connection keeps the write lock of the
  /// log until it is told otherwise.
  static let lentWriteLockOperation: Int32 = 1_131
  /// The operation of `sqlite3_file_control` that returns whether the index of the log was found wrong, as an `Int64`.
  static let wrongLogIndexOperation: Int32 = 1_132

  let memory: UnsafeMutablePointer<csqlite_checked_file>
  let file: File

  init(_ file: File) {
    memory = UnsafeMutableRawPointer(file).assumingMemoryBound(to: csqlite_checked_file.self)
    self.file = Self.system(file)
  }

  /// The system's file.
  static func system(_ file: File) -> File {
    (UnsafeMutableRawPointer(file) + size).assumingMemoryBound(to: sqlite3_file.self)
  }

  /// Makes a file that the system's VFS has opened a checked one.
  ///
  /// - Parameters:
  ///   - copiedPages: The pages without checksums that are used.
  ///   - sealer: The encryption of an encrypted file.
  static func open(_ file: File, copiedPages: CopiedPages? = nil, sealer: PageSealer? = nil) {
    let memory = UnsafeMutableRawPointer(file).assumingMemoryBound(to: csqlite_checked_file.self)
    memory.initialize(to: csqlite_checked_file())
    memory.pointee.base.pMethods = ioMethods
    if let copiedPages { memory.pointee.copied_pages = Unmanaged.passRetained(copiedPages).toOpaque() }
    if let sealer { memory.pointee.sealer = Unmanaged.passRetained(sealer).toOpaque() }
  }

  /// The encryption of the pages, if they are encrypted.
  var sealer: PageSealer? {
    memory.pointee.sealer.map { Unmanaged<PageSealer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Notes which page was found damaged.
  func noteDamage(of page: Int64) { memory.pointee.damaged_page = page }

  var methods: sqlite3_io_methods { file.pointee.pMethods.pointee }

  // MARK: Reading and writing

  private func read(_ buffer: UnsafeMutableRawPointer, _ count: Int32, at offset: Int64) -> Int32 {
    if let sealer, Int(count) != DatabaseCipher.pageSize || offset % Int64(count) != 0 {
      return read(partOf: sealer, UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), at: offset)
    }
    let code = methods.xRead(file, buffer, count, offset)
    if code == SQLiteError.shortReadCode { return missing(count, at: offset) }
    guard code == SQLITE_OK else { return code }
    if let sealer {
      return open(UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), at: offset, sealer)
    }
    if offset == 0 { note(UnsafeRawBufferPointer(start: buffer, count: Int(count))) }
    guard isChecked else { return SQLITE_OK }
    let size = pageSize
    if count == size, offset % Int64(size) == 0 {
      return verify(UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), at: offset)
    }
    // SQLite reads the header by itself, before it locks the file. It may also read a part of another page.
    guard size > 0, offset >= Int64(size) else { return SQLITE_OK }
    let start = offset / Int64(size) * Int64(size)
    guard offset + Int64(count) <= start + Int64(size) else { return SQLITE_IOERR }
    return withUnsafeTemporaryAllocation(byteCount: Int(size), alignment: 8) { page in
      guard let address = page.baseAddress else { return SQLITE_NOMEM }
      let code = methods.xRead(file, address, size, start)
      guard code == SQLITE_OK else { return code }
      let verified = verify(page, at: start)
      buffer.copyMemory(from: address + Int(offset - start), byteCount: Int(count))
      return verified
    }
  }

  /// SQLite takes a page beyond the end of the file for an empty one. It only asks for pages that it has written, and
  /// for the first page of a new file.
  private func missing(_ count: Int32, at offset: Int64) -> Int32 {
    guard offset > 0, isChecked, count == pageSize, offset % Int64(count) == 0 else {
      return SQLiteError.shortReadCode
    }
    memory.pointee.damaged_page = offset / Int64(count) + 1
    return SQLiteError.damagedPageCode
  }

  private func verify(_ page: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int32 {
    let number = offset / Int64(page.count) + 1
    let read = UnsafeRawBufferPointer(page)
    if PageChecksum.isValid(read, number: number) {
      PageChecksum.clear(in: page)
      return SQLITE_OK
    }
    if PageChecksum.isMissing(read), copiedPages?.accepts(number) == true { return SQLITE_OK }
    memory.pointee.damaged_page = number
    return SQLiteError.damagedPageCode
  }

  // MARK: Encrypted pages

  private func open(_ page: UnsafeMutableRawBufferPointer, at offset: Int64, _ sealer: PageSealer) -> Int32 {
    let number = offset / Int64(DatabaseCipher.pageSize) + 1
    var attempts = 4
    while true {
      var isCurrent = false
      let nonce = AuthenticatedCipher.nonce(of: UnsafeRawBufferPointer(page))
      var code = Self.code { () throws(SQLiteError) in
        isCurrent = try sealer.seals.isCurrent(nonce, of: number)
      }
      guard code == SQLITE_OK else { return code }
      let isOpened = DatabaseCipher.open(page, number: number, with: sealer.pages)
      if isOpened, isCurrent { return SQLITE_OK }
      attempts -= 1
      // While it has no lock on the log, SQLite may read a page that another process is writing.
      guard isOpened, attempts > 0 else {
        memory.pointee.damaged_page = number
        return SQLiteError.damagedPageCode
      }
      Sleep.microseconds(2_000)
      code = methods.xRead(file, page.baseAddress, Int32(page.count), offset)
      guard code == SQLITE_OK else { return code }
    }
  }

  /// Reads a part of a page.
  private func read(partOf sealer: PageSealer, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
    -> Int32
  {
    let size = Int64(DatabaseCipher.pageSize)
    let start = offset / size * size
    guard offset + Int64(buffer.count) <= start + size else { return SQLITE_IOERR }
    // Like the log, it is opened while the directory stays in place.
    if start == 0, case let code = Self.code({ () throws(SQLiteError) in try sealer.seals.open() }),
      code != SQLITE_OK
    {
      return code
    }
    return withUnsafeTemporaryAllocation(byteCount: Int(size), alignment: 8) { page in
      let code = methods.xRead(file, page.baseAddress, Int32(size), start)
      guard code == SQLITE_OK else {
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        return code
      }
      // SQLite reads the header by itself, before it locks the file.
      if start == 0 {
        DatabaseCipher.openHeader(page)
      } else if case let code = open(page, at: start, sealer), code != SQLITE_OK {
        return code
      }
      buffer.copyMemory(
        from: UnsafeRawBufferPointer(
          rebasing: page[Int(offset - start)...][..<(Int(offset - start) + buffer.count)]))
      return SQLITE_OK
    }
  }

  private static func code(_ body: () throws(SQLiteError) -> Void) -> Int32 {
    do throws(SQLiteError) {
      try body()
      return SQLITE_OK
    } catch {
      return error.extendedCode
    }
  }

  // MARK: Pages that another program has copied

  private var copiedPages: CopiedPages? {
    memory.pointee.copied_pages.map { Unmanaged<CopiedPages>.fromOpaque($0).takeUnretainedValue() }
  }

  private func setCopiedPages(_ new: UnsafeMutableRawPointer?) {
    if let old = memory.pointee.copied_pages { Unmanaged<CopiedPages>.fromOpaque(old).release() }
    if let new { _ = Unmanaged<CopiedPages>.fromOpaque(new).retain() }
    memory.pointee.copied_pages = new
  }

  /// Writes the checksums of copied pages, if that was asked for. In a checkpoint nothing else writes to the file, and
  /// SQLite syncs it at the end.
  private func sealCopiedPages() -> Int32 {
    guard let copiedPages, let numbers = copiedPages.takePagesToSeal() else { return SQLITE_OK }
    let size = pageSize
    return withUnsafeTemporaryAllocation(byteCount: Int(size), alignment: 8) { page in
      guard let address = page.baseAddress else { return SQLITE_NOMEM }
      for number in numbers {
        let offset = (number - 1) * Int64(size)
        var code = methods.xRead(file, address, size, offset)
        guard code == SQLITE_OK else { return code }
        // It may have been written in the meantime.
        guard PageChecksum.isMissing(UnsafeRawBufferPointer(page)) else { continue }
        PageChecksum.store(in: page, number: number)
        code = methods.xWrite(file, address, size, offset)
        guard code == SQLITE_OK else { return code }
      }
      copiedPages.noteSealed(numbers)
      return SQLITE_OK
    }
  }

  private func write(_ buffer: UnsafeRawPointer, _ count: Int32, at offset: Int64) -> Int32 {
    let page = UnsafeRawBufferPointer(start: buffer, count: Int(count))
    // No part of a page is ever written without being sealed.
    if sealer != nil, Int(count) != DatabaseCipher.pageSize || offset % Int64(count) != 0 {
      return SQLiteError.writeCode
    }
    if offset == 0 { note(page) }
    // SQLite writes whole pages only, the first one first.
    guard isChecked, count >= 512, offset % Int64(count) == 0 else {
      return methods.xWrite(file, buffer, count, offset)
    }
    return withUnsafeTemporaryAllocation(byteCount: Int(count), alignment: 8) { copy in
      copy.copyMemory(from: page)
      if let sealer {
        let number = offset / Int64(count) + 1
        DatabaseCipher.seal(copy, number: number, with: sealer.pages)
        let nonce = AuthenticatedCipher.nonce(of: UnsafeRawBufferPointer(copy))
        let code = Self.code { () throws(SQLiteError) in try sealer.seals.write(nonce, of: number) }
        guard code == SQLITE_OK else { return code }
        return methods.xWrite(file, copy.baseAddress, count, offset)
      }
      PageChecksum.store(in: copy, number: offset / Int64(count) + 1)
      return methods.xWrite(file, copy.baseAddress, count, offset)
    }
  }

  // MARK: The header

  /// Whether pages have checksums. The file may get them while it is open, from another process.
  private var isChecked: Bool {
    if memory.pointee.sealer != nil { return true }
    if memory.pointee.is_checked == 0 { readHeader() }
    return memory.pointee.is_checked != 0
  }

  private var pageSize: Int32 {
    if memory.pointee.sealer != nil { return Int32(DatabaseCipher.pageSize) }
    if memory.pointee.page_size == 0 { readHeader() }
    return memory.pointee.page_size
  }

  private func readHeader() {
    withUnsafeTemporaryAllocation(byteCount: Self.headerLength, alignment: 8) { header in
      guard let address = header.baseAddress,
        methods.xRead(file, address, Int32(Self.headerLength), 0) == SQLITE_OK
      else { return }
      note(UnsafeRawBufferPointer(header))
    }
  }

  private static let headerLength = 100

  /// Reads the size of the pages and their reserved space from the file's header.
  private func note(_ header: UnsafeRawBufferPointer) {
    guard header.count >= Self.headerLength, header.starts(with: "SQLite format 3\0".utf8) else { return }
    let size = Int32(header[16]) << 8 | Int32(header[17])
    // 65536 does not fit.
    memory.pointee.page_size = size == 1 ? 65_536 : size
    // Checksums are never taken away again.
    if Int(header[20]) == PageChecksum.length { memory.pointee.is_checked = 1 }
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
      CheckedFile.forward(file) { $1.xShmMap($0, region, size, extends, memory) }
    }
    methods.xShmLock = { file, offset, count, flags in
      CheckedFile.forward(file) { $1.xShmLock($0, offset, count, flags) }
    }
    methods.xShmBarrier = { file in
      _ = CheckedFile.forward(file) {
        $1.xShmBarrier($0)
        return SQLITE_OK
      }
    }
    methods.xShmUnmap = { file, deletes in CheckedFile.forward(file) { $1.xShmUnmap($0, deletes) } }
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
      if let file {
        CheckedFile(file).setCopiedPages(nil)
        if let sealer = CheckedFile(file).memory.pointee.sealer {
          Unmanaged<PageSealer>.fromOpaque(sealer).release()
        }
        CheckedFile(file).memory.pointee.sealer = nil
      }
      return CheckedFile.forward(file) { $1.xClose($0) }
    }
    methods.xRead = { file, buffer, count, offset in
      guard let file, let buffer else { return SQLITE_MISUSE }
      return CheckedFile(file).read(buffer, count, at: offset)
    }
    methods.xWrite = { file, buffer, count, offset in
      guard let file, let buffer else { return SQLITE_MISUSE }
      return CheckedFile(file).write(buffer, count, at: offset)
    }
    methods.xSync = { file, flags in
      if let sealer = file.flatMap({ CheckedFile($0).sealer }) {
        let code = CheckedFile.code { () throws(SQLiteError) in try sealer.seals.synchronize() }
        guard code == SQLITE_OK else { return code }
      }
      return CheckedFile.forward(file) { $1.xSync($0, flags) }
    }
    methods.xFileControl = { file, operation, argument in
      guard let file else { return SQLITE_MISUSE }
      return CheckedFile(file).control(operation, argument)
    }
    methods.xShmMap = { file, region, size, extends, memory in
      guard let file else { return SQLITE_MISUSE }
      let code = CheckedFileSystem.creating {
        CheckedFile.forward(file) { $1.xShmMap($0, region, size, extends, memory) }
      }
      if code == SQLITE_OK, region == 0 { CheckedFile(file).memory.pointee.log_index = memory?.pointee }
      return code
    }
    methods.xShmLock = { file, first, count, flags in
      guard let file else { return SQLITE_MISUSE }
      return CheckedFile(file).lockLog(first, count, flags)
    }
    methods.xShmUnmap = { file, deletes in
      if let file { CheckedFile(file).memory.pointee.log_index = nil }
      return CheckedFile.forward(file) { $1.xShmUnmap($0, deletes) }
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

  private func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    switch operation {
    case Self.damagedPageOperation:
      argument?.storeBytes(of: memory.pointee.damaged_page, as: Int64.self)
      memory.pointee.damaged_page = 0
      return SQLITE_OK
    case Self.isCheckedOperation:
      argument?.storeBytes(of: isChecked ? 1 : 0, as: Int64.self)
      return SQLITE_OK
    case Self.copiedPagesOperation:
      setCopiedPages(argument)
      return SQLITE_OK
    case Self.lentWriteLockOperation:
      memory.pointee.is_write_lock_lent = argument?.load(as: Int64.self) == 1
      return SQLITE_OK
    case Self.wrongLogIndexOperation:
      argument?.storeBytes(of: memory.pointee.is_log_index_wrong ? 1 : 0, as: Int64.self)
      return SQLITE_OK
    case SQLITE_FCNTL_CKPT_START:
      sealer?.seals.begin()
      let code = sealCopiedPages()
      return code == SQLITE_OK ? methods.xFileControl(file, operation, argument) : code
    default:
      return methods.xFileControl(file, operation, argument)
    }
  }
}

/// The encryption of the pages of an open file.
final class PageSealer {
  let cipher: DatabaseCipher
  let pages: AuthenticatedCipher
  let seals: PageSeals

  init(_ cipher: DatabaseCipher, path: String, isWritable: Bool) {
    self.cipher = cipher
    pages = AuthenticatedCipher(key: cipher.pageKey)
    seals = PageSeals(of: path, isWritable: isWritable, cipher)
  }
}
