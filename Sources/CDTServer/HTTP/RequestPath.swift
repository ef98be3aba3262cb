import CouchDB

/// The path of a request, split at its slashes before anything is decoded, and its query.
struct RequestPath: Sendable {
  /// Each decoded once.
  let segments: [String]
  let query: String
  /// Whether the path ends in a slash.
  let hasTrailingSlash: Bool

  /// - Parameter target: The path and the query as they were sent.
  init(_ target: String, limit: Int) throws(CouchError) {
    guard target.utf8.count <= limit else {
      throw CouchError(414, "uri_too_long", "The path and the query have more than \(limit) bytes.")
    }
    // The absolute form, which proxies use, has a scheme and a host.
    guard target.utf8.first == UInt8(ascii: "/") else {
      throw CouchError.badRequest("The request's target must be a path.")
    }
    let end = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.utf8.endIndex
    query = end == target.utf8.endIndex ? "" : String(target[target.utf8.index(after: end)...])
    var segments: [String] = []
    let path = target[..<end].utf8.dropFirst()
    for segment in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      segments.append(try PercentCoding.decode(Substring(segment)))
    }
    hasTrailingSlash = segments.last == ""
    if hasTrailingSlash { segments.removeLast() }
    self.segments = segments
  }
}
