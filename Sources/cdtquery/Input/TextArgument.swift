import CDTPlatform

/// A text argument: the text itself, `@FILE` for a file's content, `-` for standard input.
enum TextArgument {
  static func read(_ argument: String) throws -> String {
    if argument == "-" { return try contents(of: .standardInput) }
    guard argument.hasPrefix("@") else { return argument }
    return try contents(of: LineReader(opening: String(argument.dropFirst())))
  }

  /// The rest of the lines, with line feeds.
  static func contents(of reader: consuming LineReader) throws -> String {
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

/// Reads lines of any length.
struct LineReader {
  let name: String
  private let file: OpenFile
  private var bytes: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  static var standardInput: LineReader { LineReader(.standardInput, name: "standard input") }

  private init(_ file: OpenFile, name: String) {
    self.file = file
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
  mutating func next() throws -> [UInt8]? {
    var looked = start
    while true {
      if let feed = bytes[looked...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = feed + 1 }
        return Array(bytes[start..<feed])
      }
      if isAtEnd {
        defer { start = bytes.count }
        return start < bytes.count ? Array(bytes[start...]) : nil
      }
      bytes.removeSubrange(..<start)
      start = 0
      looked = bytes.count
      try fill()
    }
  }

  private mutating func fill() throws(ToolError) {
    do {
      let chunk = try file.read(upTo: 64 * 1024)
      isAtEnd = chunk.isEmpty
      bytes += chunk
    } catch {
      throw .unreadable(name, error)
    }
  }
}
