import CDTDatastore
import CDTJSON
import CDTPlatform
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// Makes responses.
enum Reply {
  static let json = "application/json"

  /// A JSON value.
  static func value(
    _ value: JSONValue, _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> Response {
    text(value.utf8Text, status, headers: headers)
  }

  static func json(
    _ object: JSONObject, _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> Response {
    text(object.utf8Text, status, headers: headers)
  }

  /// JSON text. Like CouchDB's, it ends in a line feed.
  static func text(
    _ text: [UInt8], _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> Response {
    var buffer = ByteBuffer()
    buffer.reserveCapacity(text.count + 1)
    buffer.writeBytes(text)
    buffer.writeInteger(UInt8(ascii: "\n"))
    return bytes(buffer, type: json, status, headers: headers)
  }

  static func bytes(
    _ buffer: ByteBuffer, type: String, _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> Response {
    var headers = headers
    headers[.contentType] = type
    headers[.contentLength] = String(buffer.readableBytes)
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: buffer))
  }

  static func error(_ error: CouchError, headers: HTTPFields = [:]) -> Response {
    var headers = headers
    if [429, 503].contains(error.status) { headers[.retryAfter] = retryAfter }
    headers[.allow] = error.allowedMethods ?? headers[.allow]
    return json(error.json, HTTPResponse.Status(code: error.status), headers: headers)
  }

  /// The seconds after which a client may try again what the server is too busy for.
  static let retryAfter = "1"

  /// A reply without content.
  static func empty(_ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
    Response(status: status, headers: headers, body: ResponseBody())
  }

  /// JSON that was gathered, between a beginning and an end.
  static func spooled(_ spool: ReplySpool, after head: String, before tail: String) -> Response {
    let (head, tail) = (Array(head.utf8), Array(tail.utf8))
    if let bytes = spool.bytes { return text(head + bytes + tail) }
    return stream { out in
      try await out.write(head)
      try await spool.write(to: &out)
      try await out.write(tail + [UInt8(ascii: "\n")])
    }
  }

  /// JSON that is written while it is produced.
  static func stream(
    type: String = json, headers: HTTPFields = [:],
    _ write: @escaping @Sendable (_ out: inout ReplyStream) async throws -> Void
  ) -> Response {
    var headers = headers
    headers[.contentType] = type
    let body = ResponseBody { writer in
      var out = ReplyStream(writer)
      try await write(&out)
      try await out.finish()
    }
    return Response(status: .ok, headers: headers, body: body)
  }

  static let ok: JSONObject = ["ok": true]
}

/// The body of a reply that is written in parts. Parts are gathered, so that a chunk of the connection is not a row.
struct ReplyStream {
  private var writer: any ResponseBodyWriter
  private var buffer = ByteBuffer()

  private static let chunk = 64 * 1024

  /// The number of bytes after which a page of rows ends, of a reply that is read page by page: each client that does not
  /// read keeps one in memory.
  static let pageLength = 256 * 1024

  init(_ writer: any ResponseBodyWriter) {
    self.writer = writer
  }

  mutating func write(_ bytes: [UInt8]) async throws {
    buffer.writeBytes(bytes)
    if buffer.readableBytes >= Self.chunk { try await flush() }
  }

  /// Writes what is longer than a chunk, waiting for the client after each.
  mutating func write(_ bytes: ArraySlice<UInt8>) async throws {
    var rest = bytes
    while !rest.isEmpty {
      buffer.writeBytes(rest.prefix(Self.chunk))
      rest = rest.dropFirst(Self.chunk)
      if buffer.readableBytes >= Self.chunk { try await flush() }
    }
  }

  mutating func write(_ text: StaticString) async throws {
    buffer.writeStaticString(text)
  }

  /// Sends what was written. Waits while the client reads slowly.
  mutating func flush() async throws {
    guard buffer.readableBytes > 0 else { return }
    let full = buffer
    buffer = ByteBuffer()
    try await writer.send(full)
  }

  fileprivate mutating func finish() async throws {
    try await flush()
    try await writer.finish(nil)
  }
}

/// A part of a reply that is gathered in one transaction, and sent after it: how fast the client reads must not decide how
/// long the transaction lasts. A long one is gathered in a temporary file, so that it needs no memory. The file is encrypted with a
/// key that nobody keeps.
struct ReplySpool {
  private var memory: [UInt8] = []
  private var file: ScratchFile?
  /// Whether the end is a row.
  private var endsInRow = false

  /// The number of bytes in memory.
  private static let longest = 1 << 20

  mutating func append(_ bytes: some Sequence<UInt8>) throws(CouchError) {
    memory += bytes
    endsInRow = false
    if memory.count >= Self.longest { try spill() }
  }

  /// Appends a row of an array.
  mutating func append(row: [UInt8]) throws(CouchError) {
    memory += endsInRow ? ",\n".utf8 : "\n".utf8
    try append(row)
    endsInRow = true
  }

  private mutating func spill() throws(CouchError) {
    do throws(SystemError) {
      var file = if let file { file } else { try ScratchFile() }
      try file.append(memory)
      self.file = file
    } catch {
      throw CouchError(
        error.isFull ? 507 : 500, error.isFull ? "insufficient_storage" : "internal_server_error",
        "A result of more than \(Self.longest) bytes can't be stored at the server: \(error)")
    }
    memory.removeAll(keepingCapacity: true)
  }

  /// The bytes, if they are in memory.
  var bytes: [UInt8]? { file == nil ? memory : nil }

  /// Sends what was gathered.
  func write(to out: inout ReplyStream) async throws {
    if let file {
      for number in 0..<file.count {
        try await out.write(try await Datastore.useFiles { try file.piece(number) })
      }
    }
    try await out.write(memory)
  }
}

// Names that HTTPTypes has no constants for.
extension HTTPField.Name {
  static let asRoles = named("X-As-Roles")
  static let asUser = named("X-As-User")
  static let contentSecurityPolicy = named("Content-Security-Policy")
  static let contentMD5 = named("Content-MD5")
  static let crossOriginResourcePolicy = named("Cross-Origin-Resource-Policy")
  static let destination = named("Destination")
  static let host = named("Host")
  static let lastEventID = named("Last-Event-ID")
  static let pragma = named("Pragma")
  static let referrerPolicy = named("Referrer-Policy")
  static let secFetchSite = named("Sec-Fetch-Site")
  static let xCouchRequestID = named("X-Couch-Request-ID")
  static let xHTTPMethodOverride = named("X-HTTP-Method-Override")
  static let xContentTypeOptions = named("X-Content-Type-Options")
  static let xForwardedHost = named("X-Forwarded-Host")
  static let xForwardedProto = named("X-Forwarded-Proto")
  static let xForwardedSSL = named("X-Forwarded-Ssl")

  /// - Parameter text: A token, as header names are.
  private static func named(_ text: String) -> HTTPField.Name {
    guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is not the name of a header") }
    return name
  }
}
