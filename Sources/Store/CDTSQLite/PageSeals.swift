import CDTCSQLite
import CDTDigest
import CDTPlatform

/// The nonces of all pages of an encrypted database, in a file beside it: an earlier state of a page was sealed with another nonce,
/// so it is noticed.
///
/// The file has two slots of ``DatabaseCipher/pageSize`` bytes for each ``noncesInSlot`` pages. A slot has a count and the nonces,
/// and is sealed; the one with the greater count is valid. The nonce of a page is written before the page: after a kill between the
/// two the page is still in the log, and the next checkpoint writes both again. A checkpoint writes to the slot that was not valid
/// when it began, and what was valid is on the disk by then, so a power failure loses no valid slot.
///
/// An attack that puts back an earlier state of this file as well is not noticed.
final class PageSeals {
  /// The suffix that is added to the path of the database.
  static let suffix = "-seals"
  private static let noncesInSlot = 338
  private static let slotLength = DatabaseCipher.pageSize
  private static let nonceLength = AuthenticatedCipher.nonceLength
  /// The number of slots kept in memory.
  private static let cacheLimit = 128

  private let path: String
  private let isWritable: Bool
  private let cipher: AuthenticatedCipher
  private var file: SystemFile?
  private var cache: [Int64: Slot] = [:]
  /// The slots in the cache that were written since the last ``begin()``. Nobody else has written them since.
  private var written: Set<Int64> = []
  /// Whether everything that was written before ``begin()`` is on the disk.
  private var isSynchronized = false

  /// The valid one of two slots.
  private struct Slot {
    /// 0 if both slots are empty.
    var count: UInt64 = 0
    /// 0 or 1; 1 if both slots are empty, as the other one is written next.
    var position: Int64 = 1
    var nonces = [UInt8](repeating: 0, count: noncesInSlot * nonceLength)

    func has(_ nonce: UnsafeRawBufferPointer, at place: Int) -> Bool {
      nonces[place * nonceLength..<(place + 1) * nonceLength].elementsEqual(nonce)
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

  /// Opens the file.
  func open() throws(SQLiteError) {
    _ = try opened()
  }

  /// Whether a page was sealed last with a nonce.
  ///
  /// - Throws: ``SQLiteError`` if the file can't be opened, unless it is missing.
  func isCurrent(_ nonce: UnsafeRawBufferPointer, of page: Int64) throws(SQLiteError) -> Bool {
    let (pair, place) = Self.place(of: page)
    if cache[pair]?.has(nonce, at: place) == true { return true }
    // Another connection may have written the page.
    guard let slot = try read(pair), slot.has(nonce, at: place) else { return false }
    keep(slot, of: pair)
    return true
  }

  private func keep(_ slot: Slot, of pair: Int64) {
    if cache.count >= Self.cacheLimit, cache[pair] == nil {
      cache.removeAll(keepingCapacity: true)
      written = []
    }
    cache[pair] = slot
  }

  /// Reads the valid slot of two; `nil` if it is older than what was read before, or if there is no file.
  private func read(_ pair: Int64) throws(SQLiteError) -> Slot? {
    guard let file = try opened() else { return nil }
    var valid = Slot()
    for position in Int64(0)..<2 {
      var bytes = try file.read(at: (2 * pair + position) * Int64(Self.slotLength), count: Self.slotLength)
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

  /// Call it before a checkpoint. Others may have written to the file since the one before.
  func begin() {
    written = []
    isSynchronized = false
  }

  /// Stores with which nonce a page is written next. Only one connection at a time writes pages.
  func write(_ nonce: UnsafeRawBufferPointer, of page: Int64) throws(SQLiteError) {
    guard let file = try opened() else { return }
    if !isSynchronized { try file.synchronize() }
    isSynchronized = true
    let (pair, place) = Self.place(of: page)
    var slot: Slot
    if written.contains(pair), let known = cache[pair] {
      slot = known
    } else {
      slot = try read(pair) ?? cache[pair] ?? Slot()
      slot.position = 1 - slot.position
    }
    slot.count += 1
    slot.nonces.replaceSubrange(place * Self.nonceLength..<(place + 1) * Self.nonceLength, with: nonce)
    var bytes = [UInt8](repeating: 0, count: Self.slotLength)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.storeBytes(of: slot.count.littleEndian, as: UInt64.self)
      UnsafeMutableRawBufferPointer(rebasing: bytes[8...]).copyBytes(from: slot.nonces)
      Self.withContext(pair, slot.position) { cipher.seal(bytes, with: $0) }
    }
    try file.write(bytes, at: (2 * pair + slot.position) * Int64(Self.slotLength))
    keep(slot, of: pair)
    written.insert(pair)
  }

  /// Waits until everything that any connection has written is on the disk.
  func synchronize() throws(SQLiteError) {
    try opened()?.synchronize()
    begin()
    isSynchronized = true
  }
}
