import CouchDB

/// A part of a multipart body, read whole.
struct ReadPart: Hashable {
  var head: MultipartHead
  var bytes: [UInt8] = []
  var isComplete = false

  /// Reads a body that arrives in chunks.
  static func read(
    _ chunks: some Sequence<ArraySlice<UInt8>>, boundary: String = "abc", maximumParts: Int = 100
  ) throws(CouchError) -> [ReadPart] {
    guard let boundary = MultipartBoundary(boundary) else {
      throw .badRequest("\(boundary) is not a boundary")
    }
    var reader = MultipartReader<ArraySlice<UInt8>>(boundary: boundary, maximumParts: maximumParts)
    var parts: [ReadPart] = []
    var isAtEnd = false
    for var chunk in chunks {
      while let event = try reader.next(&chunk) {
        guard !isAtEnd else { throw .badRequest("an event after the end") }
        switch event {
        case .part(let head): parts.append(ReadPart(head: head))
        case .bytes(let bytes):
          guard !bytes.isEmpty, !parts.isEmpty, !parts[parts.count - 1].isComplete else {
            throw .badRequest("bytes outside of a part")
          }
          parts[parts.count - 1].bytes += bytes
        case .endOfPart: parts[parts.count - 1].isComplete = true
        case .end: isAtEnd = true
        }
      }
      guard chunk.isEmpty else { throw .badRequest("a chunk is left over") }
    }
    try reader.finish()
    guard isAtEnd, parts.allSatisfy(\.isComplete) else { throw .badRequest("an event is missing") }
    return parts
  }

  /// Reads a body that arrives whole.
  static func read(_ text: String, boundary: String = "abc", maximumParts: Int = 100) throws(CouchError)
    -> [ReadPart]
  {
    try read([Array(text.utf8)[...]], boundary: boundary, maximumParts: maximumParts)
  }
}
