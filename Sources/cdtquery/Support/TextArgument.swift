@preconcurrency import Glibc

/// A text on the command line: itself, `@FILE` for a file's content, `-` for standard input.
enum TextArgument {
  static func read(_ argument: String) throws -> String {
    if argument == "-" { return try contents(STDIN_FILENO, name: "standard input") }
    guard argument.hasPrefix("@") else { return argument }
    let path = String(argument.dropFirst())
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw ToolError(.io, "can't read \(path): \(String(cString: strerror(errno))); check the path")
    }
    defer { close(descriptor) }
    return try contents(descriptor, name: path)
  }

  private static func contents(_ descriptor: Int32, name: String) throws -> String {
    var reader = LineReader(descriptor: descriptor, name: name)
    var lines: [String] = []
    while let line = try reader.next() { lines.append(line) }
    return lines.joined(separator: "\n")
  }
}

/// Reads lines, whatever their length.
struct LineReader {
  private let descriptor: Int32
  private let name: String
  private var bytes: [UInt8] = []
  private var isAtEnd = false

  init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
  }

  /// The next line without its feed, or `nil` at the end.
  mutating func next() throws -> String? {
    var looked = 0
    while true {
      if let feed = bytes[looked...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { bytes.removeSubrange(...feed) }
        return String(decoding: bytes[..<feed], as: UTF8.self)
      }
      looked = bytes.count
      if isAtEnd {
        defer { bytes = [] }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
      }
      try fill()
    }
  }

  private mutating func fill() throws {
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else {
      if errno == EINTR { return }
      throw ToolError(.io, "can't read \(name): \(String(cString: strerror(errno)))")
    }
    isAtEnd = count == 0
    bytes += chunk[..<count]
  }
}
