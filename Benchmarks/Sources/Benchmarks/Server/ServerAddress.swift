import CDTJSON
import FoundationEssentials

/// The address of a server, with the user of the requests: `http://admin:password@127.0.0.1:5984`.
struct ServerAddress {
  let host: String
  let port: UInt16
  /// The name and the password, as they stand in the URL; `nil` without them.
  let user: String?

  init(host: String, port: UInt16, user: String? = nil) {
    (self.host, self.port, self.user) = (host, port, user)
  }

  /// The CouchDB to compare with, from the variable `COUCHDB`; `nil` if it isn't set.
  static func couchDB() throws -> ServerAddress? {
    try ProcessInfo.processInfo.environment["COUCHDB"].flatMap { $0.isEmpty ? nil : try ServerAddress($0) }
  }

  init(_ url: String) throws {
    let scheme = "http://"
    var rest = url[...]
    while rest.last == "/" { rest.removeLast() }
    guard rest.hasPrefix(scheme) else { throw BenchError("\(Self.plain(url)) is no URL with http://") }
    rest.removeFirst(scheme.count)
    let at = rest.lastIndex(of: "@")
    user = at.map { String(rest[..<$0]) }
    if let at { rest = rest[rest.index(after: at)...] }
    guard let colon = rest.lastIndex(of: ":"), let port = UInt16(rest[rest.index(after: colon)...]) else {
      throw BenchError("\(Self.plain(url)) has no port")
    }
    host = String(rest[..<colon])
    self.port = port
  }

  /// Without the name and the password.
  var url: String { "http://\(host):\(port)" }

  /// The version that the server tells.
  func version() throws -> String {
    try JSONObject(parsing: HTTPConnection.exchange(self, "GET", "/"))["version"]?.stringValue ?? "unknown"
  }

  private static func plain(_ url: String) -> Substring {
    url.lastIndex(of: "@").map { url[url.index(after: $0)...] } ?? url[...]
  }
}
