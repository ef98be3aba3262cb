// Bytes that arrive in chunks: `ArraySlice<UInt8>`, or NIO's `ByteBufferView`.
extension RandomAccessCollection<UInt8> {
  /// Calls a closure with the bytes, which are copied only if they are not contiguous in memory.
  package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) } ?? Array(self).withUnsafeBytes(body)
  }

  /// Removes and returns bytes at the start.
  package mutating func pop(_ count: Int) -> SubSequence where SubSequence == Self {
    let taken = prefix(count)
    self = dropFirst(count)
    return taken
  }
}
