import CDTGzip
import CDTPlatform

/// Reads a multipart body that arrives in chunks, in constant memory and linear time.
///
/// ```swift
/// var reader = MultipartReader<ByteBufferView>(boundary: boundary, maximumParts: 100)
/// for try await buffer in body {
///   var chunk = buffer.readableBytesView
///   while let event = try reader.next(&chunk) {
///     switch event {
///     case .part(let head): …
///     case .bytes(let bytes): try await file.write(bytes)
///     case .endOfPart: …
///     case .end: …
///     }
///   }
/// }
/// try reader.finish()
/// ```
///
/// The bytes of a part are slices of the chunks and are not copied. What stands before the first boundary and after the
/// last one is skipped. A part that is a multipart body itself is read with a reader of its own.
///
/// Lines of the structure must end with CRLF. A line of a part that begins with `--` and the boundary is a boundary,
/// whatever follows it (RFC 2046, 5.1.1).
package struct MultipartReader<Chunk: RandomAccessCollection<UInt8> & Sendable>: Sendable
where Chunk.SubSequence == Chunk {
  package enum Event: Sendable {
    /// A part begins.
    case part(MultipartHead)
    /// The next bytes of the part, not empty.
    case bytes(Chunk)
    /// The part is complete.
    case endOfPart
    /// The last boundary was read. `next` returns no more events.
    case end
  }

  private enum State {
    /// Before the first boundary.
    case preamble
    /// Inside the content of a part.
    case content
    /// After a boundary, after a `-` behind it, in the spaces behind it, and after the CR of its line.
    case boundary, dash, padding, newline
    /// Inside the head of a part.
    case head
    /// After the last boundary.
    case epilogue
  }

  private let delimiter: MultipartDelimiter
  private let maximumParts: Int
  private var state = State.preamble
  private var failure: CouchError?
  private var partCount = 0
  private var head: [UInt8] = []
  /// The number of bytes of the delimiter that end the input so far. The start of the body counts as a CRLF, and so does
  /// the empty line after a head.
  private var matched = 2
  /// The slices with those bytes. When they turn out not to be a delimiter, `matched` is 0 and they are content.
  private var held: [Chunk] = []

  package init(boundary: MultipartBoundary, maximumParts: Int) {
    delimiter = MultipartDelimiter(boundary)
    self.maximumParts = maximumParts
  }

  /// Reads up to the next event, and removes what was read from the chunk.
  ///
  /// - Returns: `nil` when the chunk is empty; continue with the next one.
  /// - Throws: ``CouchError``: status 400 if the body is malformed or a head has more than 16 KiB, 413 if there are too
  ///   many parts. Every later call throws it again.
  package mutating func next(_ chunk: inout Chunk) throws(CouchError) -> Event? {
    if let failure { throw failure }
    do throws(CouchError) {
      return try read(&chunk)
    } catch {
      failure = error
      throw error
    }
  }

  /// Ends the body.
  ///
  /// - Throws: ``CouchError`` with status 400 if the last boundary is missing, or the error that `next` threw.
  package func finish() throws(CouchError) {
    if let failure { throw failure }
    guard state == .epilogue else { throw .truncatedMultipart }
  }

  private mutating func read(_ chunk: inout Chunk) throws(CouchError) -> Event? {
    if matched == 0, !held.isEmpty { return .bytes(held.removeFirst()) }
    while !chunk.isEmpty {
      switch state {
      case .preamble, .content:
        if let event = readContent(&chunk) { return event }
      case .boundary, .dash, .padding, .newline:
        if let event = try readBoundaryLine(&chunk) { return event }
      case .head:
        if let event = try readHead(&chunk) { return event }
      case .epilogue:
        chunk = chunk.dropFirst(chunk.count)
      }
    }
    return nil
  }

  /// Reads content, or a piece of a delimiter.
  private mutating func readContent(_ chunk: inout Chunk) -> Event? {
    let isContent = state == .content
    if matched == 0 {
      let length = chunk.withBytes(delimiter.dataLength)
      if length > 0 {
        let data = chunk.pop(length)
        return isContent ? .bytes(data) : nil
      }
    }
    let length = chunk.withBytes { delimiter.matchLength(of: $0, from: matched) }
    if matched + length == delimiter.bytes.count {
      _ = chunk.pop(length)
      held = []
      matched = 0
      state = .boundary
      return isContent ? .endOfPart : nil
    }
    if length == chunk.count {
      let piece = chunk.pop(length)
      if isContent { held.append(piece) }
      matched += length
      return nil
    }
    matched = 0
    return held.isEmpty ? nil : .bytes(held.removeFirst())
  }

  /// Reads what follows a delimiter on its line: spaces, or `--` after the last part.
  private mutating func readBoundaryLine(_ chunk: inout Chunk) throws(CouchError) -> Event? {
    switch (state, chunk.popFirst()) {
    case (.boundary, UInt8(ascii: "-")): state = .dash
    case (.dash, UInt8(ascii: "-")):
      state = .epilogue
      return .end
    case (.boundary, UInt8(ascii: " ")), (.boundary, UInt8(ascii: "\t")), (.padding, UInt8(ascii: " ")),
      (.padding, UInt8(ascii: "\t")):
      state = .padding
    case (.boundary, UInt8(ascii: "\r")), (.padding, UInt8(ascii: "\r")): state = .newline
    case (.newline, UInt8(ascii: "\n")):
      guard partCount < maximumParts else { throw .tooManyParts(limit: maximumParts) }
      partCount += 1
      state = .head
    default: throw .malformedMultipart
    }
    return nil
  }

  /// Reads a line of a head, or a piece of it.
  private mutating func readHead(_ chunk: inout Chunk) throws(CouchError) -> Event? {
    let newline = chunk.withBytes { Bytes.firstIndex(of: UInt8(ascii: "\n"), in: $0, from: 0, to: $0.count) }
    let line = chunk.pop(newline.map { $0 + 1 } ?? chunk.count)
    guard line.count <= MultipartHead.maximumSize - head.count else {
      throw .partHeadTooLarge(limit: MultipartHead.maximumSize)
    }
    head += line
    guard newline != nil else { return nil }
    guard head.hasSuffix("\r\n") else { throw .malformedPartHead }
    guard head.count == 2 || head.hasSuffix("\r\n\r\n") else { return nil }
    let parsed = try MultipartHead(parsing: head)
    head = []
    matched = 2
    state = .content
    return .part(parsed)
  }
}

