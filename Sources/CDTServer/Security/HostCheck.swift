import CDTPlatform
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
  /// - Throws: ``ServerError`` for what is no host name.
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
