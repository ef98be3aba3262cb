import CDTPlatform

extension URLComponents {
  /// Whether a connection can be made to the host and the port.
  var hasServer: Bool { hasHost && hasPort }

  /// Whether there is a host. A resolver would look up what precedes a NUL.
  var hasHost: Bool {
    guard let host, !host.isEmpty, host != "[]" else { return false }
    return host.utf8.allSatisfy { $0 > UInt8(ascii: " ") && $0 != 0x7f }
  }

  /// Whether the port exists, or is left out.
  ///
  /// AsyncHTTPClient traps for one above 65,535. One that is too large for an `Int` reads as `nil`.
  var hasPort: Bool {
    guard let port else { return !endsInDigits(authority) }
    return (1...65_535).contains(port)
  }

  /// The name, the password, the host and the port.
  private var authority: Substring.UTF8View {
    let hierarchy = (string ?? "").utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
    return hierarchy.prefix { !"/?#".utf8.contains($0) }
  }

  /// Whether a text ends in a colon and digits.
  private func endsInDigits(_ text: Substring.UTF8View) -> Bool {
    let rest = text.reversed().drop { $0.isDigit }
    return rest.first == UInt8(ascii: ":") && rest.count < text.count
  }
}
