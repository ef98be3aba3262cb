import CDTPlatform

/// A text argument: the text itself, `@FILE` for a file's content, `-` for standard input.
enum TextArgument {
  static func read(_ argument: String) throws -> String {
    if argument == "-" { return try contents(of: .standardInput) }
    guard argument.hasPrefix("@") else { return argument }
    return try contents(of: InputLines(opening: String(argument.dropFirst())))
  }

  /// The rest of the lines, with line feeds.
  static func contents(of reader: consuming InputLines) throws -> String {
    var bytes: [UInt8] = []
    while let line = try reader.next() {
      bytes += line
      bytes.append(UInt8(ascii: "\n"))
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ToolError(.data, "\(reader.name) is not UTF-8; convert it to UTF-8")
    }
    return text
  }
}

/// The lines of a file, or of standard input.
struct InputLines {
  let name: String
  private var lines: LineReader<SystemError>

  static var standardInput: InputLines { InputLines(.standardInput, name: "standard input") }

  private init(_ file: OpenFile, name: String) {
    lines = LineReader(file)
    self.name = name
  }

  init(opening path: String) throws(ToolError) {
    do {
      self.init(try OpenFile(path, for: .reading), name: path)
    } catch {
      throw .unreadable(path, error)
    }
  }

  /// The next line without its line feed, or `nil` at the end.
  mutating func next() throws(ToolError) -> [UInt8]? {
    do {
      return try lines.next()
    } catch {
      throw .unreadable(name, error)
    }
  }
}
