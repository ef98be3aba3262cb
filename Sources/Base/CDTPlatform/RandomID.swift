/// Random identifiers: UUIDs of version 4.
///
/// Foundation's `UUID()` reads a device file on Linux, and is zero if the process can't open one more file.
package enum RandomID {
  /// A UUID, such as `0f8fad5b-d9cb-469f-a165-70867728950e`.
  package static func uuid() -> String {
    let digits = digits()
    var rest = digits[...]
    return [8, 4, 4, 4, 12].map { count in
      defer { rest = rest.dropFirst(count) }
      return String(rest.prefix(count))
    }.joined(separator: "-")
  }

  /// The 32 digits of a UUID.
  package static func digits() -> String {
    var generator = SystemRandomNumberGenerator()
    let high = generator.next() & ~0xF000 | 0x4000
    let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
    return Hexadecimal.text(high) + Hexadecimal.text(low)
  }
}
