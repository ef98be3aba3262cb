/// Takes a reply apart: its status, and its content without the sizes of chunks.
struct HTTPReader {
  private(set) var status: Int?

  private enum State {
    case head
    /// The line of a chunk's size.
    case size
    /// So many bytes of the content are left, and in chunks the line end behind them.
    case content(left: Int)
    case complete
  }

  private var state = State.head
  private var isChunked = false
  /// The head, or the line of a size, as far as it has come.
  private var line: [UInt8] = []

  /// Whether everything has come.
  var isComplete: Bool {
    if case .complete = state { return true }
    return false
  }

  /// Takes the next bytes of a connection, and gives the content among them to `body`.
  mutating func take(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch state {
      case .complete: return
      case .content(let left):
        let part = rest.prefix(left)
        rest = rest.dropFirst(part.count)
        try body(UnsafeRawBufferPointer(rebasing: part))
        state = left > part.count ? .content(left: left - part.count) : isChunked ? .size : .complete
      case .head, .size:
        line.append(rest.removeFirst())
        try takeLine()
      }
    }
  }

  private mutating func takeLine() throws {
    if case .head = state {
      guard line.suffix(4) == Array("\r\n\r\n".utf8) else { return }
      try takeHead(String(decoding: line, as: UTF8.self))
    } else {
      // The end of the last chunk stands before the size of the next.
      guard line.suffix(2) == Array("\r\n".utf8), line.count > 2 else { return }
      let digits = String(decoding: line.drop { $0 == 13 || $0 == 10 }.prefix { $0 != 13 }, as: UTF8.self)
      guard let size = Int(digits, radix: 16) else { throw BenchError("no size of a chunk: \(digits)") }
      state = size == 0 ? .complete : .content(left: size)
    }
    line = []
  }

  private mutating func takeHead(_ head: String) throws {
    let lines = head.split(separator: "\r\n")
    guard let words = lines.first?.split(separator: " "), words.count > 1, let status = Int(words[1]) else {
      throw BenchError("no head of a reply: \(head)")
    }
    self.status = status
    var length: Int?
    for line in lines.dropFirst() {
      let line = line.lowercased()
      if line.hasPrefix("content-length:") { length = Int(line.dropFirst(15).drop { $0 == " " }) }
      if line.hasPrefix("transfer-encoding:"), line.hasSuffix("chunked") { isChunked = true }
    }
    if isChunked {
      state = .size
    } else if let length, length > 0 {
      state = .content(left: length)
    } else {
      state = .complete
    }
  }
}
