import CDTCSQLite

/// The checksum of a database page, in the last 8 bytes of the page.
///
/// It covers the rest of the page and the page's number, so a page in another page's place is noticed, too. A
/// change within 8 aligned bytes always changes the checksum; any other goes unnoticed with a probability of about
/// 2⁻⁶⁴.
///
/// In memory and in the write-ahead log these bytes are zeros. A page that another program has copied from the log into the
/// file is known by them (``CopiedPages``).
package enum PageChecksum {
  /// The length in bytes: the reserved space at the end of each page.
  static let length = 8

  /// - Parameters:
  ///   - page: A page, whose size is a power of two and at least 512.
  ///   - number: The page's number, from 1.
  static func isValid(_ page: UnsafeRawBufferPointer, number: Int64) -> Bool {
    let stored = page.loadUnaligned(fromByteOffset: page.count - length, as: UInt64.self)
    return UInt64(littleEndian: stored) == compute(page, number: number)
  }

  /// Whether a page has zeros in place of the checksum.
  static func isMissing(_ page: UnsafeRawBufferPointer) -> Bool {
    page.loadUnaligned(fromByteOffset: page.count - length, as: UInt64.self) == 0
  }

  /// Writes zeros in place of the checksum.
  static func clear(in page: UnsafeMutableRawBufferPointer) {
    page.storeBytes(of: 0, toByteOffset: page.count - length, as: UInt64.self)
  }

  /// Writes the checksum into the last bytes of a page.
  package static func store(in page: UnsafeMutableRawBufferPointer, number: Int64) {
    let checksum = compute(UnsafeRawBufferPointer(page), number: number)
    page.storeBytes(of: checksum.littleEndian, toByteOffset: page.count - length, as: UInt64.self)
  }

  private static func compute(_ page: UnsafeRawBufferPointer, number: Int64) -> UInt64 {
    csqlite_page_sum(page.baseAddress, Int32(clamping: page.count), number)
  }
}
