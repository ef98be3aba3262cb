/// Memory that texts are put together in, one after the other: it grows to the longest, and is kept between them.
package struct TextBuffer: ~Copyable {
  @usableFromInline var memory: UnsafeMutableRawPointer
  @usableFromInline var capacity: Int
  @usableFromInline var count = 0

  package init() {
    capacity = 4_096
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit {
    memory.deallocate()
  }

  /// Replaces the text.
  ///
  /// - Parameters:
  ///   - length: At least as many bytes as the text is going to have.
  ///   - write: Writes the text from the address that it is given on, and gives the address behind it.
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

  /// Lends the text for a call.
  @inlinable
  package borrowing func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(start: memory, count: count))
  }
}
