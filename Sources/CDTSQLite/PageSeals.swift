import CDTCSQLite
import CDTDigest
import CDTPlatform

/// The nonces of all pages of an encrypted database, in a file beside it: an earlier state of a page was sealed with another one,
/// so it is noticed.
///
/// The file has two slots of ``DatabaseCipher/pageSize`` bytes for each ``noncesInSlot`` pages. A slot has a count and the nonces,
/// and is sealed; the one with the greater count is valid. Changes are written to the other one, so a power failure loses at most
/// what is written then. They are written before SQLite lets others read the pages (`SQLITE_FCNTL_CKPT_DONE`). After a kill before
/// that, the pages are still in the log, and the next checkpoint writes them again.
///
/// Whoever puts back this file as well is not noticed.
final class PageSeals {
  /// What is added to the path of the database.
  static let suffix = "-seals"
  private static let noncesInSlot = 338
  private static let slotLength = DatabaseCipher.pageSize
  private static let nonceLength = AuthenticatedCipher.nonceLength
  /// The number of slots kept in memory.
  private static let cacheLimit = 128
  /// The number of slots whose changes are kept in memory.
  private static let changesLimit = 256

  private let path: String
  private let isWritable: Bool
  private let cipher: AuthenticatedCipher
  private var file: SystemFile?
  private var cache: [Int64: Slot] = [:]
  /// The nonces that are not written yet: by pair of slots, and by place in the slot.
  private var changes: [Int64: [Int: [UInt8]]] = [:]
  /// Whether a write may not be on the disk.
  private var isUnsynced = false

  /// The valid one of two slots.
  private struct Slot {
    /// 0 if both slots are empty.
    var count: UInt64 = 0
    /// 0 or 1; 1 if both slots are empty, as the other one is written next.
    var position: Int64 = 1
    var nonces = [UInt8](repeating: 0, count: noncesInSlot * nonceLength)

    func has(_ nonce: UnsafeRawBufferPointer, at place: Int) -> Bool {
      nonces.withUnsafeBytes { bytes in
        let start = place * nonceLength
        return bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
          == nonce.loadUnaligned(as: UInt64.self)
          && bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt32.self)
            == nonce.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
      }
    }
  }

  /// - Parameter database: The path of the database.
  init(of database: String, isWritable: Bool, _ cipher: DatabaseCipher) {
    path = database + Self.suffix
    self.isWritable = isWritable
    self.cipher = AuthenticatedCipher(key: cipher.sealsKey)
  }

  private static func place(of page: Int64) -> (pair: Int64, place: Int) {
    let (pair, place) = (page - 1).quotientAndRemainder(dividingBy: Int64(noncesInSlot))
    return (pair, Int(place))
  }

  // MARK: Reading

  /// Opens the file. If that fails, it is tried again when a page is read.
  func open() {
    _ = try? opened()
  }

  /// Whether a page was sealed last with a nonce.
  ///
  /// - Throws: ``SQLiteError`` if the file can't be opened, unless it is missing.
  func isCurrent(_ nonce: UnsafeRawBufferPointer, of page: Int64) throws(SQLiteError) -> Bool {
    let (pair, place) = Self.place(of: page)
    if !changes.isEmpty, let new = changes[pair]?[place], new.elementsEqual(nonce) { return true }
    if cache[pair]?.has(nonce, at: place) == true { return true }
    // Another connection may have written the page.
    guard let slot = try read(pair), slot.has(nonce, at: place) else { return false }
    if cache.count >= Self.cacheLimit { cache.removeAll(keepingCapacity: true) }
    cache[pair] = slot
    return true
  }

  /// Reads the valid slot of two; `nil` if it is older than what was read before, or if there is no file.
  private func read(_ pair: Int64) throws(SQLiteError) -> Slot? {
    guard let file = try opened() else { return nil }
    var valid = Slot()
    for position in Int64(0)..<2 {
      var bytes = file.bytes(at: (2 * pair + position) * Int64(Self.slotLength), count: Self.slotLength)
      let isOpened = bytes.withUnsafeMutableBytes { bytes in
        Self.withContext(pair, position) { cipher.open(bytes, with: $0) }
      }
      guard isOpened else { continue }
      let count = bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
      guard count > valid.count else { continue }
      valid = Slot(count: count, position: position, nonces: Array(bytes[8..<8 + valid.nonces.count]))
    }
    return valid.count >= cache[pair]?.count ?? 0 ? valid : nil
  }

  private func opened() throws(SQLiteError) -> SystemFile? {
    if let file { return file }
    do throws(SQLiteError) {
      file = try SystemFile(path, isWritable ? .besideDatabase : .reading)
    } catch {
      guard !isWritable, (try? Files.exists(path)) == false else { throw error }
    }
    return file
  }

  private static func withContext<Result>(
    _ pair: Int64, _ position: Int64, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    withUnsafeBytes(of: (2 * pair + position).littleEndian, body)
  }

  // MARK: Writing

  /// Notes with which nonce a page is written. Call ``write()`` before others read the page.
  func note(_ nonce: UnsafeRawBufferPointer, of page: Int64) {
    let (pair, place) = Self.place(of: page)
    if changes.count >= Self.changesLimit, changes[pair] == nil {
      // If this fails, it is tried again.
      try? write()
    }
    changes[pair, default: [:]][place] = Array(nonce)
  }

  /// Writes what was noted. Only one connection at a time may do so: the one that writes the pages.
  ///
  /// - Throws: ``SQLiteError``; the next call tries again.
  func write() throws(SQLiteError) {
    guard !changes.isEmpty, let file = try opened() else { return }
    // Only one of two slots may be lost in a power failure.
    if isUnsynced { try file.synchronize() }
    isUnsynced = true
    for (pair, nonces) in changes {
      var slot = try read(pair) ?? cache[pair] ?? Slot()
      for (place, nonce) in nonces {
        slot.nonces.replaceSubrange(place * Self.nonceLength..<(place + 1) * Self.nonceLength, with: nonce)
      }
      slot.count += 1
      slot.position = 1 - slot.position
      var bytes = [UInt8](repeating: 0, count: Self.slotLength)
      bytes.withUnsafeMutableBytes { bytes in
        bytes.storeBytes(of: slot.count.littleEndian, as: UInt64.self)
        UnsafeMutableRawBufferPointer(rebasing: bytes[8...]).copyBytes(from: slot.nonces)
        Self.withContext(pair, slot.position) { cipher.seal(bytes, with: $0) }
      }
      try file.write(bytes, at: (2 * pair + slot.position) * Int64(Self.slotLength))
      cache[pair] = slot
    }
    try file.synchronize()
    isUnsynced = false
    changes = [:]
    if cache.count > Self.cacheLimit { cache.removeAll() }
  }
}
