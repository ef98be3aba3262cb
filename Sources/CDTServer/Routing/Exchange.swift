import CDTDatastore
import CDTGzip
import CDTJSON
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// A request, and what its answer needs.
final class Exchange: Sendable {
  let request: Request
  let method: HTTPRequest.Method
  let path: RequestPath
  let parameters: Parameters
  let identity: Identity
  /// The address of the client.
  let peer: String
  let client: ClientConnection
  let server: ServerState

  init(
    request: Request, method: HTTPRequest.Method, path: RequestPath, parameters: Parameters,
    identity: Identity, peer: String, client: ClientConnection, server: ServerState
  ) {
    self.request = request
    self.method = method
    self.path = path
    self.parameters = parameters
    self.identity = identity
    self.peer = peer
    self.client = client
    self.server = server
  }

  var limits: ServerConfiguration.Limits { server.configuration.limits }
  var databases: Databases { server.databases }

  /// The URL under which the client has reached a resource, for the header `Location`: behind a proxy, that of the proxy.
  ///
  /// - Parameter path: The names of the resource, each a part of the path.
  func url(_ path: String...) -> String {
    let headers = request.headers
    let isSecure =
      switch (headers[.xForwardedSSL], headers[.xForwardedProto]) {
      case ("on", _), (_, "https"): true
      case (_, "http"): false
      default: server.configuration.tls != nil
      }
    let hosts = [headers[.xForwardedHost], request.head.authority, headers[.host]]
    // What is no host is not repeated.
    let host = hosts.compactMap(\.self).first { HostAndPort($0) != nil } ?? "localhost"
    return "\(isSecure ? "https" : "http")://\(host)/\(path.map(PercentCoding.encode).joined(separator: "/"))"
  }

  /// The reply to a method that a resource doesn't have.
  func methodNotAllowed(_ allowed: String) -> CouchError {
    .methodNotAllowed(allowed)
  }

  // MARK: Body

  /// The whole body, which must be JSON.
  func jsonBody(limit: Int? = nil) async throws -> ByteBuffer {
    let type = request.headers[.contentType] ?? ""
    guard type.lowercased().hasPrefix(Reply.json) else {
      throw CouchError(415, "bad_content_type", "Content-Type must be application/json")
    }
    return try await body(limit: limit ?? limits.requestLength)
  }

  /// The whole body, which must be a JSON object.
  ///
  /// - Parameter limit: The maximum number of bytes, that of a document if it is `nil`: in memory, an object can take many
  ///   times as much.
  func jsonObject(limit: Int? = nil) async throws -> JSONObject {
    let buffer = try await jsonBody(limit: limit ?? limits.documentLength)
    guard case .object(let object) = try buffer.json() else {
      throw CouchError.badRequest("Request body must be a JSON object")
    }
    return object
  }

  /// The whole body, decompressed.
  func body(limit: Int) async throws -> ByteBuffer {
    if let text = request.headers[.contentLength], let length = Int(text), length > limit {
      throw CouchError.tooLarge(limit)
    }
    if try isCompressed { return try await decompressedBody(limit: limit) }
    do {
      return try await request.body.collect(upTo: limit)
    } catch is NIOTooManyBytesError {
      throw CouchError.tooLarge(limit)
    }
  }

  /// Whether the body is compressed.
  var isCompressed: Bool {
    get throws(CouchError) {
      switch request.headers[.contentEncoding]?.lowercased() {
      case nil, "identity": return false
      case "gzip": return true
      case let other?:
        throw CouchError(
          415, "bad_ctype", "The Content-Encoding \(other.prefix(50)) is not supported: use gzip or none.")
      }
    }
  }

  private func decompressedBody(limit: Int) async throws -> ByteBuffer {
    let gzip = try GzipReader(limit: Int64(limit))
    var whole = ByteBuffer()
    for try await buffer in request.body {
      var chunk = buffer.readableBytesView
      while let bytes = try gzip.next(&chunk) { whole.writeBytes(bytes) }
    }
    try gzip.finish()
    return whole
  }
}

extension ByteBuffer {
  /// The buffer's content as JSON.
  func json() throws(CouchError) -> JSONValue {
    try withUnsafeReadableBytes { bytes throws(CouchError) in
      do throws(JSONError) {
        return try JSONValue(parsing: bytes)
      } catch {
        throw .invalidJSON(error)
      }
    }
  }
}
