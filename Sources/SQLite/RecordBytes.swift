/// Bytes in memory of their own that grow, without the checks of an array at each step.
///
/// This is one of the few places with pointers: every write is behind a look at what room there is.
package struct RecordBytes: ~Copyable {
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  package private(set) var count = 0

  package init(capacity: Int = 256) {
    self.capacity = max(16, capacity)
    base = .allocate(byteCount: self.capacity, alignment: 8)
  }

  deinit { base.deallocate() }

  package mutating func removeAll() { count = 0 }

  /// Room for so many bytes more, which the caller writes, all of them.
  @inline(__always)
  private mutating func room(_ length: Int) -> UnsafeMutableRawPointer {
    if length > capacity - count { grow(by: length) }
    defer { count += length }
    return base + count
  }

  private mutating func grow(by length: Int) {
    let grown = max(count + length, capacity + capacity / 2)
    let other = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 8)
    other.copyMemory(from: base, byteCount: count)
    base.deallocate()
    (base, capacity) = (other, grown)
  }

  /// Makes room, so that bytes are not copied as they become many.
  package mutating func reserve(_ length: Int) {
    if length > capacity - count { grow(by: length) }
  }

  @inline(__always)
  package mutating func append(_ byte: UInt8) {
    room(1).storeBytes(of: byte, as: UInt8.self)
  }

  @inline(__always)
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    room(bytes.count).copyMemory(from: start, byteCount: bytes.count)
  }

  /// Appends a number's bytes, the highest first.
  @inline(__always)
  package mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(bigEndian number: Number) {
    room(MemoryLayout<Number>.size).storeBytes(of: number.bigEndian, as: Number.self)
  }

  @inline(__always)
  mutating func append(varint value: Int) {
    if value < 128 { return append(UInt8(truncatingIfNeeded: value)) }
    _ = Varint.write(value, to: room(Varint.length(value)))
  }

  /// Appends the lowest bytes of a number, the highest of them first.
  @inline(__always)
  mutating func append(_ int: Int64, length: Int) {
    let bytes = int << Int64(64 - 8 * length)
    // All eight are written, and what follows takes the place of those that are not wanted.
    if 8 > capacity - count { grow(by: 8) }
    (base + count).storeBytes(of: bytes.bigEndian, as: Int64.self)
    count += length
  }

  @inline(__always)
  package mutating func append(_ record: borrowing TableRecord) {
    record.write(to: room(record.count))
  }

  /// Turns every bit from an offset on around.
  package mutating func invert(from start: Int) {
    for offset in max(0, start)..<max(start, count) {
      base.storeBytes(
        of: ~base.load(fromByteOffset: offset, as: UInt8.self), toByteOffset: offset, as: UInt8.self)
    }
  }

  @inline(__always)
  package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(start: base, count: count))
  }

  @inline(__always)
  func copy(to target: UnsafeMutableRawPointer) {
    target.copyMemory(from: base, byteCount: count)
  }
}

/// A whole number as SQLite's records have it: seven bits a byte, the highest first, and a bit that tells of another.
enum Varint {
  @inline(__always)
  static func length(_ value: Int) -> Int {
    value < 1 << 7 ? 1 : value < 1 << 14 ? 2 : value < 1 << 21 ? 3 : value < 1 << 28 ? 4 : 5
  }

  /// Writes a number below 2³⁵, which is more than SQLite allows any length to be.
  ///
  /// - Returns: How many bytes it took.
  @inline(__always)
  static func write(_ value: Int, to target: UnsafeMutableRawPointer) -> Int {
    let length = length(value)
    var rest = value
    for place in stride(from: length - 1, through: 0, by: -1) {
      let more: UInt8 = place == length - 1 ? 0 : 0x80
      target.storeBytes(
        of: UInt8(truncatingIfNeeded: rest & 0x7F) | more, toByteOffset: place, as: UInt8.self)
      rest >>= 7
    }
    return length
  }
}
