/// The text of a statement while it is written: appending to it costs less than to a string.
struct SQLText {
  private var bytes: [UInt8] = []

  init() {
    bytes.reserveCapacity(512)
  }

  var count: Int { bytes.count }
  var text: String { String(decoding: bytes, as: UTF8.self) }

  static func += (sql: inout SQLText, text: StaticString) {
    sql.bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  static func += (sql: inout SQLText, text: String) {
    sql.bytes.append(contentsOf: text.utf8)
  }

  static func += (sql: inout SQLText, number: Int) {
    if (0..<10).contains(number) {
      sql.bytes.append(UInt8(ascii: "0") + UInt8(number))
    } else {
      sql += String(number)
    }
  }
}
