import CDTCLibrary
import CDTCPlatform

/// Comparing and searching memory with the C library's vectorized functions.
package enum Bytes {
  /// Compares the first `count` bytes of two buffers; the result is negative, 0 or positive.
  @inline(__always)
  package static func compare(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, count: Int
  ) -> Int32 {
    guard count > 0, count <= left.count, count <= right.count, let left = left.baseAddress,
      let right = right.baseAddress
    else { return 0 }
    return memcmp(left, right, count)
  }

  /// The offset of the first occurrence of a byte at or after an offset, before an end.
  @inline(__always)
  package static func firstIndex(
    of byte: UInt8, in buffer: UnsafeRawBufferPointer, from start: Int, to end: Int
  ) -> Int? {
    guard start >= 0, start < end, end <= buffer.count, let base = buffer.baseAddress,
      let found = memchr(base + start, Int32(byte), end - start)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }

  /// Whether a buffer contains bytes.
  package static func contain(_ bytes: [UInt8], in buffer: UnsafeRawBufferPointer) -> Bool {
    guard let start = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return bytes.isEmpty }
    return cdt_finds(start, Int64(buffer.count), bytes, Int64(bytes.count))
  }

  /// Whether a buffer contains bytes, of which two are rare.
  ///
  /// - Parameters:
  ///   - first: The position of a byte that is rare in the buffer.
  ///   - second: The position of another byte.
  @inline(__always)
  package static func contain(
    _ bytes: [UInt8], first: Int, second: Int, in buffer: UnsafeRawBufferPointer
  ) -> Bool {
    guard bytes.indices.contains(first), bytes.indices.contains(second), let base = buffer.baseAddress else {
      return false
    }
    let text = base.assumingMemoryBound(to: UInt8.self)
    return cdt_contains(
      text, Int64(buffer.count), bytes, Int64(bytes.count), Int64(first), Int64(second))
  }
}
