/// Documents as JSON Lines in one piece of memory.
struct JSONLines {
  private(set) var text: [UInt8] = []
  private var ends: [Int] = []

  var count: Int { ends.count }

  mutating func append(_ document: BenchDocument) {
    text.append(contentsOf: document.json.utf8)
    ends.append(text.count)
    text.append(UInt8(ascii: "\n"))
  }

  /// Calls `body` with one line's bytes, the line feed left out.
  func withLine<R>(_ position: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    let start = position == 0 ? 0 : ends[position - 1] + 1
    return try text.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start..<ends[position]])) }
  }
}

/// The bytes of the id in a document's text, which begins `{"_id":"`.
func idBytes(of document: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
  let start = min(8, document.count)
  let end = document[start...].firstIndex(of: UInt8(ascii: "\"")) ?? document.count
  return UnsafeRawBufferPointer(rebasing: document[start..<end])
}
