import CDTJSON

/// Comma-separated values, RFC 4180: a header line with the field names, then one document per record. Lines end with
/// CRLF, LF or CR.
///
/// An unquoted cell that is a JSON number, `true` or `false` becomes that value; an empty cell is a missing field. All
/// other cells, all quoted cells and every `_id` are strings.
struct CSVSource: DocumentSource {
  private var input: InputBuffer
  private var header: [String]?

  init(_ input: InputBuffer) {
    self.input = input
  }

  var taken: Int64 { input.taken }

  mutating func next(_ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    if header == nil { header = try readHeader() }
    guard let header else { return nil }
    var line = input.line
    var cells = try record()
    while let found = cells, found.count == 1, found[0].text.isEmpty, !found[0].isQuoted {
      line = input.line
      cells = try record()
    }
    guard let cells else { return nil }
    guard cells.count <= header.count else {
      throw ImportError(
        file: input.name, line: line, column: 0,
        message:
          "the record has \(cells.count) cells but the header has \(header.count); quote cells that contain commas"
      )
    }
    let text = try object(header, cells, line: line).utf8Text
    do {
      _ = try text.withUnsafeBytes { try normalizer.normalize($0) }
    } catch let error as JSONError {
      throw ImportError(error, in: input)
    }
    return SourcePlace(file: input.name, line: line)
  }

  mutating func recover() -> Bool { true }

  private mutating func readHeader() throws -> [String]? {
    try findLineEnd()
    guard let cells = try record() else { return nil }
    let names = try cells.map { try text($0, line: 1) }
    var seen = Set<KeyBytes>()
    for (position, name) in names.enumerated() {
      guard !name.isEmpty else {
        throw ImportError(
          file: input.name, line: 1, column: 0, message: "column \(position + 1) has no name; name it")
      }
      guard seen.insert(KeyBytes(name)).inserted else {
        throw ImportError(
          file: input.name, line: 1, column: 0,
          message: "two columns are named \(DatastoreError.quoted(name)); name each once")
      }
    }
    return names
  }

  /// Determines by the end of the header whether lines end with CR, as some programs write them. Otherwise they end with
  /// LF or CRLF.
  private mutating func findLineEnd() throws {
    var isQuoted = false
    // A quotation mark begins a quoted cell only where a cell begins; others are text.
    var beginsCell = true
    var offset = 0
    while true {
      if offset + 1 >= input.available, try !input.fill(), offset >= input.available { return }
      let byte = input[offset]
      switch byte {
      case UInt8(ascii: "\"") where isQuoted:
        if input[offset + 1] == byte { offset += 1 } else { isQuoted = false }
      case UInt8(ascii: "\"") where beginsCell: isQuoted = true
      case UInt8(ascii: "\n") where !isQuoted: return
      case UInt8(ascii: "\r") where !isQuoted:
        if input[offset + 1] != UInt8(ascii: "\n") { input.lineEnd = UInt8(ascii: "\r") }
        return
      default: break
      }
      beginsCell = byte == UInt8(ascii: ",") && !isQuoted
      offset += 1
    }
  }

  private struct Cell {
    var text: [UInt8] = []
    var isQuoted = false
  }

  private func object(_ header: [String], _ cells: [Cell], line: Int) throws -> JSONObject {
    var object = JSONObject()
    for (name, cell) in zip(header, cells) {
      if let value = try value(cell, of: name, line: line) { object[name] = value }
    }
    return object
  }

  private func value(_ cell: Cell, of name: String, line: Int) throws -> JSONValue? {
    guard let first = cell.text.first else { return cell.isQuoted ? "" : nil }
    if cell.isQuoted || name == "_id" { return .string(try text(cell, line: line)) }
    let isNumber = first == UInt8(ascii: "-") || (0x30...0x39).contains(first)
    let isBoolean = cell.text.elementsEqual("true".utf8) || cell.text.elementsEqual("false".utf8)
    if isNumber || isBoolean, let value = try? JSONValue(parsing: cell.text) { return value }
    return .string(try text(cell, line: line))
  }

  private func text(_ cell: Cell, line: Int) throws -> String {
    guard let text = String(validating: cell.text, as: UTF8.self) else {
      throw ImportError(
        file: input.name, line: line, column: 0, message: "the record is not UTF-8; convert the text to UTF-8"
      )
    }
    return text
  }

  /// The cells of the next record, or `nil` at the end. A record ends with its line unless a quotation mark is open.
  private mutating func record() throws -> [Cell]? {
    if input.available == 0, try !input.fill() { return nil }
    var cells = [Cell()]
    var isOpen = false
    let first = input.line
    while true {
      guard let length = try input.lineLength(endingWith: input.lineEnd) else {
        guard !isOpen else { throw openQuote(first) }
        return cells
      }
      input.withBytes(length) { Self.read($0, into: &cells, &isOpen) }
      let hasFeed = length < input.available
      input.take(length + 1)
      if !isOpen { return cells }
      guard hasFeed else { throw openQuote(first) }
      cells[cells.count - 1].text.append(input.lineEnd)
    }
  }

  private func openQuote(_ line: Int) -> ImportError {
    ImportError(
      file: input.name, line: line, column: 0,
      message: "a quotation mark in this record is not closed; close it, or double it if it is text")
  }

  private static func read(_ line: UnsafeRawBufferPointer, into cells: inout [Cell], _ isOpen: inout Bool) {
    var offset = 0
    while offset < line.count {
      let byte = line[offset]
      offset += 1
      if isOpen {
        if byte != UInt8(ascii: "\"") {
          cells[cells.count - 1].text.append(byte)
        } else if offset < line.count, line[offset] == UInt8(ascii: "\"") {
          cells[cells.count - 1].text.append(byte)
          offset += 1
        } else {
          isOpen = false
        }
      } else if byte == UInt8(ascii: "\""), cells[cells.count - 1].text.isEmpty {
        cells[cells.count - 1].isQuoted = true
        isOpen = true
      } else if byte == UInt8(ascii: ",") {
        cells.append(Cell())
      } else if byte != UInt8(ascii: "\r") || offset < line.count {
        cells[cells.count - 1].text.append(byte)
      }
    }
  }
}
