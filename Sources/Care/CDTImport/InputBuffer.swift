import CDTDatastore
import CDTGzip
import CDTJSON
import CDTPlatform

/// A sliding window over a file's bytes. Consumed bytes are released, so memory depends on the largest document, not
/// on the file.
struct InputBuffer {
  /// The name of the input in messages.
  let name: String

  private let source: Source
  /// The buffer; the bytes from ``start`` to ``end`` are valid.
  private var bytes: [UInt8] = []
  private var start = 0
  private var end = 0
  private(set) var isAtEnd = false
  /// The byte that ends a line, for the count of lines.
  var lineEnd = UInt8(ascii: "\n")
  /// The line of ``start`` in the input.
  private(set) var line = 1
  /// The first byte of the buffer whose column is not counted yet, and its column.
  private var uncounted = (start: 0, column: 1)
  private var consumed: Int64 = 0
  /// The decompressor of the file, its input that was not read yet, and the number of input bytes that were read.
  private var gzip: GzipReader?
  private var compressed: ArraySlice<UInt8> = []
  private var decompressed: Int64 = 0

  /// The bytes that are read at once.
  static let chunk = 256 * 1024
  /// The most bytes that a value can have. By default it is more than any document that can be stored.
  var longestValue = 1 << 30
  /// The most bytes that a value without attachments can have.
  var longestPlainValue = 1 << 30
  /// Whether the file is only the beginning of one, so that its compressed text may end anywhere.
  var isBeginning = false

  private enum Source {
    case file(OpenFile)
    case pieces(ImportReader.Pieces)
  }

  /// Opens a file, or standard input for `-`.
  init(_ path: String) throws(DatastoreError) {
    if path == "-" {
      (name, source) = ("standard input", .file(.standardInput))
    } else {
      (name, source) = (path, .file(try FileSystem.perform("read", path, OpenFile(path, for: .reading))))
    }
  }

  /// Reads pieces, under a name for messages.
  init(_ name: String, _ pieces: @escaping ImportReader.Pieces) {
    (self.name, source) = (name, .pieces(pieces))
  }

  /// The number of bytes of the file that were consumed; of a compressed one, that were decompressed.
  var taken: Int64 { gzip == nil ? consumed : decompressed }

  /// Decompresses a file of gzip from here on, and skips a byte order mark.
  ///
  /// - Parameter maximumDecompressed: The most bytes of a file when it is decompressed.
  /// - Throws: ``ImportError`` if it is a file of another kind that is not text.
  mutating func begin(maximumDecompressed: Int64) throws {
    while available < FileKind.longestMark, try fill() {}
    if self[0] == 0x1F, self[1] == 0x8B {
      compressed = bytes[start..<end]
      (start, end, isAtEnd) = (0, 0, false)
      gzip = try Self.decompressing(name) { () throws(GzipError) in
        try GzipReader(limit: maximumDecompressed)
      }
      while available < FileKind.longestMark, try fill() {}
    }
    if let kind = withBytes(nil, { FileKind($0) }) {
      throw ImportError(file: name, line: 1, column: 0, message: kind.message)
    }
    // Some programs write a byte order mark at the start of UTF-8; it is not part of the text.
    guard self[0] == 0xEF, self[1] == 0xBB, self[2] == 0xBF else { return }
    start += 3
    uncounted.start = start
    consumed += 3
  }

  /// The column of ``start`` in its line, counted in characters when it is asked for: it is for messages.
  var column: Int {
    bytes.withUnsafeBytes { bytes in
      bytes[uncounted.start..<start].reduce(uncounted.column) { $0 &+ ($1 & 0xC0 == 0x80 ? 0 : 1) }
    }
  }

  /// The number of buffered bytes.
  var available: Int { end - start }

  /// The byte at an offset from the current position, or 0 beyond the buffered bytes.
  subscript(_ offset: Int) -> UInt8 {
    offset < available ? bytes[start + offset] : 0
  }

  /// Calls `body` with the buffered bytes, which are valid during the call.
  func withBytes<R>(_ count: Int? = nil, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    bytes.withUnsafeBytes { all in
      body(UnsafeRawBufferPointer(rebasing: all[start..<start + min(count ?? available, available)]))
    }
  }

