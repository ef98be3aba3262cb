import CDTCSQLite
import CDTDigest

/// The write-ahead log of an encrypted database.
///
/// Its layout is that of SQLite. In each frame the page is sealed like those of the database (``DatabaseCipher``). Its number, the
/// size of the database, the salts of the log and the frame's place are authenticated. The salts and the checksum in the
/// frame's header are encrypted as one block of AES: the checksum is computed from the plain page and would leak information about it.
///
/// A log is only valid up to the first frame whose checksum is wrong, and SQLite reads frames whole to find it. So a frame that
/// can't be opened gives zeros then, which have another checksum. When a page is read otherwise, it is damaged.
///
/// SQLite writes a frame in these ways (``Write``), and no other is accepted:
///
/// - A frame is appended: its header, then its page.
/// - A transaction that is larger than SQLite's cache has written pages before its commit. A page that changes again is replaced
///   without its header.
/// - From then on the headers of the transaction's frames have zeros in place of the salts and the checksum. The commit
///   writes the headers again, and before each it reads the frame.
///
/// So zeros in a header stand for the salts in the log's own header. Until this was done, pages were sealed with the zeros; they
/// can still be opened.
///
/// Source: https://sqlite.org/fileformat2.html, The Write-Ahead Log.
final class SealedLog {
  private let pages: AuthenticatedCipher
  private let headers: BlockCipher
  /// The frame whose header was written last, while its page may not fit it, and that header.
  private var unfinished: Int64?
  private var header = [UInt8](repeating: 0, count: frameHeaderLength)
  /// The frame whose page was read last, and what its header has in place of ``pageAndSize(_:)``.
  private var opened: (frame: Int64, pageAndSize: UInt64)?
  /// Whether the log's header was read, and nothing has been written since: a connection that finds the valid frames of a
  /// log begins with it.
  private var isRecovering = false
  /// Called with each write, in tests.
  var onWrite: ((Write) -> Void)?

  /// The ways in which SQLite writes a part of the log.
  enum Write: CaseIterable {
    case logHeader, frameHeader, pageAfterHeader, pageInPlace, frameHeaderAgain
  }

  static let headerLength = WriteAheadLog.headerLength
  static let frameHeaderLength = LogFrames.headerLength
  static let frameLength = frameHeaderLength + DatabaseCipher.pageSize

  init(_ cipher: DatabaseCipher) {
    pages = AuthenticatedCipher(key: cipher.logKey)
    headers = BlockCipher(key: cipher.headerKey)
  }

  /// A part of the log that is written at once.
  private enum Part {
    case header
    case frameHeader(Int64)
    case page(Int64)
  }

  /// The part with a byte, where it begins, and its length.
  private static func part(at offset: Int64) -> (part: Part, start: Int64, length: Int) {
    guard offset >= Int64(headerLength) else { return (.header, 0, headerLength) }
    let frame = (offset - Int64(headerLength)) / Int64(frameLength)
    let start = Self.start(of: frame)
    if offset < start + Int64(frameHeaderLength) { return (.frameHeader(frame), start, frameHeaderLength) }
    return (.page(frame), start + Int64(frameHeaderLength), DatabaseCipher.pageSize)
  }

  private static func start(of frame: Int64) -> Int64 { Int64(headerLength) + frame * Int64(frameLength) }

  // MARK: Frames

  private func sealHeader(_ header: UnsafeMutableRawBufferPointer) {
    if let block = header.baseAddress { headers.encrypt(block + 8) }
  }

  private func openHeader(_ header: UnsafeMutableRawBufferPointer) {
    if let block = header.baseAddress { headers.decrypt(block + 8) }
  }

  private static func hasSalts(_ header: UnsafeRawBufferPointer) -> Bool {
    header[8..<16].contains { $0 != 0 }
  }

  /// The number of a frame's page and the size of the database: what the page is sealed with besides the salts.
  private static func pageAndSize(_ header: UnsafeRawBufferPointer) -> UInt64 {
    header.loadUnaligned(as: UInt64.self)
  }

