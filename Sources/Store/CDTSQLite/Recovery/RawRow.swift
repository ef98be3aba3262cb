/// A row of a table or an index, as stored.
package struct RawRow {
  package enum Value: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])
    /// It is on a damaged page.
    case lost
  }

  package let location: RawDatabase.Location
  /// The number of a table's row.
  package let rowID: Int64?
  package let values: [Value]
  /// Whether it is only on pages that are as they were written.
  package let isVerified: Bool

  /// - Parameters:
  ///   - payload: The row's bytes, which end early if the rest is on a damaged page.
  ///   - length: The length that they should have.
  ///   - isVerified: Whether the bytes are as they were written.
  init?(location: RawDatabase.Location, rowID: Int64?, payload: [UInt8], length: Int, isVerified: Bool) {
    self.location = location
    self.rowID = rowID
    self.isVerified = isVerified
    var header = RawReader(payload, at: 0)
    guard let headerLength = header.varint(), headerLength > 0, headerLength <= payload.count else {
      return nil
    }
    var types: [Int64] = []
    while header.position < Int(headerLength) {
      guard let type = header.varint(), type >= 0, types.count < Self.maximumColumns else { return nil }
      types.append(type)
    }
    guard header.position == Int(headerLength) else { return nil }
    var body = RawReader(payload, at: Int(headerLength))
    var values: [Value] = []
    for type in types {
      guard let size = Self.size(of: type), body.position <= length - min(size, length) else { return nil }
      values.append(body.remaining >= size ? Self.value(of: type, body.bytes(size)) : .lost)
      if values.last == .lost { body.skip(size) }
    }
    self.values = values
  }

  /// The most columns that SQLite can be built for. Source: https://sqlite.org/limits.html
  private static let maximumColumns = 32_767

  /// The number of bytes of a serial type; `nil` for one that SQLite does not write.
  private static func size(of type: Int64) -> Int? {
    switch type {
    case 0, 8, 9: 0
    case 1...4: Int(type)
    case 5: 6
    case 6, 7: 8
    case 10, 11: nil
    default: Int(clamping: (type - 12) / 2)
    }
  }

  private static func value(of type: Int64, _ bytes: [UInt8]) -> Value {
    switch type {
    case 0: .null
    case 8: .integer(0)
    case 9: .integer(1)
    case 1...6: .integer(bytes.dropFirst().reduce(Int64(Int8(bitPattern: bytes[0]))) { $0 << 8 | Int64($1) })
    case 7: .real(Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
    default: type % 2 == 0 ? .blob(bytes) : .text(bytes)
    }
  }
}

/// Reads numbers and bytes from a page, whose content may be anything.
struct RawReader {
  private let page: [UInt8]
  private(set) var position: Int

  init(_ page: [UInt8], at position: Int) {
    self.page = page
    self.position = position
  }

  var remaining: Int { max(0, page.count - position) }

  mutating func skip(_ count: Int) {
    position += min(count, Int.max - position)
  }

  private mutating func byte() -> UInt8? {
    guard position >= 0, position < page.count else { return nil }
    defer { position += 1 }
    return page[position]
  }

  /// A number of up to nine bytes with seven bits each; the ninth has eight.
  mutating func varint() -> Int64? {
    var number: UInt64 = 0
    for index in 0..<9 {
      guard let byte = byte() else { return nil }
      if index == 8 { return Int64(bitPattern: number << 8 | UInt64(byte)) }
      number = number << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { break }
    }
    return Int64(bitPattern: number)
  }

  mutating func unsigned32() -> UInt32? {
    guard remaining >= 4 else { return nil }
    defer { position += 4 }
    return page.bigEndian(at: position)
  }

  /// The next bytes; fewer at the end of the page.
  mutating func bytes(_ count: Int) -> [UInt8] {
    guard position >= 0, position < page.count, count > 0 else { return [] }
    let end = position + min(count, page.count - position)
    defer { position = end }
    return Array(page[position..<end])
  }
}
