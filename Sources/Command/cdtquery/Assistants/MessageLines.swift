import CDTPlatform

/// Lines of standard input, which are of a limited length.
struct MessageLines {
  /// The length of the longest line, in bytes.
  static let longest = 16 * 1024 * 1024

  private let file: OpenFile
  private var bytes: [UInt8] = []

  init(_ file: OpenFile) { self.file = file }

  enum Line {
    case message([UInt8])
    /// A line that was too long, and is skipped.
    case tooLong
  }

  /// The next line that is not empty; `nil` at the end.
  mutating func next() throws(SystemError) -> Line? {
    var (looked, isTooLong, isAtEnd) = (0, false, false)
    while true {
      if let feed = bytes[looked...].firstIndex(of: UInt8(ascii: "\n")) ?? (isAtEnd ? bytes.count : nil) {
        let line = Array(bytes[..<feed])
        bytes.removeSubrange(..<min(feed + 1, bytes.count))
        if isTooLong { return .tooLong }
        if line.contains(where: { $0 > UInt8(ascii: " ") }) { return .message(line) }
        if isAtEnd { return nil }
        looked = 0
        continue
      }
      if bytes.count > Self.longest {
        isTooLong = true
        bytes = []
      }
      looked = bytes.count
      let chunk = try file.read(upTo: 64 * 1024)
      isAtEnd = chunk.isEmpty
      bytes += chunk
    }
  }
}