  /// - Parameter header: The page's number, the size of the database, and the salts.
  private static func withContext<Result>(
    _ header: UnsafeRawBufferPointer, _ frame: Int64, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    withUnsafeTemporaryAllocation(byteCount: 24, alignment: 8) { context in
      context.storeBytes(of: frame.littleEndian, as: Int64.self)
      UnsafeMutableRawBufferPointer(rebasing: context[8...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: header[..<16]))
      return body(UnsafeRawBufferPointer(context))
    }
  }

  /// Decrypts a page where it is. It is zeros if it is not what was sealed.
  ///
  /// - Parameter header: The frame's header, decrypted, with the salts of the log.
  private func openPage(
    _ page: UnsafeMutableRawBufferPointer, _ header: UnsafeRawBufferPointer, _ frame: Int64
  ) -> Bool {
    Self.withContext(header, frame) { pages.open(page, with: $0) }
  }

  /// Opens a page that an earlier version sealed, when the frame's header did not have the salts yet.
  private func openFormerPage(
    _ page: UnsafeMutableRawBufferPointer, _ header: UnsafeMutableRawBufferPointer, _ frame: Int64
  ) -> Bool {
    UnsafeMutableRawBufferPointer(rebasing: header[8..<16]).initializeMemory(as: UInt8.self, repeating: 0)
    return openPage(page, UnsafeRawBufferPointer(header), frame)
  }

  /// Decrypts a whole frame where it is. The page is zeros if it is not what was sealed.
  ///
  /// - Returns: Whether it is.
  @discardableResult
  func open(_ frame: inout [UInt8], number: Int64) -> Bool {
    guard frame.count == Self.frameLength else { return false }
    let sealed = frame
    return frame.withUnsafeMutableBytes { bytes in
      let header = UnsafeMutableRawBufferPointer(rebasing: bytes[..<Self.frameHeaderLength])
      let page = UnsafeMutableRawBufferPointer(rebasing: bytes[Self.frameHeaderLength...])
      openHeader(header)
      if openPage(page, UnsafeRawBufferPointer(header), number) { return true }
      page.copyBytes(from: sealed[Self.frameHeaderLength...])
      return withUnsafeTemporaryAllocation(byteCount: header.count, alignment: 8) { copy in
        copy.copyMemory(from: UnsafeRawBufferPointer(header))
        return openFormerPage(page, copy, number)
      }
    }
  }

  // MARK: Reading

  typealias File = UnsafeMutablePointer<sqlite3_file>

  /// - Parameter damagedPage: The number of a page that can't be opened.
  func read(
    _ file: File, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64, damagedPage: inout Int64
  ) -> Int32 {
    let end = offset + Int64(buffer.count)
    var position = offset
    var includesHeader = false
    while position < end {
      let (part, start, length) = Self.part(at: position)
      let wanted = position..<min(end, start + Int64(length))
      let target = UnsafeMutableRawBufferPointer(
        rebasing: buffer[Int(wanted.lowerBound - offset)..<Int(wanted.upperBound - offset)])
      let from = Int(wanted.lowerBound - start)
      let code: Int32
      switch part {
      case .header:
        if wanted.count == length { isRecovering = true }
        code = file.read(target, at: position)
      case .frameHeader(let frame):
        includesHeader = true
        code = withHeader(file, of: frame) { header in
          target.copyMemory(from: UnsafeRawBufferPointer(rebasing: header[from..<from + target.count]))
          return SQLITE_OK
        }
      case .page(let frame):
        code = withPage(file, of: frame) { page, number in
          guard let page else {
            guard !includesHeader || !isRecovering else {
              target.initializeMemory(as: UInt8.self, repeating: 0)
              return SQLITE_OK
            }
            damagedPage = number
            return SQLiteError.damagedPageCode
          }
          target.copyMemory(from: UnsafeRawBufferPointer(rebasing: page[from..<from + target.count]))
          return SQLITE_OK
        }
      }
      guard code == SQLITE_OK else {
        // SQLite expects zeros in place of what is beyond the end.
        if code == SQLiteError.shortReadCode {
          UnsafeMutableRawBufferPointer(rebasing: buffer[Int(position - offset)...])
            .initializeMemory(as: UInt8.self, repeating: 0)
        }
        return code
      }
      position = wanted.upperBound
    }
    return SQLITE_OK
  }

