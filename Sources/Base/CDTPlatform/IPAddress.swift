import CDTCLibrary

/// An IPv4 or IPv6 address. Two spellings of an address are equal, and so are an IPv4 address and the IPv6 address that it
/// is mapped to.
package struct IPAddress: Hashable, Sendable {
  /// 4 or 16 bytes.
  private let bytes: [UInt8]

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// `nil` unless the text is four decimal numbers with dots, or an IPv6 address without brackets and zone.
  package init?(_ text: String) {
    guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
    var (short, long) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, text, &short) == 1 {
      bytes = withUnsafeBytes(of: &short) { Array($0) }
    } else if inet_pton(AF_INET6, text, &long) == 1 {
      let long = withUnsafeBytes(of: &long) { Array($0) }
      let isMapped = long.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
      bytes = isMapped ? Array(long.suffix(4)) : long
    } else {
      return nil
    }
  }

  private var isIPv4: Bool { bytes.count == 4 }

  /// An address of this machine that no other machine can reach.
  package var isLoopback: Bool {
    isIPv4 ? bytes.first == 127 : bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
  }

  /// `0.0.0.0` or `::`, which stands for every address of the machine where a server listens.
  package var isUnspecified: Bool { bytes.allSatisfy { $0 == 0 } }

  /// The addresses that one machine can use as it likes: the first 64 bits of an IPv6 address, and all of an IPv4 address.
  package var subscriber: IPAddress {
    isIPv4 ? self : IPAddress(bytes: bytes.prefix(8) + [UInt8](repeating: 0, count: 8))
  }
}
