import CDTDatastore
import CDTJSON
import CDTPlatform

/// A table in text: a header line with the field names, then one document per record, as RFC 4180 describes it for
/// commas. Lines end with CRLF, LF or CR.
struct CSVSource: DocumentSource {
  private var input: InputBuffer
  private(set) var separator: UInt8?
  private let options: DocumentImporter.TableOptions
  /// Whether the user did not name the format, so that it is said.
  private let isRecognized: Bool
  private(set) var header: CSVHeader?
  private(set) var isCut = false
  private var notices: [ImportNotice] = []
  private var object: [UInt8] = []

  /// - Parameter separator: The character between cells; `nil` to determine it.
  init(
    _ input: InputBuffer, separator: UInt8?, _ options: DocumentImporter.TableOptions, isRecognized: Bool
  ) {
    self.input = input
    self.separator = separator
    self.options = options
    self.isRecognized = isRecognized
  }

  var taken: Int64 { input.taken }

  mutating func takeNotices() -> [ImportNotice] {
    defer { notices = [] }
    return notices
  }

  mutating func next(_ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    if header == nil { header = try readHeader() }
    guard let columns = header?.count else { return nil }
    var line = input.line
    var cells = try record()
    while let found = cells, found.count == 1, found[0].text.isEmpty, !found[0].isQuoted {
      line = input.line
      cells = try record()
    }
    guard let cells else {
      let mixed = header?.takeMixedColumns() ?? []
      if !mixed.isEmpty { notices.append(.mixedColumns(mixed, input.name)) }
      return nil
    }
    isCut = isCut && cells.count < columns
    guard cells.count <= columns else {
      let header =
        line <= Self.lastLineOfHeader ? ", or give --skip-lines \(line - 1) if this line is the header" : ""
      throw ImportError(
        file: input.name, line: line, column: 0,
        message:
          "the record has \(cells.count) cells but the header has \(columns); quote cells that contain \(ImportNotice.noun(separator ?? UInt8(ascii: ",")))\(header)"
      )
    }
    if let (number, name) = header?.takeColumnWithoutName(in: cells) {
      notices.append(.columnWithoutName(number, name, input.name))
    }
    object.removeAll(keepingCapacity: true)
    header?.write(cells, to: &object)
    do throws(JSONError) {
      _ = try normalizer.normalize(object)
    } catch {
      throw error.code == .invalidUTF8
        ? notUTF8(line) : ImportError(file: input.name, line: line, column: 0, message: error.message)
    }
    return SourcePlace(file: input.name, line: line)
  }

  /// Without a header no record has a meaning.
  mutating func recover() -> Bool { header != nil }

  private func notUTF8(_ line: Int) -> ImportError {
    ImportError(
      file: input.name, line: line, column: 0, message: "the record is not UTF-8; convert the text to UTF-8")
  }

  // MARK: Header

  /// The most columns of a table that is only shown.
  private static let maximumColumns = 10_000
  /// The last line that is proposed as the header.
  private static let lastLineOfHeader = 30

  private mutating func readHeader() throws -> CSVHeader? {
    for _ in 0..<options.skippedLines { try input.skipLine() }
    let named = try input.takeSeparatorLine()
    separator = separator ?? named
    try input.skipBlankLines()
    let line = input.line
    var offset = 0
    guard
      let counts = try input.countSeparators(
        Self.separators, from: &offset, trimsSpaces: options.trimsSpaces, findsLineEnd: true)
    else { return nil }
    if separator == nil {
      let found = try determinedSeparator(counts, &offset)
      separator = found
      if found != UInt8(ascii: ",") {
        notices.append(.table(separator: found, isRecognized: isRecognized, input.name))
      }
    }
    guard let cells = try record() else { return nil }
    isCut = false
    guard !input.isBeginning || cells.count <= Self.maximumColumns else {
      throw ImportError(
        file: input.name, line: line, column: 0,
        message:
          "the header has more than \(Self.maximumColumns) cells, the most of a preview; check the separator")
    }
    let names = try cells.map { cell in
      guard !cell.text.isEmpty || cell.isQuoted else { return String?.none }
      guard let name = String(validating: cell.text, as: UTF8.self) else { throw notUTF8(line) }
      return name
    }
    do throws(CSVHeader.Fault) {
      let header = try CSVHeader(names, options)
      if let name = header.nestedName { notices.append(.nestedColumn(name, input.name)) }
      if let name = header.repeatedName { notices.append(.repeatedColumn(name, input.name)) }
      return header
    } catch {
      throw ImportError(file: input.name, line: line, column: 0, message: error.message)
    }
  }