  private func withBytes(
    _ file: File, _ count: Int, at offset: Int64, _ body: (UnsafeMutableRawBufferPointer) -> Int32
  ) -> Int32 {
    withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { buffer in
      let code = file.read(buffer, at: offset)
      return code == SQLITE_OK ? body(buffer) : code
    }
  }

  /// Reads a frame's header as SQLite has written it.
  private func withHeader(
    _ file: File, of frame: Int64, _ body: (UnsafeMutableRawBufferPointer) -> Int32
  ) -> Int32 {
    withBytes(file, Self.frameHeaderLength, at: Self.start(of: frame)) { header in
      openHeader(header)
      return body(header)
    }
  }

  /// Puts the salts of the log into a header that has none.
  private func addSalts(_ file: File, to header: UnsafeMutableRawBufferPointer) -> Int32 {
    guard !Self.hasSalts(UnsafeRawBufferPointer(header)) else { return SQLITE_OK }
    return withBytes(file, Self.headerLength, at: 0) { log in
      UnsafeMutableRawBufferPointer(rebasing: header[8..<16])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: log[16..<24]))
      return SQLITE_OK
    }
  }

  /// Reads the page of a frame.
  ///
  /// - Parameter body: Gets the page, `nil` if it is not what was sealed, and its number.
  private func withPage(
    _ file: File, of frame: Int64, _ body: (UnsafeRawBufferPointer?, Int64) -> Int32
  ) -> Int32 {
    withBytes(file, Self.frameLength, at: Self.start(of: frame)) { bytes in
      let header = UnsafeMutableRawBufferPointer(rebasing: bytes[..<Self.frameHeaderLength])
      let page = UnsafeMutableRawBufferPointer(rebasing: bytes[Self.frameHeaderLength...])
      openHeader(header)
      let code = addSalts(file, to: header)
      guard code == SQLITE_OK else { return code }
      var isOpened = openPage(page, UnsafeRawBufferPointer(header), frame)
      if !isOpened {
        let code = file.read(page, at: Self.start(of: frame) + Int64(Self.frameHeaderLength))
        guard code == SQLITE_OK else { return code }
        isOpened = openFormerPage(page, header, frame)
      }
      opened = isOpened ? (frame, Self.pageAndSize(UnsafeRawBufferPointer(header))) : nil
      return body(
        isOpened ? UnsafeRawBufferPointer(page) : nil,
        Int64(UInt32(bigEndian: header.loadUnaligned(as: UInt32.self))))
    }
  }

  // MARK: Writing

  func write(_ file: File, _ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
    isRecovering = false
    var position = 0
    while position < bytes.count {
      let place = offset + Int64(position)
      let (part, start, length) = Self.part(at: place)
      // SQLite only splits a frame without SQLITE_IOCAP_POWERSAFE_OVERWRITE.
      guard place == start, bytes.count - position >= length else { return SQLiteError.writeCode }
      let piece = UnsafeRawBufferPointer(rebasing: bytes[position..<position + length])
      let code: Int32
      switch part {
      case .header:
        (unfinished, opened) = (nil, nil)
        onWrite?(.logHeader)
        code = file.write(piece, at: place)
      case .frameHeader(let frame): code = write(file, header: piece, of: frame, at: place)
      case .page(let frame): code = write(file, page: piece, of: frame, at: place)
      }
      guard code == SQLITE_OK else { return code }
      position += length
    }
    return SQLITE_OK
  }

  /// Verifies that the frame whose header was written last has a page that was sealed with it. Call it before anything else is
  /// written than that page.
  func finish(_ file: File) -> Int32 {
    guard let frame = unfinished else { return SQLITE_OK }
    let code = withPage(file, of: frame) { page, _ in page == nil ? SQLiteError.writeCode : SQLITE_OK }
    if code == SQLITE_OK { unfinished = nil }
    return code
  }

  private func write(_ file: File, header: UnsafeRawBufferPointer, of frame: Int64, at offset: Int64) -> Int32
  {
    let code = finish(file)
    guard code == SQLITE_OK else { return code }
    if let opened, opened == (frame, Self.pageAndSize(header)) {
      onWrite?(.frameHeaderAgain)
    } else {
      onWrite?(.frameHeader)
      unfinished = frame
      self.header.withUnsafeMutableBytes { $0.copyMemory(from: header) }
    }
    opened = nil
    return file.write(header, at: offset) { copy in
      sealHeader(copy)
      return SQLITE_OK
    }
  }

  private func write(_ file: File, page: UnsafeRawBufferPointer, of frame: Int64, at offset: Int64) -> Int32 {
    opened = nil
    if unfinished == frame {
      onWrite?(.pageAfterHeader)
      let code = header.withUnsafeMutableBytes { write(file, page, $0, of: frame, at: offset) }
      if code == SQLITE_OK { unfinished = nil }
      return code
    }
    let code = finish(file)
    guard code == SQLITE_OK else { return code }
    onWrite?(.pageInPlace)
    return withHeader(file, of: frame) { write(file, page, $0, of: frame, at: offset) }
  }

  private func write(
    _ file: File, _ page: UnsafeRawBufferPointer, _ header: UnsafeMutableRawBufferPointer, of frame: Int64,
    at offset: Int64
  ) -> Int32 {
    let code = addSalts(file, to: header)
    guard code == SQLITE_OK else { return code }
    return file.write(page, at: offset) { copy in
      Self.withContext(UnsafeRawBufferPointer(header), frame) { pages.seal(copy, with: $0) }
      return SQLITE_OK
    }
  }
}

