import CDTTestSupport
import CouchDB
import Testing

/// Multipart bodies that are refused, whole and byte by byte.
@Suite struct MultipartRefusalTests {
  private func error(_ body: String, maximumParts: Int = 3) -> [CouchError?] {
    let bytes = Array(body.utf8)
    return [bytes.chunks(of: max(1, bytes.count)), bytes.chunks(of: 1)].map { chunks in
      do throws(CouchError) {
        _ = try ReadPart.read(chunks, maximumParts: maximumParts)
        return nil
      } catch {
        return error
      }
    }
  }

  @Test(arguments: [
    "", "x", "\r\n", "--ab", "--abc", "--abc\r", "--abc\r\n", "--abc\r\nA: b", "--abc\r\nA: b\r\n",
    "--abc\r\n\r\n", "--abc\r\n\r\nx", "--abc\r\n\r\nx\r\n--ab", "--abc\r\n\r\nx\r\n--abc",
    "--abc\r\n\r\nx\r\n--abc-", "--abc\r\n\r\nx\r\n--abc   ", "--abc\r\n\r\nx\n--abc--", "x--abc--",
  ]) func `a body that ends early`(body: String) {
    #expect(error(body) == [.truncatedMultipart, .truncatedMultipart])
  }

  @Test(arguments: [
    "--abcd\r\n\r\nx\r\n--abc--", "--abc\n\nx", "--abc \n", "--abc\rx", "--abc-x", "--abc -", "--abc \t-",
    "--abc\r\n\r\nx\r\n--abcd--", "--abc\r\n\r\nx\r\n--abc\u{0}", "--abc\r\n\r\nx\r\n--abc\u{B}\r\n",
  ]) func `other text after a boundary`(body: String) {
    #expect(error(body) == [.malformedMultipart, .malformedMultipart])
  }

  @Test(arguments: [
    "A b\r\n", ": b\r\n", "A : b\r\n", " A: b\r\n", "A: b\n", "A: b\rc\r\n", "A: b\u{0}\r\n",
    "A: b\u{7F}\r\n",
    "Ä: b\r\n", "A: b\r\nC\r\n", "A: b\r\n\rC: d\r\n", "--abc\r\n", "(A): b\r\n", "A\u{0}: b\r\n",
  ]) func `a malformed head`(lines: String) {
    #expect(error("--abc\r\n\(lines)\r\nx\r\n--abc--") == [.malformedPartHead, .malformedPartHead])
  }

  @Test func `a head that is not UTF-8`() {
    let body = Array("--abc\r\nA: ".utf8) + [0xFF] + Array("\r\n\r\nx\r\n--abc--".utf8)
    #expect(throws: CouchError.malformedPartHead) { try ReadPart.read([body[...]]) }
  }

  @Test func `a head of 16 KiB is read, one byte more is refused`() throws {
    let frame = "A: \r\n\r\n".utf8.count
    let value = String(repeating: "x", count: 16 * 1024 - frame)
    #expect(try ReadPart.read("--abc\r\nA: \(value)\r\n\r\n\r\n--abc--").first?.head["a"] == value)
    #expect(
      error("--abc\r\nA: \(value)x\r\n\r\n\r\n--abc--")
        == Array(repeating: .partHeadTooLarge(limit: 16 * 1024), count: 2))
    let lines = String(repeating: "A: b\r\n", count: 16 * 1024 / 6 + 1)
    #expect(error("--abc\r\n\(lines)") == Array(repeating: .partHeadTooLarge(limit: 16 * 1024), count: 2))
    let endless = String(repeating: "x", count: 20_000)
    #expect(error("--abc\r\n\(endless)") == Array(repeating: .partHeadTooLarge(limit: 16 * 1024), count: 2))
  }

  @Test func `more parts than allowed`() throws {
    let part = "--abc\r\n\r\nx\r\n"
    let three = String(repeating: part, count: 3)
    #expect(try ReadPart.read(three + "--abc--", maximumParts: 3).count == 3)
    #expect(error(three + part + "--abc--") == Array(repeating: .tooManyParts(limit: 3), count: 2))
    #expect(error(part + "--abc--", maximumParts: 0) == Array(repeating: .tooManyParts(limit: 0), count: 2))
  }

  @Test func `after an error every call throws it`() throws {
    var reader = MultipartReader<ArraySlice<UInt8>>(
      boundary: try #require(MultipartBoundary("abc")), maximumParts: 1)
    var bad = Array("--abcx".utf8)[...]
    #expect(throws: CouchError.malformedMultipart) { try reader.next(&bad) }
    var good = Array("--abc--".utf8)[...]
    #expect(throws: CouchError.malformedMultipart) { try reader.next(&good) }
    #expect(throws: CouchError.malformedMultipart) { try reader.finish() }
  }

  /// Each line looks like a boundary up to its last character.
  @Test func `content that is full of beginnings of boundaries`() throws {
    let boundary = String(repeating: "-", count: 69) + "x"
    for filler in ["\r\n--" + boundary.dropLast(), "\r", "\r\n", "\r\n-", "-"] {
      let content = String(repeating: filler, count: 200_000 / filler.utf8.count)
      let body = Array("--\(boundary)\r\n\r\n\(content)\r\n--\(boundary)--".utf8)
      for size in [1_000, 4_099, body.count] {
        let parts = try ReadPart.read(body.chunks(of: size), boundary: boundary)
        #expect(parts.map { $0.bytes == Array(content.utf8) } == [true], "chunks of \(size)")
      }
    }
  }

  @Test func `empty chunks change nothing`() throws {
    var chunks: [ArraySlice<UInt8>] = [[]]
    for chunk in Array("--abc\r\n\r\nx\r\n--abc--".utf8).chunks(of: 1) { chunks += [chunk, []] }
    #expect(try ReadPart.read(chunks).map(\.bytes) == [Array("x".utf8)])
  }
}