  /// The separators that are determined.
  private static let separators: [UInt8] = [
    UInt8(ascii: ","), UInt8(ascii: "\t"), UInt8(ascii: ";"), UInt8(ascii: "|"),
  ]

  /// The only separator in the header, or the only one that the first record has as often.
  private mutating func determinedSeparator(_ counts: [Int], _ offset: inout Int) throws -> UInt8 {
    var found = Self.separators.indices.filter { counts[$0] > 0 }
    if found.count > 1,
      let next = try input.countSeparators(
        Self.separators, from: &offset, trimsSpaces: options.trimsSpaces)
    {
      let same = found.filter { next[$0] == counts[$0] }
      if same.count == 1 { found = same }
    }
    guard found.count < 2 else {
      let nouns = found.map { ImportNotice.noun(Self.separators[$0]) }.joined(separator: " and ")
      throw ImportError(
        file: input.name, line: input.line, column: 0,
        message: "the header has \(nouns); give the one between its cells, as in --delimiter ','")
    }
    return found.first.map { Self.separators[$0] } ?? UInt8(ascii: ",")
  }

  // MARK: Records

  /// The cells of the next record, or `nil` at the end. A record ends with its line unless a quotation mark is open.
  private mutating func record() throws -> [CSVCell]? {
    if input.available == 0, try !input.fill() { return nil }
    var cells = [CSVCell()]
    var isOpen = false
    var bytes = 0
    let first = input.line
    isCut = false
    while true {
      guard let length = try input.lineLength(endingWith: input.lineEnd) else {
        isCut = true
        guard !isOpen else { throw openQuote(first) }
        return trimmed(cells)
      }
      let separator = separator ?? UInt8(ascii: ",")
      let isWellFormed = input.withBytes(length) {
        Self.read($0, separator, trimsSpaces: options.trimsSpaces, into: &cells, &isOpen)
      }
      let hasFeed = length < input.available
      // Also of a record with an error, behind which an import may go on.
      input.take(length + 1)
      guard isWellFormed else { throw misplacedQuote(first) }
      isCut = !hasFeed
      if !isOpen { return trimmed(cells) }
      guard hasFeed else { throw openQuote(first) }
      // Lines have a limit, but a record can have any number of them.
      bytes += length + 1
      guard bytes <= input.longestValue else {
        throw DatastoreError(.valueTooLong(input.name, line: first, limit: input.longestValue))
      }
      cells[cells.count - 1].text.append(input.lineEnd)
    }
  }

  private func trimmed(_ cells: [CSVCell]) -> [CSVCell] {
    guard options.trimsSpaces else { return cells }
    let space = UInt8(ascii: " ")
    return cells.map { cell in
      guard !cell.isQuoted, cell.text.first == space || cell.text.last == space else { return cell }
      let text = cell.text.drop { $0 == space }
      return CSVCell(text: Array(text.prefix((text.lastIndex { $0 != space } ?? -1) + 1 - text.startIndex)))
    }
  }

  private func openQuote(_ line: Int) -> ImportError {
    ImportError(
      file: input.name, line: line, column: 0,
      message: "a quotation mark in this record is not closed; close it, or double it if it is text")
  }

  private func misplacedQuote(_ line: Int) -> ImportError {
    ImportError(
      file: input.name, line: line, column: 0,
      message:
        "text stands before or behind a quoted cell of this record; double the quotation marks in it, or remove the text; if it is only spaces, give --trim"
    )
  }

  /// Adds the cells of a line to the record.
  ///
  /// - Parameter trimsSpaces: Whether spaces may stand around the quotation marks.
  /// - Returns: `false` if there is text behind the closing quotation mark of a cell, or spaces before the opening one.
  private static func read(
    _ line: UnsafeRawBufferPointer, _ separator: UInt8, trimsSpaces: Bool, into cells: inout [CSVCell],
    _ isOpen: inout Bool
  ) -> Bool {
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
      } else if byte == separator {
        cells.append(CSVCell())
      } else if byte != UInt8(ascii: "\r") || offset < line.count {
        let isSpaced =
          byte == UInt8(ascii: "\"") && cells[cells.count - 1].text.allSatisfy { $0 == UInt8(ascii: " ") }
        if trimsSpaces, byte == UInt8(ascii: " "), cells[cells.count - 1].isQuoted { continue }
        if trimsSpaces, isSpaced, !cells[cells.count - 1].isQuoted {
          cells[cells.count - 1] = CSVCell(isQuoted: true)
          isOpen = true
          continue
        }
        if cells[cells.count - 1].isQuoted || isSpaced { return false }
        cells[cells.count - 1].text.append(byte)
      }
    }
    return true
  }
}