/// An open log of an encrypted database: the methods that SQLite calls, on one thread at a time.
final class SealedLogFile {
  typealias File = UnsafeMutablePointer<sqlite3_file>

  /// The system's file.
  private let file: File
  let log: SealedLog
  private let name: sqlite3_filename
  /// The database of the log, where damaged pages are noted.
  private let database: CheckedFile

  private init(_ file: File, _ log: SealedLog, _ name: sqlite3_filename, of database: CheckedFile) {
    (self.file, self.log, self.name, self.database) = (file, log, name, database)
  }

  deinit { sqlite3_free_filename(name) }

  /// Makes a file that the system's VFS has opened a sealed log.
  ///
  /// - Parameter name: The name under which it was opened, which is freed when the file is closed.
  static func open(_ file: File, of database: CheckedFile, _ name: sqlite3_filename, _ log: SealedLog) {
    let object = SealedLogFile(CheckedFile.system(file), log, name, of: database)
    memory(of: file).initialize(
      to: csqlite_sealed_log(
        base: sqlite3_file(pMethods: ioMethods), log: Unmanaged.passRetained(object).toOpaque()))
  }

  private static func memory(of file: File) -> UnsafeMutablePointer<csqlite_sealed_log> {
    UnsafeMutableRawPointer(file).assumingMemoryBound(to: csqlite_sealed_log.self)
  }

  /// The object of an open file, which must be a sealed log.
  static func of(_ file: File?) -> SealedLogFile? {
    file.flatMap { memory(of: $0).pointee.log }.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }

  /// It is never changed.
  nonisolated(unsafe) private static let ioMethods: UnsafePointer<sqlite3_io_methods> = {
    var methods = CheckedFile.forwardingMethods
    methods.xClose = { file in
      let code = CheckedFile.forward(file) { $1.xClose($0) }
      if let file, let object = memory(of: file).pointee.log {
        Unmanaged<SealedLogFile>.fromOpaque(object).release()
        memory(of: file).pointee.log = nil
      }
      return code
    }
    methods.xRead = { file, buffer, count, offset in
      guard let file = SealedLogFile.of(file) else { return SQLITE_MISUSE }
      let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
      return file.log.read(file.file, bytes, at: offset, damagedPage: &file.database.damagedPage)
    }
    methods.xWrite = { file, buffer, count, offset in
      guard let file = SealedLogFile.of(file) else { return SQLITE_MISUSE }
      return file.log.write(file.file, UnsafeRawBufferPointer(start: buffer, count: Int(count)), at: offset)
    }
    methods.xSync = { file, flags in
      guard let file = SealedLogFile.of(file) else { return SQLITE_MISUSE }
      let code = file.log.finish(file.file)
      return code == SQLITE_OK ? file.file.pointee.pMethods.pointee.xSync(file.file, flags) : code
    }
    return CheckedFile.allocate(methods)
  }()
}
