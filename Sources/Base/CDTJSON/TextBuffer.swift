/// Reusable memory for building texts, as a whole or in parts. It grows to the longest text.
package struct TextBuffer: ~Copyable {
  @usableFromInline var memory: UnsafeMutableRawPointer
  @usableFromInline var capacity: Int
  @usableFromInline var count = 0

  package init(capacity: Int = 4_096) {
    self.capacity = max(1, capacity)
    memory = .allocate(byteCount: self.capacity, alignment: 16)
  }

  deinit {
    memory.deallocate()
  }

  /// Replaces the text.
  ///
  /// - Parameters:
  ///   - length: At least the length of the text in bytes.
  ///   - write: Writes the text at the given address, and returns the address after it.
  @inlinable @inline(__always)
  package mutating func replace(
    upTo length: Int, by write: (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer
  ) {
    if length > capacity { grow(to: length) }
    count = write(memory) - memory
  }

  @usableFromInline
  mutating func grow(to length: Int) {
    memory.deallocate()
    capacity = 2 * length
    memory = .allocate(byteCount: capacity, alignment: 16)
    count = 0
  }

  /// Appends to the text.
  @inlinable @inline(__always)
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    if bytes.count > capacity - count { extend(by: bytes.count) }
    (memory + count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  @inlinable @inline(__always)
  package mutating func append(byte: UInt8) {
    if count == capacity { extend(by: 1) }
    memory.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Grows the memory, keeping its content.
  @usableFromInline
  mutating func extend(by length: Int) {
    capacity = 2 * (count + length)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: memory, byteCount: count)
    memory.deallocate()
    memory = larger
  }

  /// Calls `body` with the text.
  @inlinable
  package borrowing func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(start: memory, count: count))
  }
}
