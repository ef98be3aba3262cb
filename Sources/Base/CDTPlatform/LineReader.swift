/// Reads lines. Memory depends on the longest one.
package struct LineReader<Failure: Error> {
  private let read: () throws(Failure) -> [UInt8]
  private let longest: Int
  private var bytes: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  /// Whether the line that was returned last ends with a line feed; only the last one of a file may not.
  package private(set) var isTerminated = true
  /// Whether the line that was returned last was too long. It is then empty.
  package private(set) var isTooLong = false

  /// - Parameters:
  ///   - longest: The length of lines in bytes from which on they may be too long.
  ///   - read: The next bytes; empty at the end.
  package init(longest: Int = .max, _ read: @escaping () throws(Failure) -> [UInt8]) {
    (self.longest, self.read) = (longest, read)
  }

  /// The next line without its line feed; `nil` at the end.
  package mutating func next() throws(Failure) -> [UInt8]? {
    var looked = start
    isTooLong = false
    while true {
      if let feed = bytes[looked...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = feed + 1 }
        return isTooLong ? [] : Array(bytes[start..<feed])
      }
      if isAtEnd {
        defer { start = bytes.count }
        isTerminated = start == bytes.count && !isTooLong
        return isTerminated ? nil : isTooLong ? [] : Array(bytes[start...])
      }
      bytes.removeSubrange(..<start)
      start = 0
      if bytes.count > longest { isTooLong = true }
      if isTooLong { bytes = [] }
      looked = bytes.count
      let chunk = try read()
      isAtEnd = chunk.isEmpty
      bytes += chunk
    }
  }
}

extension LineReader where Failure == SystemError {
  package init(_ file: OpenFile, longest: Int = .max) {
    self.init(longest: longest) { () throws(SystemError) in try file.read(upTo: 64 * 1024) }
  }
}
