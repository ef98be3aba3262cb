/// Memory that texts are put together in, one after the other: it grows to the longest, and is kept between them.
package struct TextBuffer: ~Copyable {
  @usableFromInline var memory: UnsafeMutableRawBufferPointer
  @usableFromInline package var count = 0

  package init() {
    memory = .allocate(byteCount: 4_096, alignment: 16)
  }

  deinit {
    memory.deallocate()
  }

  @inlinable
  package mutating func removeAll() {
    count = 0
  }

  @inlinable
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if bytes.count > memory.count - count { grow(by: bytes.count) }
    guard let base = memory.baseAddress, let start = bytes.baseAddress else { return }
    (base + count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  @inlinable
  package mutating func append(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @usableFromInline
  mutating func grow(by wanted: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: 2 * (memory.count + wanted), alignment: 16)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
    memory.deallocate()
    memory = larger
  }

  /// Lends the text for a call.
  @inlinable
  package borrowing func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(start: memory.baseAddress, count: count))
  }
}
