import CDTTestSupport
import CouchDB
import Testing

@Suite struct MultipartFuzzTests {
  /// Bytes that are often structure.
  private static let alphabet = Array("\r\n\r\n--bbA: x\t".utf8)

  private func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in Self.alphabet.randomElement(using: &random) ?? 0 }
  }

  private func pieces(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [ArraySlice<UInt8>] {
    var rest = bytes[...]
    var pieces: [ArraySlice<UInt8>] = []
    while !rest.isEmpty {
      let count = min(Int.random(in: 0...12, using: &random), rest.count)
      pieces.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    return pieces
  }

  @Test func `written parts are read in any chunks`() throws {
    let seed = testSeed(17)
    var random = SeededGenerator(seed: seed)
    for round in 0..<300 {
      let boundary = MultipartBoundary.random(using: &random)
      let delimiter = Array("\r\n--\(boundary.text)".utf8)
      var writer = MultipartWriter(boundary: boundary)
      var parts: [ReadPart] = []
      var body: [UInt8] = []
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        let name = String(decoding: bytes(5, &random), as: UTF8.self).filter { $0.asciiValue ?? 0 >= 0x20 }
        var content = bytes(Int.random(in: 0...200, using: &random), &random)
        if Bool.random(using: &random) { content += delimiter.dropLast() + Array("x".utf8) + content }
        parts.append(
          ReadPart(
            head: .attachment(named: name, contentType: "a/b", length: Int64(content.count)), bytes: content,
            isComplete: true))
        body += writer.begin(parts[parts.count - 1].head) + content
      }
      body += writer.end()
      let lengths = parts.map { (head: $0.head, length: Int64($0.bytes.count)) }
      #expect(writer.contentLength(of: lengths) == Int64(body.count), "seed \(seed), round \(round)")
      let read = try ReadPart.read(pieces(body, &random), boundary: boundary.text)
      #expect(read == parts, "seed \(seed), round \(round)")
    }
  }

  @Test func `random bytes are read like a plain second reader reads them, in any chunks`() {
    let seed = testSeed(18)
    var random = SeededGenerator(seed: seed)
    var accepted = 0
    for round in 0..<20_000 {
      var body: [UInt8] = []
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        body += bytes(Int.random(in: 0...8, using: &random), &random)
        if Int.random(in: 0..<3, using: &random) > 0 { body += Array("\r\n--bb\r\n\r\n".utf8) }
      }
      if Bool.random(using: &random) { body += Array("\r\n--bb--".utf8) }
      let expected = PlainReader.read(body, boundary: "bb")
      let whole = try? ReadPart.read([body[...]], boundary: "bb")
      let chunked = try? ReadPart.read(pieces(body, &random), boundary: "bb")
      #expect(whole == expected, "seed \(seed), round \(round): \(body)")
      #expect(chunked == expected, "seed \(seed), round \(round): \(body)")
      if let expected, !expected.isEmpty { accepted += 1 }
    }
    #expect(accepted > 1_000)
  }
}

/// Reads a whole body at once, as plainly as possible.
private enum PlainReader {
  static func read(_ body: [UInt8], boundary: String) -> [ReadPart]? {
    let delimiter = Array("\r\n--\(boundary)".utf8)
    let text = [0x0D, 0x0A] + body
    guard var position = text.index(of: delimiter, from: 0).map({ $0 + delimiter.count }) else { return nil }
    var parts: [ReadPart] = []
    while !text[position...].starts(with: "--".utf8) {
      while position < text.count, text[position] == 0x20 || text[position] == 0x09 { position += 1 }
      guard text[position...].starts(with: "\r\n".utf8) else { return nil }
      let start = position + 2
      let isHeadless = text[start...].starts(with: "\r\n".utf8)
      guard
        let headEnd = isHeadless
          ? start + 2 : text.index(of: Array("\r\n\r\n".utf8), from: start).map({ $0 + 4 }),
        let head = try? MultipartHead(parsing: Array(text[start..<headEnd])),
        let end = text.index(of: delimiter, from: headEnd - 2)
      else { return nil }
      let bytes = end < headEnd ? [] : Array(text[headEnd..<end])
      parts.append(ReadPart(head: head, bytes: bytes, isComplete: true))
      position = end + delimiter.count
    }
    return parts
  }
}

extension [UInt8] {
  fileprivate func index(of pattern: [UInt8], from start: Int) -> Int? {
    guard start <= count - pattern.count else { return nil }
    return (start...(count - pattern.count)).first { self[$0...].starts(with: pattern) }
  }
}
