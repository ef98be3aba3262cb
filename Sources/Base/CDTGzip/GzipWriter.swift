import CDTCZlib

/// Compresses content that arrives in chunks to a gzip stream, in constant memory.
///
/// ```swift
/// let writer = try GzipWriter()
/// while let piece = writer.next(&chunk) { try await send(piece) }
/// try await send(writer.finish())
/// ```
///
/// The same content gives the same bytes with the same zlib: the stream has neither time nor name.
package final class GzipWriter {
  /// The maximum size of a piece that `next` returns.
  package static let maximumPieceSize = 64 * 1024

  // zlib keeps a pointer to its stream, so the stream must not move.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private let output = UnsafeMutablePointer<UInt8>.allocate(capacity: maximumPieceSize)
  /// Whether zlib filled the output, and may have more without new input.
  private var hasMore = false
  private var isFinished = false
  /// The window size with which zlib writes gzip.
  private static let gzip = 16 + MAX_WBITS
  private static let memoryLevel: Int32 = 8

  /// Creates a writer.
  ///
  /// - Parameter level: From 1, fast, to 9, small; the default is CouchDB's 8.
  package init(level: Int = 8) throws(GzipError) {
    stream.initialize(to: z_stream())
    let code = deflateInit2_(
      stream, Int32(clamping: min(max(level, 1), 9)), Z_DEFLATED, Self.gzip, Self.memoryLevel,
      Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard code == Z_OK else { throw .outOfMemory }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
    output.deallocate()
  }

  /// Content that is in memory, compressed.
  package static func compressed(_ content: some RandomAccessCollection<UInt8>) throws(GzipError) -> [UInt8] {
    let writer = try GzipWriter(level: 9)
    var (rest, output) = (content[...], [UInt8]())
    while let piece = writer.next(&rest) { output += piece }
    return output + writer.finish()
  }

  /// Compresses a chunk up to the next piece of output, and removes what was read from the chunk.
  ///
  /// - Returns: `nil` when the chunk is used up; continue with the next one.
  package func next<Chunk: RandomAccessCollection<UInt8>>(_ chunk: inout Chunk) -> [UInt8]?
  where Chunk.SubSequence == Chunk {
    precondition(!isFinished, "the stream was finished")
    while hasMore || !chunk.isEmpty {
      let (piece, read, _) = deflateNext(chunk, Z_NO_FLUSH)
      chunk = chunk.dropFirst(read)
      if !piece.isEmpty { return piece }
    }
    return nil
  }

  /// Ends the stream, after `next` returned `nil`, and returns its last bytes.
  package func finish() -> [UInt8] {
    isFinished = true
    var rest: [UInt8] = []
    while true {
      let (piece, _, code) = deflateNext([], Z_FINISH)
      rest += piece
      if code != Z_OK { return rest }
    }
  }

  /// Calls zlib once.
  private func deflateNext(
    _ chunk: some RandomAccessCollection<UInt8>, _ flush: Int32
  ) -> (piece: [UInt8], read: Int, code: Int32) {
    stream.pointee.next_out = output
    stream.pointee.avail_out = UInt32(Self.maximumPieceSize)
    let (code, read) = stream.feed(chunk) { deflate(stream, flush) }
    hasMore = stream.pointee.avail_out == 0
    let count = Self.maximumPieceSize - Int(stream.pointee.avail_out)
    return (Array(UnsafeBufferPointer(start: output, count: count)), read, code)
  }
}