extension [UInt8] {
  fileprivate func hasSuffix(_ text: String) -> Bool {
    suffix(text.utf8.count).elementsEqual(text.utf8)
  }
}

/// The delimiter of a multipart body, `\r\n--boundary`, searched for in bytes that arrive in chunks.
///
/// Only its first byte is a CR. So after a mismatch no later byte of the match can begin a delimiter, and a search looks
/// at each byte twice at most.
struct MultipartDelimiter {
  let bytes: [UInt8]

  init(_ boundary: MultipartBoundary) {
    bytes = Array("\r\n--\(boundary.text)".utf8)
  }

  /// The number of bytes before the first place that is a delimiter, or the beginning of one that the buffer cuts off.
  func dataLength(in buffer: UnsafeRawBufferPointer) -> Int {
    var start = 0
    while let candidate = Bytes.firstIndex(of: UInt8(ascii: "\r"), in: buffer, from: start, to: buffer.count)
    {
      let length = matchLength(of: UnsafeRawBufferPointer(rebasing: buffer[candidate...]), from: 0)
      if length == bytes.count || candidate + length == buffer.count { return candidate }
      start = candidate + length
    }
    return buffer.count
  }

  /// The number of bytes at the start of a buffer that continue a delimiter.
  ///
  /// - Parameter matched: The number of bytes of the delimiter before the buffer.
  func matchLength(of buffer: UnsafeRawBufferPointer, from matched: Int) -> Int {
    let limit = min(buffer.count, bytes.count - matched)
    var length = 0
    while length < limit, buffer[length] == bytes[matched + length] { length += 1 }
    return length
  }
}
