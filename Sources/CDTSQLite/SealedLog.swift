import CDTCSQLite
import CDTDigest

/// The write-ahead log of an encrypted database.
///
/// Its layout is that of SQLite. In each frame the page is sealed like those of the database (``DatabaseCipher``). Its number, the
/// size of the database, the salts of the log and the frame's place are authenticated. The salts and the checksum in the
/// frame's header are one block of AES: SQLite computes the checksum from what is written, about which it would tell something.
///
/// A log is only valid up to the first frame whose checksum is wrong, and SQLite reads frames whole to find it. So a frame that
/// can't be opened gives zeros then, which have another checksum. When a page is read alone, it is damaged.
///
/// Source: https://sqlite.org/fileformat2.html, The Write-Ahead Log.
final class SealedLog {
  private let pages: AuthenticatedCipher
  private let headers: BlockCipher
  /// The header that was written last, and of which frame.
  private var header = [UInt8](repeating: 0, count: frameHeaderLength)
  private var headerFrame: Int64 = -1

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

  /// - Parameter header: The frame's header, not encrypted.
  private func withContext<Result>(
    _ header: UnsafeRawBufferPointer, _ frame: Int64, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    withUnsafeTemporaryAllocation(byteCount: 24, alignment: 8) { context in
      context.storeBytes(of: frame.littleEndian, as: Int64.self)
      UnsafeMutableRawBufferPointer(rebasing: context[8...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: header[..<16]))
      return body(UnsafeRawBufferPointer(context))
    }
  }

  private func openPage(
    _ page: UnsafeMutableRawBufferPointer, _ header: UnsafeRawBufferPointer, _ frame: Int64
  ) -> Bool {
    withContext(header, frame) { pages.open(page, with: $0) }
  }

  /// Decrypts a whole frame where it is. The page is zeros if it is not what was sealed.
  ///
  /// - Returns: Whether it is.
  @discardableResult
  func open(_ frame: inout [UInt8], number: Int64) -> Bool {
    guard frame.count == Self.frameLength else { return false }
    return frame.withUnsafeMutableBytes { bytes in
      let header = UnsafeMutableRawBufferPointer(rebasing: bytes[..<Self.frameHeaderLength])
      openHeader(header)
      return openPage(
        UnsafeMutableRawBufferPointer(rebasing: bytes[Self.frameHeaderLength...]),
        UnsafeRawBufferPointer(header), number)
    }
  }

  // MARK: Reading and writing

  typealias File = UnsafeMutablePointer<sqlite3_file>

