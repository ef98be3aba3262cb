import CDTCZlib

/// Decompresses a gzip stream that arrives in chunks, in constant memory. A stream may consist of several members, whose
/// contents are concatenated.
///
/// ```swift
/// let reader = try GzipReader(limit: 1 << 30)
/// for try await buffer in body {
///   var chunk = buffer.readableBytesView
///   while let content = try reader.next(&chunk) { … }
/// }
/// try reader.finish()
/// ```
package final class GzipReader {
  /// The maximum size of a piece of content.
  package static let maximumPieceSize = 64 * 1024

  // zlib keeps a pointer to its stream, so the stream must not move.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private let output = UnsafeMutablePointer<UInt8>.allocate(capacity: maximumPieceSize)
  private let limit: Int64
  private var total: Int64 = 0
  private var failure: GzipError?
  /// Whether the input so far ends with a member.
  private var isWhole = false
  /// Whether zlib filled the output, and may have more without new input.
  private var hasMore = false

  /// Creates a reader.
  ///
  /// - Parameter limit: The maximum number of bytes of the content.
  package init(limit: Int64) throws(GzipError) {
    self.limit = limit
    stream.initialize(to: z_stream())
    guard czlib_inflate_init_gzip(stream) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    output.deallocate()
  }

  /// Decompresses up to the next piece of content, and removes what was read from the chunk.
  ///
  /// - Returns: `nil` when the chunk is used up; continue with the next one.
  /// - Throws: ``GzipError``. Every later call throws it again.
  package func next<Chunk: RandomAccessCollection<UInt8>>(_ chunk: inout Chunk) throws(GzipError) -> [UInt8]?
  where Chunk.SubSequence == Chunk {
    if let failure { throw failure }
    do throws(GzipError) {
      while hasMore || !chunk.isEmpty {
        let count = try inflateNext(&chunk)
        guard count > 0 else { continue }
        guard Int64(count) <= limit - total else { throw .tooLarge(limit: limit) }
        total += Int64(count)
        return Array(UnsafeBufferPointer(start: output, count: count))
      }
      return nil
    } catch {
      failure = error
      throw error
    }
  }

  /// Ends the stream.
  ///
  /// - Throws: ``GzipError``: `.truncated`, also for an empty stream, or the error that `next` threw.
  package func finish() throws(GzipError) {
    if let failure { throw failure }
    guard isWhole else { throw .truncated }
  }

  /// Calls zlib once, and returns the number of bytes in `output`.
  private func inflateNext<Chunk: RandomAccessCollection<UInt8>>(_ chunk: inout Chunk)
    throws(GzipError) -> Int
  where Chunk.SubSequence == Chunk {
    if isWhole {
      guard inflateReset(stream) == Z_OK else { throw .corrupt }
      isWhole = false
    }
    stream.pointee.next_out = output
    stream.pointee.avail_out = UInt32(Self.maximumPieceSize)
    let (code, read) = stream.feed(chunk) { inflate(stream, Z_NO_FLUSH) }
    chunk = chunk.dropFirst(read)
    hasMore = stream.pointee.avail_out == 0
    switch code {
    // Z_BUF_ERROR: the input was empty and there was no more output.
    case Z_OK, Z_BUF_ERROR: break
    case Z_STREAM_END:
      isWhole = true
      hasMore = false
    case Z_MEM_ERROR: throw .outOfMemory
    default: throw .corrupt
    }
    return Self.maximumPieceSize - Int(stream.pointee.avail_out)
  }
}

extension UnsafeMutablePointer<z_stream> {
  /// Calls zlib with the start of a chunk as its input, and returns its answer and the number of bytes it read.
  func feed(_ chunk: some RandomAccessCollection<UInt8>, _ call: () -> Int32) -> (code: Int32, read: Int) {
    // At most as many bytes as zlib's counters hold.
    chunk.prefix(1 << 20).withBytes { bytes in
      let input = bytes.bindMemory(to: UInt8.self)
      pointee.next_in = UnsafeMutablePointer<UInt8>(mutating: input.baseAddress)
      pointee.avail_in = UInt32(clamping: input.count)
      let code = call()
      let read = input.count - Int(pointee.avail_in)
      pointee.next_in = nil
      pointee.avail_in = 0
      return (code, read)
    }
  }
}
