import Glibc

/// Comparing and searching memory, by the C library's vectorized functions.
package enum Bytes {
  /// Below 0, 0, or above 0: how the first `count` bytes of one buffer compare with those of another.
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
}
