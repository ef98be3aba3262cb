import CDTPlatform

/// Who can reach a server, and what protects it.
///
/// A server listens on a loopback address by default. On any other it starts only with users, so that not everyone is an
/// admin, and TLS, so that passwords can't be read on the way.
package struct Exposure: Sendable {
  /// Where the server listens: an address, or `localhost`.
  package var address: String
  /// Whether the server has a file of users.
  package var hasUsers: Bool
  package var hasTLS: Bool
  /// Whether pages of every origin are allowed; see ``CrossOrigin/allowsAnyOrigin``.
  package var allowsAnyOrigin: Bool
  /// Whether the user has chosen to go without protection.
  package var isInsecure: Bool

  package init(
    address: String, hasUsers: Bool, hasTLS: Bool, allowsAnyOrigin: Bool = false, isInsecure: Bool = false
  ) {
    self.address = address
    self.hasUsers = hasUsers
    self.hasTLS = hasTLS
    self.allowsAnyOrigin = allowsAnyOrigin
    self.isInsecure = isInsecure
  }

  /// Allows the server to start.
  ///
  /// - Throws: ``ServerError`` with the remedy.
  package func check() throws(ServerError) {
    guard !isInsecure else { return }
    if !Self.isLoopback(address) {
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
