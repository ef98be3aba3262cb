import CouchDB
import HTTPTypes
import Hummingbird

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
    let headers: HTTPFields = [
      .eTag: file.tag, .cacheControl: "no-cache", .contentSecurityPolicy: Self.pagePolicy,
      .xContentTypeOptions: "nosniff", .referrerPolicy: "no-referrer",
    ]
    if hasNone(of: file.tag) { return Reply.empty(.notModified, headers: headers) }
    return Reply.bytes(file.content, type: file.type, headers: headers)
  }

  /// The page runs the scripts of this server alone, whatever the documents contain, and no other page shows it in a frame. A
  /// frame of its own shows PDF from memory.
  private static let pagePolicy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
    "connect-src 'self'", "frame-src blob:", "base-uri 'none'", "form-action 'none'",
    "frame-ancestors 'none'",
  ].joined(separator: "; ")
}
