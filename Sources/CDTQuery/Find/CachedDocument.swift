/// A document in a ``DocumentCache``: the address of its entry, which stays where it is until the reader begins its next
/// snapshot.
///
/// This is one of the few places with pointers. An entry is written once, by the cache, and lies within its memory:
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

  /// Writes an entry where there is room for ``size(_:)`` of its bytes.
  static func write(
    to entry: UnsafeMutableRawPointer, sequence: Int64, number: Int64, written: Int64, attachments: Int64,
    id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer
  ) -> CachedDocument {
    for (position, value) in [sequence, number, written, attachments].enumerated() {
      entry.storeBytes(of: value, toByteOffset: 8 * position, as: Int64.self)
    }
    entry.storeBytes(of: 0, toByteOffset: 44, as: UInt32.self)
    var end = headerSize
    for (position, bytes) in [id, revision, body].enumerated() {
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
