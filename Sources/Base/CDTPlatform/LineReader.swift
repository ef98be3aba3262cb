/// Reads lines of any length. Memory depends on the longest one.
package struct LineReader<Failure: Error> {
  private let read: () throws(Failure) -> [UInt8]
  private var bytes: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  /// Whether the line that was returned last ends with a line feed; only the last one of a file may not.
  package private(set) var isTerminated = true

  /// - Parameter read: The next bytes; empty at the end.
  package init(_ read: @escaping () throws(Failure) -> [UInt8]) {
    self.read = read
  }

  /// The next line without its line feed; `nil` at the end.
  package mutating func next() throws(Failure) -> [UInt8]? {
    var looked = start
    while true {
      if let feed = bytes[looked...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = feed + 1 }
        return Array(bytes[start..<feed])
      }
      if isAtEnd {
        defer { start = bytes.count }
        isTerminated = start == bytes.count
        return isTerminated ? nil : Array(bytes[start...])
      }
      bytes.removeSubrange(..<start)
      start = 0
      looked = bytes.count
      let chunk = try read()
      isAtEnd = chunk.isEmpty
      bytes += chunk
    }
  }
}

extension LineReader where Failure == SystemError {
  package init(_ file: OpenFile) {
    self.init { () throws(SystemError) in try file.read(upTo: 64 * 1024) }
  }
}
