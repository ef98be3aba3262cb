import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// The page that shows the databases in a browser: `_utils`.
extension RequestContext {
  /// The page itself, whose address ends in a slash: the addresses of its files are relative to it.
  func page() throws -> Response {
    guard path.hasTrailingSlash else {
      return Reply.empty(.movedPermanently, headers: [.location: url("_utils") + "/"])
    }
    return try pageFile(named: "index.html")
  }

  func pageFile() throws -> Response { try pageFile(named: names["file"] ?? "") }

  private func pageFile(named name: String) throws -> Response {
    guard let file = PageFile.all[name] else { throw CouchError.missing }
    var (headers, content): (HTTPFields, ByteBuffer) = (
      [
        .eTag: file.tag, .cacheControl: "no-cache", .contentSecurityPolicy: Self.pagePolicy,
        .xContentTypeOptions: "nosniff", .referrerPolicy: "no-referrer", .vary: "Accept-Encoding",
      ], file.content
    )
    if takesGzip, let compressed = file.compressed {
      content = compressed
      headers[.contentEncoding] = "gzip"
      headers[.eTag] = "\(file.tag.dropLast())-gzip\""
    }
    if hasNone(of: headers[.eTag]) { return Reply.empty(.notModified, headers: headers) }
    return Reply.bytes(content, type: file.type, headers: headers)
  }

  /// Whether the client says that it takes gzip; one that takes any coding, or weighs it, gets none.
  private var takesGzip: Bool {
    let codings = request.headers[.acceptEncoding]?.split(separator: ",") ?? []
    return codings.contains { $0.filter { $0 != " " }.lowercased() == "gzip" }
  }

  /// The page runs the scripts of this server alone, whatever the documents contain, and no other page shows it in a frame. A
  /// frame of its own shows PDF from memory.
  private static let pagePolicy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
    "connect-src 'self'", "frame-src blob:", "base-uri 'none'", "form-action 'none'",
    "frame-ancestors 'none'",
  ].joined(separator: "; ")
}
