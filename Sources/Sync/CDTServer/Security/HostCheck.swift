package import CDTPlatform
package import CouchDB

/// Checks the `Host` header of requests, against DNS rebinding.
///
/// A page of `evil.example` can make that name lead to this machine and then read the server as its own origin. But the
/// browser says in `Host` which name it used. So a request passes only with a name that was configured, `localhost`, or an
/// address where the server listens: an address can't be rebound.
///
/// The port doesn't matter, as it may have been forwarded.
package struct HostCheck: Sendable {
  private var known: Set<HostAndPort.Host>
  /// Whether the server listens on all addresses of the machine, which it can't list.
  private let acceptsAnyAddress: Bool

  /// - Parameters:
  ///   - names: The names by which clients know the server.
  ///   - addresses: The addresses or names where the server listens.
  /// - Throws: ``ServerError`` for text that is not a host name.
  package init(names: [String], listeningOn addresses: [String]) throws(ServerError) {
    known = [.name("localhost")]
    for loopback in ["127.0.0.1", "::1"] {
      if let address = IPAddress(loopback) { known.insert(.address(address)) }
    }
    var acceptsAnyAddress = false
    for text in names + addresses {
      guard let host = HostAndPort.Host(text) else { throw .invalidHostName(text) }
      if case .address(let address) = host, address.isUnspecified { acceptsAnyAddress = true }
      known.insert(host)
    }
    self.acceptsAnyAddress = acceptsAnyAddress
  }

  /// Whether a name or an address is known to be this server's.
  func isOwn(_ host: HostAndPort.Host) -> Bool { known.contains(host) }

  /// Allows a request.
  ///
  /// - Parameter headers: All `Host` headers of the request, or the `:authority` of HTTP/2.
  /// - Returns: The host, for ``CrossOrigin/checkWrite(method:origin:fetchSite:host:isSecure:)``.
  /// - Throws: 400 without exactly one valid header, 421 for the name of another server.
  @discardableResult
  package func check(_ headers: [String]) throws(CouchError) -> HostAndPort {
    guard headers.count == 1, let header = headers.first else { throw .missingHost }
    guard let host = HostAndPort(header) else { throw .invalidHost }
    if known.contains(host.host) { return host }
    guard acceptsAnyAddress, case .address = host.host else { throw .unknownHost }
    return host
  }
}

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

/// The rule that a server which others can reach is protected.
///
/// A server listens on a loopback address by default. On any other it starts only with users, so that not everyone is an
/// admin, and TLS, so that passwords can't be read on the way.
package enum Exposure {
  /// Allows a server to start.
  ///
  /// - Parameters:
  ///   - address: The address where the server listens, or `localhost`.
  ///   - hasUsers: Whether the server has a file of users.
  ///   - allowsAnyOrigin: Whether pages of every origin are allowed; see ``CrossOrigin/allowsAnyOrigin``.
  ///   - isInsecure: Whether the user has chosen to go without protection.
  /// - Throws: ``ServerError`` with the remedy.
  package static func check(
    address: String, hasUsers: Bool, hasTLS: Bool, allowsAnyOrigin: Bool = false, isInsecure: Bool = false
  ) throws(ServerError) {
    guard !isInsecure else { return }
    if !isLoopback(address) {
      switch (hasUsers, hasTLS) {
      case (true, true): break
      case (false, true):
        throw .exposed(address, missing: "no users", remedy: "add users (--users)")
      case (true, false):
        throw .exposed(address, missing: "no TLS", remedy: "add a certificate (--tls-cert, --tls-key)")
      case (false, false):
        throw .exposed(
          address, missing: "neither users nor TLS",
          remedy: "add users (--users) and a certificate (--tls-cert, --tls-key)")
      }
    }
    guard hasUsers || !allowsAnyOrigin else { throw .anyOriginWithoutUsers }
  }

  /// Other names count as reachable, wherever they lead today.
  private static func isLoopback(_ address: String) -> Bool {
    switch HostAndPort.Host(address) {
    case .address(let address): address.isLoopback
    case .name(let name): name == "localhost"
    case nil: false
    }
  }
}
