import CDTCSQLite
import CDTDigest
import CDTPlatform
import Synchronization

/// The keys of a database whose files are encrypted, and the form of its sealed pages.
///
/// A page has the size of ``pageSize``. Its last bytes, which SQLite reserves, hold the nonce and the tag of AES-256-GCM; the
/// page's number is authenticated. The first 24 bytes of the file are not encrypted: the first 20 of SQLite, by which iOS recognizes
/// its databases, and a mark, with which SQLite refuses the file. Bytes 16 to 23, as SQLite has them, are authenticated. Files of earlier
/// versions have a mark in place of the first 16 bytes.
///
/// See ``SealedLog`` for the log, and `docs/decisions/26-encryption-in-pages.md`.
package final class DatabaseCipher: Sendable {
  let pageKey, logKey, headerKey, sealsKey: [UInt8]
  /// Names the object in the address with which SQLite opens a file.
  let token: UInt64

  /// In bytes; other sizes don't occur.
  static let pageSize = 4_096
  /// The reserved bytes at the end of each page.
  static let reservedLength = AuthenticatedCipher.overhead
  /// The first bytes of a database of an earlier version.
  private static let formerMark = Array("CDT encrypted 1\0".utf8)
  private static let sqliteMark = Array("SQLite format 3\0".utf8)
  /// The bytes 20 to 23.
  private static let mark = Array("CDT2".utf8)
  /// The same bytes in SQLite's form: the reserved bytes of a page, and three constants without which SQLite refuses a file.
  private static let sqliteSizes: [UInt8] = [UInt8(reservedLength), 64, 32, 32]
  private static let markOffset = 20
  private static let clearLength = 24
  static let parameter = "cdt-cipher"

  private static let known = Mutex<(next: UInt64, ciphers: [UInt64: WeakReference<DatabaseCipher>])>((1, [:]))

  /// - Parameter key: 32 random bytes, from which those of pages and logs are derived.
  package init(key: [UInt8]) {
    pageKey = Self.derive(key, "pages")
    logKey = Self.derive(key, "frames")
    headerKey = Self.derive(key, "frame headers")
    sealsKey = Self.derive(key, "seals")
    token = Self.known.withLock { known in
      defer { known.next += 1 }
      return known.next
    }
    Self.known.withLock { $0.ciphers[token] = WeakReference(self) }
  }

  deinit { Self.known.withLock { _ = $0.ciphers.removeValue(forKey: token) } }

  /// A key for one purpose. From it, the others can't be computed.
  package static func derive(_ key: [UInt8], _ purpose: String) -> [UInt8] {
    AuthenticationCode.hmacSHA256(Array(purpose.utf8), key: key)
  }

  static func registered(_ token: UInt64) -> DatabaseCipher? {
    known.withLock { $0.ciphers[token]?.value }
  }

  /// Whether a file is an encrypted database, by its mark.
  ///
  /// - Throws: ``SQLiteError`` if it can't be opened.
  package static func isUsed(in path: String) throws(SQLiteError) -> Bool {
    isMarked(try SystemFile(path).bytes(at: 0, count: clearLength))
  }

  /// Whether a file is an encrypted database with SQLite's mark: other programs must not have a log beside it.
  ///
  /// - Throws: ``SQLiteError`` if it can't be opened.
  package static func hasSQLiteMark(_ path: String) throws(SQLiteError) -> Bool {
    let header = try SystemFile(path).bytes(at: 0, count: clearLength)
    return isMarked(header) && !isFormer(header)
  }

  /// Whether the bytes at the beginning of a file are those of an encrypted database.
  static func isMarked(_ header: some Collection<UInt8>) -> Bool {
    isFormer(header) || header.starts(with: sqliteMark) && header.dropFirst(markOffset).starts(with: mark)
  }

  /// Whether the bytes at the beginning of a file are those of an encrypted database of an earlier version.
  static func isFormer(_ header: some Collection<UInt8>) -> Bool { header.starts(with: formerMark) }

  private static func setMark(_ page: UnsafeMutableRawBufferPointer, isFormer: Bool) {
    page.copyBytes(from: isFormer ? formerMark : sqliteMark)
    UnsafeMutableRawBufferPointer(rebasing: page[markOffset...]).copyBytes(
      from: isFormer ? sqliteSizes : mark)
  }

  /// Puts SQLite's bytes in place of the mark.
  ///
  /// - Returns: `false` if there is no mark.
  private static func removeMark(_ page: UnsafeMutableRawBufferPointer) -> Bool {
    guard isMarked(page) else { return false }
    if !isFormer(page) {
      UnsafeMutableRawBufferPointer(rebasing: page[markOffset...]).copyBytes(from: sqliteSizes)
    }
    page.copyBytes(from: sqliteMark)
    return true
  }

  // MARK: Pages

  /// Seals a page for the file.
  ///
  /// - Parameter isFormer: Whether the file has the mark of an earlier version.
  static func seal(
    _ page: UnsafeMutableRawBufferPointer, number: Int64, with cipher: AuthenticatedCipher, isFormer: Bool
  ) {
    withContext(page, number) { start, context in
      cipher.seal(UnsafeMutableRawBufferPointer(rebasing: page[start...]), with: context)
    }
    if number == 1 { setMark(page, isFormer: isFormer) }
  }

  /// Makes a page of the file what SQLite has written, with zeros in the reserved bytes.
  ///
  /// - Returns: `false` if it is not what was sealed.
  static func open(_ page: UnsafeMutableRawBufferPointer, number: Int64, with cipher: AuthenticatedCipher)
    -> Bool
  {
    guard number > 1 || removeMark(page) else { return false }
    return withContext(page, number) { start, context in
      cipher.open(UnsafeMutableRawBufferPointer(rebasing: page[start...]), with: context)
    }
  }

  /// - Parameter body: Gets where the encrypted part of the page begins, and what is authenticated with it.
  private static func withContext<Result>(
    _ page: UnsafeMutableRawBufferPointer, _ number: Int64, _ body: (Int, UnsafeRawBufferPointer) -> Result
  ) -> Result {
    withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { context in
      context.storeBytes(of: number.littleEndian, as: Int64.self)
      guard number == 1 else { return body(0, UnsafeRawBufferPointer(rebasing: context[..<8])) }
      UnsafeMutableRawBufferPointer(rebasing: context[8...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: page[sqliteMark.count..<clearLength]))
      return body(clearLength, UnsafeRawBufferPointer(context))
    }
  }

  /// Opens the bytes of the header that SQLite reads without a lock, while another connection may be writing the page: its
  /// mark and the sizes, and then zeros.
  static func openHeader(_ page: UnsafeMutableRawBufferPointer) {
    guard removeMark(page) else { return }
    UnsafeMutableRawBufferPointer(rebasing: page[clearLength...]).initializeMemory(
      as: UInt8.self, repeating: 0)
  }
}
