import CDTCSQLite
import CDTDigest
import CDTPlatform

/// Encrypted pages (``DatabaseCipher``), each with the nonce that ``PageSeals`` has.
final class SealCodec: PageCodec {
  let cipher: DatabaseCipher
  private let pages: AuthenticatedCipher
  private let seals: PageSeals

  /// - Parameter path: The path of the database.
  init(_ cipher: DatabaseCipher, path: String, isWritable: Bool) {
    self.cipher = cipher
    pages = AuthenticatedCipher(key: cipher.pageKey)
    seals = PageSeals(of: path, isWritable: isWritable, cipher)
  }

  func pageSize(of _: File) -> Int? { DatabaseCipher.pageSize }

  func open(_ page: UnsafeMutableRawBufferPointer, number: Int64, of file: File) -> Int32 {
    var attempts = 4
    while true {
      var isCurrent = false
      var code = Self.code { () throws(SQLiteError) in
        isCurrent = try isCurrentSeal(of: UnsafeRawBufferPointer(page), number: number)
      }
      guard code == SQLITE_OK else { return code }
      let isOpened = DatabaseCipher.open(page, number: number, with: pages)
      if isOpened, isCurrent { return SQLITE_OK }
      attempts -= 1
      // While it has no lock on the log, SQLite may read a page that another process is writing.
      guard isOpened, attempts > 0 else { return SQLiteError.damagedPageCode }
      Sleep.microseconds(2_000)
      code = file.read(page, at: (number - 1) * Int64(page.count))
      guard code == SQLITE_OK else { return code }
    }
  }

  /// Whether an encrypted page is the one that was written last.
  func isCurrentSeal(of page: UnsafeRawBufferPointer, number: Int64) throws(SQLiteError) -> Bool {
    try seals.isCurrent(AuthenticatedCipher.nonce(of: page), of: number)
  }

  /// The content of an encrypted page; `nil` if it is not what was sealed.
  func content(of page: [UInt8], number: Int64) -> [UInt8]? {
    guard page.count == DatabaseCipher.pageSize else { return nil }
    var content = page
    return content.withUnsafeMutableBytes { DatabaseCipher.open($0, number: number, with: pages) }
      ? content : nil
  }

  func readHeader(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int64, of file: File) -> Int32 {
    let end = Int(offset) + bytes.count
    guard end <= DatabaseCipher.pageSize else { return SQLITE_IOERR }
    // Like the log, it is opened while the directory stays in place.
    let code = Self.code { () throws(SQLiteError) in try seals.open() }
    guard code == SQLITE_OK else { return code }
    return withUnsafeTemporaryAllocation(byteCount: DatabaseCipher.pageSize, alignment: 8) { page in
      let code = file.read(page, at: 0)
      guard code == SQLITE_OK else {
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        return code
      }
      DatabaseCipher.openHeader(page)
      bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: page[Int(offset)..<end]))
      return SQLITE_OK
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64, to file: File) -> Int32 {
    // No part of a page is ever written without being sealed.
    guard bytes.count == DatabaseCipher.pageSize, offset % Int64(bytes.count) == 0 else {
      return SQLiteError.writeCode
    }
    let number = offset / Int64(bytes.count) + 1
    guard let isFormer = number == 1 ? Self.isFormer(file) : false else { return SQLiteError.writeCode }
    return file.write(bytes, at: offset) { page in
      DatabaseCipher.seal(page, number: number, with: pages, isFormer: isFormer)
      return Self.code { () throws(SQLiteError) in
        try seals.write(AuthenticatedCipher.nonce(of: UnsafeRawBufferPointer(page)), of: number)
      }
    }
  }

  /// Whether a file has the mark of an earlier version, which it keeps; `nil` if it can't be read.
  private static func isFormer(_ file: File) -> Bool? {
    withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { header in
      switch file.read(header, at: 0) {
      case SQLITE_OK: DatabaseCipher.isFormer(header)
      case SQLiteError.shortReadCode: false
      default: nil
      }
    }
  }

  /// Takes the place of SQLite's log beside a file that has, or will have, SQLite's mark.
  ///
  /// - Returns: `false` if another program has a log there.
  static func keepOthersOut(_ file: File, at path: String) -> Bool {
    isFormer(file) == true || LogFile.takePlace(besideDatabase: path)
  }

  func noteOtherWriters() { seals.begin() }

  func synchronize() -> Int32 { Self.code { () throws(SQLiteError) in try seals.synchronize() } }

  private static func code(_ body: () throws(SQLiteError) -> Void) -> Int32 {
    do throws(SQLiteError) {
      try body()
      return SQLITE_OK
    } catch {
      return error.extendedCode
    }
  }
}