  /// Reads more bytes, doubling what is buffered, so that searching for the end of a long value stays linear.
  ///
  /// - Returns: Whether there were more bytes.
  mutating func fill() throws(DatastoreError) -> Bool {
    guard !isAtEnd else { return false }
    let known = available
    let wanted = max(Self.chunk, min(known, longestValue - known))
    uncounted = (0, column)
    if bytes.count < known + wanted {
      bytes += [UInt8](repeating: 0, count: known + wanted - bytes.count)
    }
    bytes.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
    (start, end) = (0, known)
    let longest = known > longestPlainValue && !hasAttachments ? longestPlainValue : longestValue
    guard known <= longest else { throw DatastoreError(.valueTooLong(name, line: line, limit: longest)) }
    let got: Int
    if let gzip {
      got = try decompress(gzip)
    } else {
      switch source {
      case .file(let file):
        got = try FileSystem.perform("read", name, file.read(into: &bytes, at: known, upTo: wanted))
      case .pieces(let next):
        let piece = try next().get()
        bytes.replaceSubrange(end..<end + piece.count, with: piece)
        got = piece.count
      }
    }
    end += got
    isAtEnd = got == 0
    return got > 0
  }

  /// Whether the value that begins here names attachments before it is too long for one without them.
  private var hasAttachments: Bool {
    withBytes(longestPlainValue) { bytes in
      let name = Array("\"_attachments\"".utf8)
      var at = 0
      while let found = Bytes.firstIndex(of: name[0], in: bytes, from: at, to: bytes.count) {
        if bytes[found...].starts(with: name) { return true }
        at = found + 1
      }
      return false
    }
  }

  /// Decompresses the next bytes to the end of the buffer, which has room for a piece.
  private mutating func decompress(_ gzip: GzipReader) throws(DatastoreError) -> Int {
    while true {
      let piece = try Self.decompressing(name) { () throws(GzipError) in
        do throws(GzipError) {
          return try gzip.next(&compressed)
        } catch .tooLarge where isBeginning {
          return []
        }
      }
      if let piece {
        bytes.replaceSubrange(end..<end + piece.count, with: piece)
        return piece.count
      }
      let chunk =
        switch source {
        case .file(let file): try FileSystem.perform("read", name, file.read(upTo: Self.chunk))
        case .pieces(let next): try next().get()
        }
      decompressed += Int64(chunk.count)
      compressed = chunk[...]
      if chunk.isEmpty {
        if isBeginning { return 0 }
        try Self.decompressing(name) { () throws(GzipError) in try gzip.finish() }
        return 0
      }
    }
  }

  private static func decompressing<R>(_ name: String, _ body: () throws(GzipError) -> R)
    throws(DatastoreError) -> R
  {
    do {
      return try body()
    } catch {
      if case .tooLarge(let limit) = error { throw DatastoreError(.decompressedFile(name, limit: limit)) }
      throw DatastoreError(.compressedFile(name, error == .truncated))
    }
  }

  /// Reads more; of a long value, until twice as much is buffered, or up to the end. A pipe gives little at a time: what
  /// searches a long value from its beginning takes linear time with this.
  ///
  /// - Returns: Whether there were more bytes.
  mutating func fillMore() throws(DatastoreError) -> Bool {
    let known = available
    guard known >= Self.chunk else { return try fill() }
    while available < 2 * known, try fill() {}
    return available > known
  }

  /// Consumes bytes and counts their lines.
  mutating func take(_ count: Int) {
    let end = start + min(count, available)
    bytes.withUnsafeBytes { bytes in
      var lineStart = start
      while let found = Bytes.firstIndex(of: lineEnd, in: bytes, from: lineStart, to: end) {
        line += 1
        lineStart = found + 1
        uncounted = (lineStart, 1)
      }
    }
    consumed += Int64(end - start)
    start = end
  }

  /// Consumes a line whose length was returned by ``lineLength()``.
  mutating func takeLine(_ length: Int) {
    guard length < available else { return take(length) }
    start += length + 1
    consumed += Int64(length + 1)
    line += 1
    uncounted = (start, 1)
  }

  /// Consumes white space and returns the next byte, or `nil` at the end.
  mutating func nextByte() throws(DatastoreError) -> UInt8? {
    while true {
      let space = withBytes { JSONBytes($0).skipSpace(0) }
      take(space)
      if available > 0 { return self[0] }
      guard try fill() else { return nil }
    }
  }

  /// The number of bytes up to the next line feed, or another end of lines, or the end; `nil` at the end.
  mutating func lineLength(endingWith end: UInt8 = UInt8(ascii: "\n")) throws(DatastoreError) -> Int? {
    var looked = 0
    while true {
      let length = withBytes { Bytes.firstIndex(of: end, in: $0, from: looked, to: $0.count) }
      if let length { return length }
      looked = available
      guard try fill() else { return available > 0 ? available : nil }
    }
  }
}