  /// - Parameter damagedPage: The number of a page that can't be opened.
  func read(
    _ file: File, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64, damagedPage: inout Int64
  ) -> Int32 {
    let end = offset + Int64(buffer.count)
    var isStrict = true
    var position = offset
    while position < end {
      let (part, start, length) = Self.part(at: position)
      let wanted = position..<min(end, start + Int64(length))
      let target = UnsafeMutableRawBufferPointer(
        rebasing: buffer[Int(wanted.lowerBound - offset)..<Int(wanted.upperBound - offset)])
      let from = Int(wanted.lowerBound - start)
      var code = SQLITE_OK
      switch part {
      case .header:
        code = file.pointee.pMethods.pointee.xRead(file, target.baseAddress, Int32(target.count), position)
      case .frameHeader:
        isStrict = false
        code = reading(file, Self.frameHeaderLength, at: start) { header in
          openHeader(header)
          target.copyMemory(from: UnsafeRawBufferPointer(rebasing: header[from..<from + target.count]))
          return SQLITE_OK
        }
      case .page(let frame):
        code = reading(file, Self.frameLength, at: Self.start(of: frame)) { bytes in
          let header = UnsafeMutableRawBufferPointer(rebasing: bytes[..<Self.frameHeaderLength])
          let page = UnsafeMutableRawBufferPointer(rebasing: bytes[Self.frameHeaderLength...])
          openHeader(header)
          if !openPage(page, UnsafeRawBufferPointer(header), frame), isStrict {
            damagedPage = Int64(UInt32(bigEndian: header.loadUnaligned(as: UInt32.self)))
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

  private func reading(
    _ file: File, _ count: Int, at offset: Int64, _ body: (UnsafeMutableRawBufferPointer) -> Int32
  ) -> Int32 {
    withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { buffer in
      let code = file.pointee.pMethods.pointee.xRead(file, buffer.baseAddress, Int32(count), offset)
      return code == SQLITE_OK ? body(buffer) : code
    }
  }

  func write(_ file: File, _ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
    var position = 0
    while position < bytes.count {
      let place = offset + Int64(position)
      let (part, start, length) = Self.part(at: place)
      let isWhole = place == start && bytes.count - position >= length
      let piece = UnsafeRawBufferPointer(rebasing: bytes[position..<min(bytes.count, position + length)])
      let code: Int32
      switch part {
      case .header where isWhole:
        headerFrame = -1
        code = file.pointee.pMethods.pointee.xWrite(file, piece.baseAddress, Int32(length), place)
      case .frameHeader(let frame) where isWhole: code = write(file, header: piece, of: frame, at: place)
      case .page(let frame) where isWhole: code = write(file, page: piece, of: frame, at: place)
      // SQLite divides a frame only on devices that change other bytes when they write, as it has to be told.
      default: code = SQLiteError.writeCode
      }
      guard code == SQLITE_OK else { return code }
      position += length
    }
    return SQLITE_OK
  }

  private func note(_ header: UnsafeRawBufferPointer, of frame: Int64) {
    self.header.withUnsafeMutableBytes { $0.copyMemory(from: header) }
    headerFrame = frame
  }

  private func write(_ file: File, header: UnsafeRawBufferPointer, of frame: Int64, at offset: Int64) -> Int32
  {
    note(header, of: frame)
    return withUnsafeTemporaryAllocation(byteCount: header.count, alignment: 8) { copy in
      copy.copyMemory(from: header)
      sealHeader(copy)
      return file.pointee.pMethods.pointee.xWrite(file, copy.baseAddress, Int32(copy.count), offset)
    }
  }

  private func write(_ file: File, page: UnsafeRawBufferPointer, of frame: Int64, at offset: Int64) -> Int32 {
    // SQLite writes a frame's header first, except where it replaces the page of a frame.
    if headerFrame != frame {
      let code = reading(file, Self.frameHeaderLength, at: Self.start(of: frame)) { header in
        openHeader(header)
        note(UnsafeRawBufferPointer(header), of: frame)
        return SQLITE_OK
      }
      guard code == SQLITE_OK else { return code }
    }
    return withUnsafeTemporaryAllocation(byteCount: page.count, alignment: 8) { copy in
      copy.copyMemory(from: page)
      header.withUnsafeBytes { header in withContext(header, frame) { pages.seal(copy, with: $0) } }
      return file.pointee.pMethods.pointee.xWrite(file, copy.baseAddress, Int32(copy.count), offset)
    }
  }
}

/// An open log of an encrypted database: the methods that SQLite calls. In memory it is like a ``CheckedFile``.
enum SealedLogFile {
  typealias File = UnsafeMutablePointer<sqlite3_file>

  /// Makes a file that the system's VFS has opened a sealed log.
  ///
  /// - Parameters:
  ///   - database: The file of the database, where damaged pages are noted.
  ///   - name: The name under which it was opened, which is freed when the file is closed.
  static func open(_ file: File, of database: File, _ name: sqlite3_filename, _ log: SealedLog) {
    part(file).initialize(to: csqlite_checked_file())
    part(file).pointee.base.pMethods = UnsafePointer(ioMethods)
    part(file).pointee.sealer = Unmanaged.passRetained(log).toOpaque()
    part(file).pointee.log_name = name
    part(file).pointee.database = database
  }

  private static func part(_ file: File) -> UnsafeMutablePointer<csqlite_checked_file> {
    UnsafeMutableRawPointer(file).assumingMemoryBound(to: csqlite_checked_file.self)
  }

  private static func log(_ file: File) -> SealedLog? {
    part(file).pointee.sealer.map { Unmanaged<SealedLog>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Never freed, as SQLite uses it until the process ends.
  nonisolated(unsafe) private static let ioMethods: UnsafeMutablePointer<sqlite3_io_methods> = {
    var methods = CheckedFile.ioMethods.pointee
    methods.xClose = { file in
      guard let file else { return SQLITE_MISUSE }
      let code = CheckedFile.forward(file) { $1.xClose($0) }
      if let log = part(file).pointee.sealer { Unmanaged<SealedLog>.fromOpaque(log).release() }
      sqlite3_free_filename(part(file).pointee.log_name)
      (part(file).pointee.sealer, part(file).pointee.log_name) = (nil, nil)
      return code
    }
    methods.xRead = { file, buffer, count, offset in
      guard let file, let buffer, let log = log(file) else { return SQLITE_MISUSE }
      var damagedPage: Int64 = 0
      let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
      let code = log.read(CheckedFile.system(file), bytes, at: offset, damagedPage: &damagedPage)
      if damagedPage > 0, let database = part(file).pointee.database {
        CheckedFile(database).noteDamage(of: damagedPage)
      }
      return code
    }
    methods.xWrite = { file, buffer, count, offset in
      guard let file, let buffer, let log = log(file) else { return SQLITE_MISUSE }
      return log.write(
        CheckedFile.system(file), UnsafeRawBufferPointer(start: buffer, count: Int(count)), at: offset)
    }
    methods.xSync = { file, flags in CheckedFile.forward(file) { $1.xSync($0, flags) } }
    methods.xFileControl = { file, operation, argument in
      CheckedFile.forward(file) { $1.xFileControl($0, operation, argument) }
    }
    let memory = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    memory.initialize(to: methods)
    return memory
  }()
}
