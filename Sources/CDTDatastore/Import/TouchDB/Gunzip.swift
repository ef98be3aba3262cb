import CZlib

/// Unpacks a gzip file that comes piece by piece, in constant memory.
final class Gunzip {
  /// The text is no gzip file, or ends too soon.
  struct Damage: Error {}

  // zlib keeps a pointer to its stream, which must not move.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
  /// Whether what was read so far is a whole file; another may follow it.
  private var isWhole = false

  init() throws(Damage) {
    stream.initialize(to: z_stream())
    guard czlib_inflate_init_gzip(stream) == Z_OK else { throw Damage() }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    output.deallocate()
  }

  /// Takes the next bytes of the file, and calls `body` with those that come out.
  func unpack(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    var rest = bytes
    // As many as zlib can count.
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 20))
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
      try unpackPart(part, body)
    }
  }

  private func unpackPart(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let input = bytes.bindMemory(to: UInt8.self)
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
    stream.pointee.avail_in = UInt32(clamping: input.count)
    repeat {
      if isWhole {
        if stream.pointee.avail_in == 0 { return }
        guard inflateReset(stream) == Z_OK else { throw Damage() }
        isWhole = false
      }
      stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
      stream.pointee.avail_out = UInt32(clamping: output.count)
      let code = inflate(stream, Z_NO_FLUSH)
      let count = output.count - Int(stream.pointee.avail_out)
      if count > 0 { try body(UnsafeRawBufferPointer(rebasing: output[..<count])) }
      switch code {
      case Z_OK: break
      case Z_STREAM_END: isWhole = true
      case Z_BUF_ERROR: return
      default: throw Damage()
      }
    } while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0
  }

  /// - Throws: ``Damage`` when the file did not end where it should.
  func finish() throws(Damage) {
    guard isWhole else { throw Damage() }
  }
}
