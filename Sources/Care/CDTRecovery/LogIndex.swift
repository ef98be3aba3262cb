import CDTPlatform

/// The header of the index of a write-ahead log, `db.sync-shm`, which a process that was killed leaves.
///
/// Source: https://sqlite.org/walformat.html, The WAL-Index File Format.
struct LogIndex {
  /// The number of pages that were committed to the log and not yet copied to the database.
  let pagesOnlyInLog: Int

  private static let headerLength = 48

  /// - Returns: `nil` if there is no index, or if it is not valid.
  init?(ofDatabase path: String) {
    let file = try? OpenFile.regular("\(path)-shm")
    guard let bytes = try? file?.bytes(at: 0, count: 2 * Self.headerLength + 4),
      bytes.count == 2 * Self.headerLength + 4,
      // The header is there twice, the second copy to see whether the first is whole.
      bytes[..<Self.headerLength].elementsEqual(bytes[Self.headerLength..<2 * Self.headerLength]),
      Self.number(bytes, at: 0) == 3_007_000, bytes[12] == 1
    else { return nil }
    pagesOnlyInLog = Self.number(bytes, at: 16) - Self.number(bytes, at: 2 * Self.headerLength)
  }

  /// A number in the order of bytes of the machine.
  private static func number(_ bytes: [UInt8], at offset: Int) -> Int {
    bytes.withUnsafeBytes { bytes in
      offset + 4 <= bytes.count ? Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) : 0
    }
  }
}
