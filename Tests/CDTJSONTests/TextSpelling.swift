/// The bytes of a test's text, in which ‹ff 00› are bytes by their hexadecimal digits.
func spelledBytes(_ spelling: String) -> [UInt8] {
  var bytes: [UInt8] = []
  for (position, part) in spelling.split(separator: "‹", omittingEmptySubsequences: false).enumerated() {
    guard position > 0, let end = part.firstIndex(of: "›") else {
      bytes += part.utf8
      continue
    }
    bytes += part[..<end].split(separator: " ").compactMap { UInt8($0, radix: 16) }
    bytes += part[part.index(after: end)...].utf8
  }
  return bytes
}

func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }

/// An object of members `k0`, `k1`, ….
func manyMembers(_ count: Int) -> String {
  "{" + (0..<count).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}"
}

func nested(_ open: String, _ depth: Int, _ close: String, around inner: String = "") -> String {
  String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)
}
