import CDTJSON
import CDTPlatform

/// A file of options, as text:
///
/// ```
/// # a comment
/// [contacts]
/// source = people/contacts
/// continuous = true
/// ```
///
/// A value is the rest of its line, without the spaces around it. A flag needs none. The options before the first section are in one
/// without a name.
struct OptionFile: Sendable {
  struct Entry: Sendable {
    let name: String
    /// `nil` if there is only a name.
    let value: String?
    let line: Int
  }

  struct Section: Sendable {
    let name: String
    let line: Int
    fileprivate(set) var entries: [Entry] = []

    /// The value of the first option with a name.
    subscript(name: String) -> String? { entries.first { $0.name == name }?.value ?? nil }
  }

  let path: String
  private(set) var sections: [Section] = []

  private static let maximumLength = 1 << 20

  /// Reads a file.
  ///
  /// - Throws: `ToolError` if it can't be read, or with the line that is malformed.
  init(_ path: String) throws(ToolError) {
    self.path = path
    let file = try PasswordSource.opened(path)
    var bytes: [UInt8] = []
    do {
      while bytes.count <= Self.maximumLength {
        let chunk = try file.read(upTo: Self.maximumLength)
        if chunk.isEmpty { break }
        bytes += chunk
      }
    } catch {
      throw .unreadable(path, error)
    }
    // Some programs write a byte order mark at the start of UTF-8.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    guard bytes.count <= Self.maximumLength, let text = String(validating: bytes, as: UTF8.self) else {
      throw ToolError(.data, "\(path) is not a text of at most 1 MB in UTF-8; check the path")
    }
    for (number, line) in text.splitBytes(at: "\n").enumerated() { try read(line, number + 1) }
  }

  /// The error of a line.
  func error(_ line: Int, _ message: String, _ status: ExitStatus = .data) -> ToolError {
    ToolError(status, "\(path):\(line): \(message)")
  }

  private mutating func read(_ text: String, _ number: Int) throws(ToolError) {
    let line = Self.trimmed(text[...])
    if line.isEmpty || line.hasPrefix("#") { return }
    if line.hasPrefix("[") {
      let name = Self.trimmed(line.dropFirst().dropLast())
      guard line.hasSuffix("]"), !name.isEmpty else {
        throw error(number, "a section is written as [name]")
      }
      guard !sections.contains(where: { $0.name == name }) else {
        throw error(number, "the section [\(name)] is there twice; choose another name")
      }
      sections.append(Section(name: String(name), line: number))
      return
    }
    let sign = line.firstIndex(of: "=")
    let name = Self.trimmed(line[..<(sign ?? line.endIndex)])
    let value = sign.map { String(Self.trimmed(line[line.index(after: $0)...])) }
    guard name.utf8.first?.isLetter == true,
      name.utf8.allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") }), value != ""
    else {
      throw error(
        number, #"the line is not an option; write its long name without hyphens, as in "port = 5984""#)
    }
    if sections.isEmpty { sections.append(Section(name: "", line: number)) }
    sections[sections.count - 1].entries.append(
      Entry(name: String(name), value: value, line: number))
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let isSpace = { (character: Character) in character == " " || character == "\t" || character == "\r" }
    let rest = text.drop(while: isSpace)
    guard let last = rest.lastIndex(where: { !isSpace($0) }) else { return "" }
    return rest[...last]
  }
}
