import CDTPlatform

/// The delimiter of a multipart body, `\r\n--boundary`, searched for in bytes that arrive in chunks.
///
/// Only its first byte is a CR. So after a mismatch no later byte of the match can begin a delimiter, and a search looks
/// at each byte twice at most.
struct MultipartDelimiter {
  let bytes: [UInt8]

  init(_ boundary: MultipartBoundary) {
    bytes = Array("\r\n--\(boundary.text)".utf8)
  }

  /// The number of bytes before the first place that is a delimiter, or the beginning of one that the buffer cuts off.
  func dataLength(in buffer: UnsafeRawBufferPointer) -> Int {
    var start = 0
    while let candidate = Bytes.firstIndex(of: UInt8(ascii: "\r"), in: buffer, from: start, to: buffer.count)
    {
      let length = matchLength(of: UnsafeRawBufferPointer(rebasing: buffer[candidate...]), from: 0)
      if length == bytes.count || candidate + length == buffer.count { return candidate }
      start = candidate + length
    }
    return buffer.count
  }

  /// The number of bytes at the start of a buffer that continue a delimiter.
  ///
  /// - Parameter matched: The number of bytes of the delimiter before the buffer.
  func matchLength(of buffer: UnsafeRawBufferPointer, from matched: Int) -> Int {
    let limit = min(buffer.count, bytes.count - matched)
    var length = 0
    while length < limit, buffer[length] == bytes[matched + length] { length += 1 }
    return length
  }
}
