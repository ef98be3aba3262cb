/// SQL in the making: bytes to which more are added at the end.
///
/// A statement's text is made for each query, of pieces that are mostly literals, so joining strings would cost more
/// than planning.
struct SQLText {
  private var bytes: [UInt8] = []

  init() {
    bytes.reserveCapacity(512)
  }

  var string: String { String(decoding: bytes, as: UTF8.self) }

  @inline(__always)
  mutating func write(_ literal: StaticString) {
    literal.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  /// Adds a whole number between two literals: `e.t1 = `.
  @inline(__always)
  mutating func write(_ literal: StaticString, _ number: Int64, _ rest: StaticString = "") {
    write(literal)
    write(number)
    write(rest)
  }

  mutating func write(_ number: Int64) {
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    write(number.magnitude)
  }

  private mutating func write(_ number: UInt64) {
    if number >= 10 { write(number / 10) }
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }
}
