package import CDTPlatform

/// The host and port of a `Host` header or of an origin.
package struct HostAndPort: Hashable, Sendable {
  /// A name in lower case without a final dot, or an address.
  package enum Host: Hashable, Sendable {
    case name(String)
    case address(IPAddress)

    /// `nil` if the text is neither a name of letters, digits, `-`, `_` and dots, nor an address. An IPv6 address can be in brackets.
    package init?(_ text: some StringProtocol) {
      if text.hasPrefix("[") {
        guard text.hasSuffix("]"), text.contains(":"),
          let address = IPAddress(String(text.dropFirst().dropLast()))
        else { return nil }
        self = .address(address)
      } else if let address = IPAddress(String(text)) {
        self = .address(address)
      } else {
        let name = text.hasSuffix(".") ? String(text.dropLast()) : String(text)
        guard (1...253).contains(name.utf8.count), name.utf8.allSatisfy(Self.isNameByte) else { return nil }
        self = .name(name.lowercased())
      }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
      byte.isLetter || byte.isDigit || "-_.".utf8.contains(byte)
    }
  }

  package let host: Host
  package let port: Int?

  /// Reads `example.com`, `example.com:5984`, `127.0.0.1:5984` or `[::1]:5984`; `nil` for anything else.
  package init?(_ text: String) {
    var host = Substring(text)
    var port: Int?
    // The colons of an IPv6 address are within brackets.
    let end = text.lastIndex(of: "]") ?? text.startIndex
    if let colon = text[end...].firstIndex(of: ":") {
      guard let number = Self.port(text[text.index(after: colon)...]) else { return nil }
      host = text[..<colon]
      port = number
    }
    guard let host = Host(host) else { return nil }
    self.host = host
    self.port = port
  }

  private static func port(_ digits: Substring) -> Int? {
    guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }),
      let port = Int(digits), (1...65_535).contains(port)
    else { return nil }
    return port
  }
}
