/// Reads the numbers of `CollationData`, whose form `scripts/make-collation-tables.pl` describes. Beyond the end they are 0.
struct CollationReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ data: String) {
    bytes = Base64.decode(data) ?? []
  }

  mutating func unsigned() -> UInt32 {
    var (number, shift) = (UInt32(0), UInt32(0))
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      number |= UInt32(byte & 0x7F) << shift
      if byte < 0x80 { break }
      shift += 7
    }
    return number
  }

  mutating func signed() -> Int32 {
    let number = unsigned()
    let half = Int32(bitPattern: number >> 1)
    return number & 1 == 0 ? half : -half - 1
  }

  mutating func list(of count: UInt32) -> [UInt32] {
    (0..<count).map { _ in unsigned() }
  }

  /// Calls `body` with the first code point of each record of a section.
  ///
  /// - Parameter body: Reads the record, and returns the number of code points that it spans.
  mutating func forEachRun(_ body: (UInt32, inout CollationReader) -> UInt32) {
    var point: UInt32 = 0
    for _ in 0..<unsigned() {
      point &+= unsigned()
      point &+= body(point, &self)
    }
  }
}
