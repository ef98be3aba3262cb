import CDTDatastore
import CDTPlatform

/// Reads a file line by line. Memory depends on the longest line.
struct LineReader {
  private let path: String
  private let file: OpenFile
  private var bytes: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  private static let chunk = 256 * 1024

  init(_ path: String) throws(DatastoreError) {
    guard let file = try FileSystem.perform("read", path, OpenFile.regular(path)) else {
      throw .notARegularFile(path)
    }
    (self.path, self.file) = (path, file)
  }

  /// The next line without its end; `nil` at the end. A last line without an end is none.
  mutating func next() throws(DatastoreError) -> ArraySlice<UInt8>? {
    var searched = start
    while true {
      if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return bytes[start..<end]
      }
      guard !isAtEnd else { return nil }
      bytes.removeFirst(start)
      (searched, start) = (bytes.count, 0)
      let read = try FileSystem.perform("read", path, file.read(upTo: Self.chunk))
      isAtEnd = read.isEmpty
      bytes += read
    }
  }
}
