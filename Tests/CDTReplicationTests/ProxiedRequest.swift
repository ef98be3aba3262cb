import CDTJSON
import NIOCore
import Synchronization

/// A request that a proxy has received whole.
struct ProxiedRequest: Sendable {
  private let text: ByteBuffer
  private let headLength: Int

  /// - Returns: `nil` if the text is not a whole request yet.
  init?(_ text: ByteBuffer) {
    let view = text.readableBytesView
    guard let end = view.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    self.text = text
    headLength = end.upperBound - view.startIndex
    let fields = head.lowercased()
    if fields.contains("\r\ntransfer-encoding: chunked\r\n") {
      guard view.suffix(5).elementsEqual("0\r\n\r\n".utf8) else { return nil }
    } else {
      let length = fields.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
        .flatMap { Int($0.dropFirst(15).drop { $0 == " " }) }
      guard view.count - headLength >= length ?? 0 else { return nil }
    }
  }

  private var head: String { String(decoding: text.readableBytesView.prefix(headLength), as: UTF8.self) }
  private var body: ByteBufferView.SubSequence { text.readableBytesView.dropFirst(headLength) }

  /// The request with the wish that the connection ends with the reply.
  var closing: ByteBuffer {
    // One character is the end of a line.
    var buffer = ByteBuffer(string: "\(head.dropLast())Connection: close\r\n\r\n")
    buffer.writeBytes(body)
    return buffer
  }

  /// The revisions that the request carries or asks for. A revision is asked for again with all of its attachments if
  /// the target lacks some, which counts on its own.
  var revisions: [String] {
    let line = head.prefix { $0 != "\r\n" }
    func text(_ way: String, _ document: JSONValue) -> String {
      let all = document["atts_since"] == nil ? "" : " since"
      return
        "\(way)\(all) \(document["_id"] ?? document["id"] ?? "") \(document["_rev"] ?? document["rev"] ?? "")"
    }
    if line.contains("/_bulk_docs") {
      return (Self.json(body)?["docs"]?.arrayValue ?? []).map { text("sends", $0) }
    }
    if line.contains("/_bulk_get") {
      return (Self.json(body)?["docs"]?.arrayValue ?? []).map { text("asks for", $0) }
    }
    guard line.hasPrefix("PUT "), line.contains("new_edits=false") else { return [] }
    return [text("sends", Self.json(body) ?? Self.json(firstPart) ?? [:])]
  }

  /// The first part of a multipart body.
  private var firstPart: ByteBufferView.SubSequence {
    let boundary = body.prefix { $0 != UInt8(ascii: "\r") }
    guard let start = body.firstRange(of: Array("\r\n\r\n".utf8)) else { return body }
    let rest = body[start.upperBound...]
    guard let end = rest.firstRange(of: Array("\r\n".utf8) + Array(boundary)) else { return body }
    return rest[..<end.lowerBound]
  }

  private static func json(_ bytes: some Sequence<UInt8>) -> JSONValue? {
    try? JSONValue(parsing: Array(bytes))
  }

  /// Collects the bytes of a connection's only request.
  final class Reader: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let text = Mutex<ByteBuffer?>(ByteBuffer())
    private let take: @Sendable (ProxiedRequest) -> Void

    init(_ take: @escaping @Sendable (ProxiedRequest) -> Void) {
      self.take = take
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var bytes = unwrapInboundIn(data)
      let request = text.withLock { text -> ProxiedRequest? in
        text?.writeBuffer(&bytes)
        guard let request = text.flatMap({ ProxiedRequest($0) }) else { return nil }
        text = nil
        return request
      }
      if let request { take(request) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }
  }
}
