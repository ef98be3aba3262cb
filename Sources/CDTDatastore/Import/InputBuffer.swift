import CDTPlatform
import JSON

/// Bytes of a file as they are needed: what has been taken is let go, so memory follows the largest document, not the
/// file.
struct InputBuffer {
  /// What messages call the input.
  let name: String

  private let file: OpenFile
  /// Room for bytes; from ``start`` up to ``end`` some are in it.
  private var bytes: [UInt8] = []
  private var start = 0
  private var end = 0
  private(set) var isAtEnd = false
  /// Where ``start`` lies in the input.
  private(set) var line = 1
  private(set) var column = 1
  private(set) var taken: Int64 = 0

  private static let chunk = 256 * 1024

  /// Opens a file, or takes standard input for `-`.
  init(_ path: String) throws(DatastoreError) {
    if path == "-" {
      (name, file) = ("standard input", .standardInput)
    } else {
      (name, file) = (path, try FileSystem.perform("read", path, OpenFile(path, for: .reading)))
    }
  }

  /// How many bytes are here to be looked at.
  var available: Int { end - start }

  /// The byte at an offset from where the input stands, or 0 beyond what is here.
  subscript(_ offset: Int) -> UInt8 {
    offset < available ? bytes[start + offset] : 0
  }

  /// Calls `body` with the bytes that are here; they are valid within the call.
  func withBytes<R>(_ count: Int? = nil, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    bytes.withUnsafeBytes { all in
      body(UnsafeRawBufferPointer(rebasing: all[start..<start + min(count ?? available, available)]))
    }
  }

  /// Reads on, as much again as is here, so that looking for the end of something long stays linear.
  ///
  /// - Returns: Whether there was more.
  mutating func fill() throws(DatastoreError) -> Bool {
    guard !isAtEnd else { return false }
    let known = available
    let wanted = max(Self.chunk, known)
    if bytes.count < known + wanted {
      bytes.append(contentsOf: repeatElement(0, count: known + wanted - bytes.count))
    }
    bytes.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
    (start, end) = (0, known)
    let got = try FileSystem.perform("read", name, file.read(into: &bytes, at: known, upTo: wanted))
    end += got
    isAtEnd = got == 0
    return got > 0
  }

  /// Lets bytes go, counting the lines in them.
  mutating func take(_ count: Int) {
    let end = start + min(count, available)
    for byte in bytes[start..<end] {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    taken += Int64(end - start)
    start = end
  }

  /// Lets a line go whose length was found by ``lineLength()``.
  mutating func takeLine(_ length: Int) {
    guard length < available else { return take(length) }
    start += length + 1
    taken += Int64(length + 1)
    line += 1
    column = 1
  }

  /// Passes over the mark that some programs put at the beginning of UTF-8; it is no part of the text.
  mutating func skipByteOrderMark() throws(DatastoreError) {
    while available < 3, try fill() {}
    guard self[0] == 0xEF, self[1] == 0xBB, self[2] == 0xBF else { return }
    start += 3
    taken += 3
  }

  /// Lets white space go and gives the byte after it, or `nil` at the end.
  mutating func nextByte() throws(DatastoreError) -> UInt8? {
    while true {
      let space = withBytes { JSONBytes($0).skipSpace(0) }
      take(space)
      if available > 0 { return self[0] }
      guard try fill() else { return nil }
    }
  }

  /// How many bytes there are up to the next line feed, or to the end; `nil` when nothing is left.
  mutating func lineLength() throws(DatastoreError) -> Int? {
    var looked = 0
    while true {
      if let feed = lineFeed(from: looked) { return feed }
      looked = available
      guard try fill() else { return available > 0 ? available : nil }
    }
  }

  /// The offset of the first line feed from an offset on, among the bytes that are here.
  private func lineFeed(from start: Int) -> Int? {
    withBytes { Bytes.firstIndex(of: UInt8(ascii: "\n"), in: $0, from: start, to: $0.count) }
  }
}
