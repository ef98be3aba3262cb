@preconcurrency import Glibc

/// A text on the command line: itself, `@FILE` for a file's content, `-` for standard input.
enum TextArgument {
  static func read(_ argument: String) throws -> String {
    if argument == "-" { return try contents(STDIN_FILENO, name: "standard input") }
    guard argument.hasPrefix("@") else { return argument }
    let path = String(argument.dropFirst())
    let descriptor = try InputFile.open(path)
    defer { close(descriptor) }
    return try contents(descriptor, name: path)
  }

  private static func contents(_ descriptor: Int32, name: String) throws -> String {
    var reader = LineReader(descriptor: descriptor, name: name)
    var bytes: [UInt8] = []
    while let line = try reader.next() {
      bytes += line
      bytes.append(UInt8(ascii: "\n"))
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ToolError(.data, "\(name) is not UTF-8; convert it to UTF-8")
    }
    return text
  }
}

/// A file that is read from.
enum InputFile {
  static func open(_ path: String) throws(ToolError) -> Int32 {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw ToolError(.io, "can't read \(path): \(String(cString: strerror(errno))); check the path")
    }
    return descriptor
  }
}

/// Reads lines, whatever their length.
struct LineReader {
  private let descriptor: Int32
  private let name: String
  private var bytes: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
  }

  /// The next line without its feed, or `nil` at the end.
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

  private mutating func fill() throws {
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else {
      if errno == EINTR { return }
      throw ToolError(.io, "can't read \(name): \(String(cString: strerror(errno))); check the path")
    }
    isAtEnd = count == 0
    bytes += chunk[..<count]
  }
}
