import HTTPTypes
import Hummingbird
import NIOCore

/// Writes the body of a reply in pieces, the next one when the client has read most of those before.
///
/// For the framework, a connection is idle as soon as it was given the whole reply, and is closed after the idle time. If a
/// long body were one piece, a client that reads slowly would get only a part of it.
struct PieceWriter: ResponseBodyWriter {
  private var writer: any ResponseBodyWriter

  /// The maximum number of bytes of a piece.
  static let length = 128 * 1_024

  init(_ writer: any ResponseBodyWriter) {
    self.writer = writer
  }

  mutating func write(_ buffer: ByteBuffer) async throws {
    var rest = buffer
    while rest.readableBytes > Self.length, let piece = rest.readSlice(length: Self.length) {
      try await writer.write(piece)
    }
    try await writer.write(rest)
  }

  consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
    try await writer.finish(trailingHeaders)
  }
}

extension ResponseBody {
  /// The same body, written in pieces.
  var inPieces: ResponseBody {
    if let contentLength, contentLength <= PieceWriter.length { return self }
    return ResponseBody(contentLength: contentLength) { [body = self] writer in
      try await body.write(PieceWriter(writer))
    }
  }
}
