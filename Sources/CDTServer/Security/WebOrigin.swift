import CDTPlatform

/// The origin of a web page: scheme, host and port.
package struct WebOrigin: Hashable, Sendable {
  package let scheme: String
  package let host: HostAndPort.Host
  package let port: Int?

  /// Reads `http://localhost:3000`, `https://app.example` or an origin of an app such as `capacitor://localhost`. Other texts, also `null`, are
  /// nobody's origin.
  package init?(_ text: String) {
    guard text.utf8.count <= 512, let separator = text.firstRange(of: "://") else { return nil }
    let scheme = text[..<separator.lowerBound].lowercased()
    guard let first = scheme.utf8.first, first.isLetter, scheme.utf8.allSatisfy(Self.isSchemeByte),
      let place = HostAndPort(String(text[separator.upperBound...]))
    else { return nil }
    self.init(scheme: scheme, place)
  }

  /// The origin of a server's own pages.
  package init(isSecure: Bool, _ place: HostAndPort) {
    self.init(scheme: isSecure ? "https" : "http", place)
  }

  private init(scheme: String, _ place: HostAndPort) {
    self.scheme = scheme
    host = place.host
    port = place.port ?? (scheme == "http" ? 80 : scheme == "https" ? 443 : nil)
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || "+-.".utf8.contains(byte)
  }
}
