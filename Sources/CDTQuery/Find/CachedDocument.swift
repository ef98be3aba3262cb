import SQLite

/// A document in a ``DocumentCache``: the address of its entry, which stays where it is until the reader begins its next
/// snapshot. Or one in a ``DocumentBuffer``, until the next is written there.
///
/// This is one of the few places with pointers. An entry is written once, by its owner, and lies within its memory:
///
/// | offset | |
/// |---|---|
/// | 0 | sequence |
/// | 8 | number |
/// | 16 | the sequence at which the winner was written |
/// | 24 | how many attachments it has |
/// | 32, 36, 40 | how many bytes the id, the revision and the body have |
/// | 44 | 1 when it was asked for, 2 when its document has been written since |
/// | 48 | the id, the revision, the body |
struct CachedDocument {
  let entry: UnsafeMutableRawPointer

  static let headerSize = 48

  var sequence: Int64 { int64(at: 0) }
  var number: Int64 { int64(at: 8) }
  var written: Int64 { int64(at: 16) }
  var attachments: Int64 { int64(at: 24) }

  var id: UnsafeRawBufferPointer { bytes(from: Self.headerSize, count: length(at: 32)) }

  var revision: UnsafeRawBufferPointer {
    bytes(from: Self.headerSize + length(at: 32), count: length(at: 36))
  }

  var body: UnsafeRawBufferPointer {
    bytes(from: Self.headerSize + length(at: 32) + length(at: 36), count: length(at: 40))
  }

  /// The bytes of the whole entry, those included that put the next one at a multiple of eight.
  var size: Int { Self.size(length(at: 32) + length(at: 36) + length(at: 40)) }

  static func size(_ bytes: Int) -> Int { (headerSize + bytes + 7) & ~7 }

  /// Whether it has been asked for since it was last passed over.
  var isAskedFor: Bool {
    get { state & 1 != 0 }
    nonmutating set { if newValue != isAskedFor { state ^= 1 } }
  }

  /// Whether its document has been written since, so that there is nothing under its sequence any more.
  var isGone: Bool { state & 2 != 0 }

  func markGone() { state |= 2 }

  private var state: UInt32 {
    get { entry.load(fromByteOffset: 44, as: UInt32.self) }
    nonmutating set { entry.storeBytes(of: newValue, toByteOffset: 44, as: UInt32.self) }
  }

  /// What a statement has to select of `documents d` for an entry to be made of its row.
  static let columns =
    "d.sequence, d.number, coalesce(d.written, d.sequence), d.attachments, d.id, d.revision, d.body"

  /// The size of the entry for a row of those columns.
  static func size(of row: Statement) -> Int {
    size(row.unsafeBytes(4).count + row.unsafeBytes(5).count + row.unsafeBytes(6).count)
  }

  /// Writes the entry for a row, where there is room for ``size(of:)``.
  static func write(_ row: Statement, to entry: UnsafeMutableRawPointer) -> CachedDocument {
    for position in 0..<4 {
      entry.storeBytes(of: row.int64(position), toByteOffset: 8 * position, as: Int64.self)
    }
    entry.storeBytes(of: 0, toByteOffset: 44, as: UInt32.self)
    var end = headerSize
    for position in 0..<3 {
      let bytes = row.unsafeBytes(4 + position)
      entry.storeBytes(of: UInt32(bytes.count), toByteOffset: 32 + 4 * position, as: UInt32.self)
      if let start = bytes.baseAddress { (entry + end).copyMemory(from: start, byteCount: bytes.count) }
      end += bytes.count
    }
    return CachedDocument(entry: entry)
  }

  @inline(__always)
  private func int64(at offset: Int) -> Int64 { entry.load(fromByteOffset: offset, as: Int64.self) }

  @inline(__always)
  private func length(at offset: Int) -> Int { Int(entry.load(fromByteOffset: offset, as: UInt32.self)) }

  @inline(__always)
  private func bytes(from offset: Int, count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: entry + offset, count: count)
  }
}

/// Memory for one document at a time.
final class DocumentBuffer {
  private var memory: UnsafeMutableRawPointer?
  private var size = 0

  deinit {
    memory?.deallocate()
  }

  /// Writes the document of a row that has ``CachedDocument/columns``.
  func write(_ row: Statement) -> CachedDocument {
    let needed = CachedDocument.size(of: row)
    if let memory, needed <= size { return CachedDocument.write(row, to: memory) }
    memory?.deallocate()
    size = 2 * needed
    let made = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    memory = made
    return CachedDocument.write(row, to: made)
  }
}
