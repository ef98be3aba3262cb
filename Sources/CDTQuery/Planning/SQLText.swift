import JSON

/// SQL in the making: pieces, most of them literals, each added at the end of the others.
///
/// A statement's text is made for each query, so that joining strings would cost more than planning.
struct SQLText: ~Copyable {
  private var buffer = TextBuffer(capacity: 960)

  var string: String {
    buffer.withBytes { String(decoding: $0, as: UTF8.self) }
  }

  @inline(__always)
  mutating func write(_ literal: StaticString) {
    literal.withUTF8Buffer { buffer.append(UnsafeRawBufferPointer($0)) }
  }

  /// Adds a whole number between two literals: `e.t1 = `.
  @inline(__always)
  mutating func write(_ literal: StaticString, _ number: Int64, _ rest: StaticString = "") {
    write(literal)
    write(number)
    write(rest)
  }

  mutating func write(_ number: Int64) {
    if number < 0 { write("-") }
    write(number.magnitude)
  }

  private mutating func write(_ number: UInt64) {
    if number >= 10 { write(number / 10) }
    buffer.append(byte: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }
}
