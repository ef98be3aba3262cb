/// A row as SQLite stores it: a header, which has its own length and the type of each value, and the values.
///
/// ```swift
/// var record = TableRecord()
/// record.append(text: word)
/// record.append(int: 7)
/// bytes.append(record)
/// ```
///
/// Source: https://www.sqlite.org/fileformat2.html, 2.1
package struct TableRecord: ~Copyable {
  private var types = RecordBytes()
  private var values = RecordBytes()

  package init() {}

  package mutating func removeAll() {
    types.removeAll()
    values.removeAll()
  }

  package mutating func append(int: Int64) {
    switch int {
    case 0: types.append(8)
    case 1: types.append(9)
    case -0x80..<0x80: append(int, type: 1, length: 1)
    case -0x8000..<0x8000: append(int, type: 2, length: 2)
    case -0x80_0000..<0x80_0000: append(int, type: 3, length: 3)
    case -0x8000_0000..<0x8000_0000: append(int, type: 4, length: 4)
    case -0x8000_0000_0000..<0x8000_0000_0000: append(int, type: 5, length: 6)
    default: append(int, type: 6, length: 8)
    }
  }

  @inline(__always)
  private mutating func append(_ int: Int64, type: UInt8, length: Int) {
    types.append(type)
    values.append(int, length: length)
  }

  package mutating func append(double: Double) {
    types.append(7)
    values.append(bigEndian: double.bitPattern)
  }

  package mutating func append(text: UnsafeRawBufferPointer) {
    types.append(varint: 13 + 2 * text.count)
    values.append(text)
  }

  package mutating func append(blob: UnsafeRawBufferPointer) {
    types.append(varint: 12 + 2 * blob.count)
    values.append(blob)
  }

  /// The length of the header, which has it, too.
  private var headerLength: Int { types.count + (types.count < 127 ? 1 : types.count < 16_382 ? 2 : 3) }

  /// How many bytes the row has.
  var count: Int { headerLength + values.count }

  /// Writes so many bytes.
  @inline(__always)
  func write(to target: UnsafeMutableRawPointer) {
    let start = target + Varint.write(headerLength, to: target)
    types.copy(to: start)
    values.copy(to: start + types.count)
  }
}
