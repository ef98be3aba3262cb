import CDTPlatform

// What precedes the records of a table.
extension InputBuffer {
  private static let lineEnds = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]

  /// Skips a line, which ends with CRLF, LF or CR.
  mutating func skipLine() throws {
    var length = 0
    while try length < available || fill(), !Self.lineEnds.contains(self[length]) { length += 1 }
    if self[length] == UInt8(ascii: "\r") {
      if length + 1 == available { _ = try fill() }
      if self[length + 1] == UInt8(ascii: "\n") { length += 1 } else { lineEnd = UInt8(ascii: "\r") }
    }
    take(length + 1)
  }

  mutating func skipBlankLines() throws {
    while try available > 0 || fill(), Self.lineEnds.contains(self[0]) { try skipLine() }
  }

  /// Takes the line `sep=;`, which tells Excel the separator.
  ///
  /// - Returns: The separator; `nil` if there is no such line.
  mutating func takeSeparatorLine() throws -> UInt8? {
    let longest = "\"sep=;\"\r\n".utf8.count
    while available < longest, try fill() {}
    let line = withBytes(longest) { $0.filter { $0 != UInt8(ascii: "\"") } }
    guard line.starts(with: "sep=".utf8), line.count > 4, line.count == 5 || Self.lineEnds.contains(line[5])
    else { return nil }
    try skipLine()
    return line[4]
  }

  /// Counts the separators in a record outside of quoted cells, without consuming it.
  ///
  /// - Parameters:
  ///   - offset: The offset of the record, which moves behind it.
  ///   - trimsSpaces: Whether spaces may stand before the quotation mark of a cell.
  ///   - findsLineEnd: Whether the end of the record determines if lines end with CR, as some programs write them. Otherwise
  ///     they end with LF or CRLF.
  /// - Returns: `nil` at the end.
  mutating func countSeparators(
    _ separators: [UInt8], from offset: inout Int, trimsSpaces: Bool, findsLineEnd: Bool = false
  ) throws -> [Int]? {
    let start = offset
    var counts = separators.map { _ in 0 }
    var isQuoted = false
    // A quotation mark begins a quoted cell only where a cell begins; others are text.
    var beginsCell = true
    while true {
      if offset + 1 >= available, try !fill(), offset >= available {
        return offset > start ? counts : nil
      }
      let (byte, next) = (self[offset], self[offset + 1])
      offset += 1
      if isQuoted {
        if byte == UInt8(ascii: "\"") {
          if next == byte { offset += 1 } else { isQuoted = false }
        }
        continue
      }
      if findsLineEnd, byte == UInt8(ascii: "\r"), next != UInt8(ascii: "\n") { lineEnd = byte }
      if byte == lineEnd { return counts }
      isQuoted = byte == UInt8(ascii: "\"") && beginsCell
      beginsCell = beginsCell && trimsSpaces && byte == UInt8(ascii: " ")
      if let index = separators.firstIndex(of: byte) {
        counts[index] += 1
        beginsCell = true
      }
    }
  }
}
