import CDTTestSupport
import CouchDB
import Testing

@Suite struct MultipartReaderTests {
  /// As CouchDB's replicator sends a document with two attachments.
  static let body = """
    --abc\r
    Content-Type: application/json\r
    \r
    {"_attachments":{}}\r
    --abc\r
    Content-Disposition: attachment; filename="b.bin"\r
    Content-Type: application/octet-stream\r
    Content-Length: 19\r
    \r
    one\r
    --ab\r
    --\r
    \r\r
    --abd\r
    --abc\r
    Content-Disposition: attachment; filename="空.txt"\r
    \r
    \r
    --abc--
    """

  static let parts = [
    (head: ["Content-Type: application/json"], bytes: #"{"_attachments":{}}"#),
    (
      head: [
        #"Content-Disposition: attachment; filename="b.bin""#, "Content-Type: application/octet-stream",
        "Content-Length: 19",
      ], bytes: "one\r\n--ab\r\n--\r\n\r\r\n--abd"
    ),
    (head: [#"Content-Disposition: attachment; filename="空.txt""#], bytes: ""),
  ]

  private func check(_ read: [ReadPart], _ comment: Comment) {
    #expect(read.map { $0.head.fields.map { "\($0.name): \($0.value)" } } == Self.parts.map(\.head), comment)
    #expect(read.map { String(decoding: $0.bytes, as: UTF8.self) } == Self.parts.map(\.bytes), comment)
  }

  @Test func `a body gives its parts in order`() throws {
    check(try ReadPart.read(Self.body), "whole")
  }

  @Test func `a body may be cut in two anywhere`() throws {
    let body = Array(Self.body.utf8)
    for cut in 0...body.count {
      check(try ReadPart.read([body[..<cut], body[cut...]]), "cut at \(cut)")
    }
  }

  @Test(arguments: [1, 2, 3, 5, 7, 8, 13, 64]) func `chunks may have any size`(size: Int) throws {
    check(try ReadPart.read(Array(Self.body.utf8).chunks(of: size)), "chunks of \(size)")
  }

  @Test func `the bytes of a part are slices of the chunk`() throws {
    let body = Array(Self.body.utf8)
    let boundary = try #require(MultipartBoundary("abc"))
    var reader = MultipartReader<ArraySlice<UInt8>>(boundary: boundary, maximumParts: 3)
    var found = 0
    var chunk = body[...]
    while let event = try reader.next(&chunk) {
      guard case .bytes(let bytes) = event else { continue }
      let isSlice = body.withUnsafeBufferPointer { whole in
        bytes.withUnsafeBufferPointer { $0.baseAddress == whole.baseAddress.map { $0 + bytes.startIndex } }
      }
      #expect(isSlice)
      found += bytes.count
    }
    #expect(found == Self.parts.map(\.bytes.utf8.count).reduce(0, +))
  }

  @Test func `a chunk that only begins like a delimiter is given as it was`() throws {
    let start = "--abc\r\n\r\nx\r"
    let pieces = ["\n", "--", "ab", "\r", "\n-", "-ab", "y\r\n--abc--"]
    let chunks = ([start] + pieces).map { Array($0.utf8)[...] }
    let parts = try ReadPart.read(chunks)
    #expect(parts.map { String(decoding: $0.bytes, as: UTF8.self) } == ["x\r\n--ab\r\n--aby"])
  }

  @Test func `bytes before the first boundary and after the last are skipped`() throws {
    let parts = try ReadPart.read("pre --abc\r\n--ab\r\n--abc\r\n\r\nx\r\n--abc--y\r\n--abc\r\nz\r\n--abc--")
    #expect(parts.map(\.bytes) == [Array("x".utf8)])
  }

  @Test(arguments: [
    ("no parts", "--abc--", 0), ("no head", "--abc\r\n\r\nx\r\n--abc--", 1),
    ("an empty part", "--abc\r\n\r\n\r\n--abc--", 1),
    ("no empty line after the head", "--abc\r\nA: b\r\n\r\n--abc--", 1),
    ("spaces after a boundary", "--abc \t \r\n\r\nx\r\n--abc\t\r\n\r\n\r\n--abc--", 2),
    ("an empty line first", "\r\n--abc\r\n\r\nx\r\n--abc--\r\n", 1),
  ])
  func `a body may have`(_: String, body: String, count: Int) throws {
    let bytes = Array(body.utf8)
    for size in 1...bytes.count {
      #expect(try ReadPart.read(bytes.chunks(of: size)).count == count, "chunks of \(size)")
    }
  }

  @Test func `a part that is a multipart body is read with a reader of its own`() throws {
    let inner = "--in\r\n\r\none\r\n--in\r\n\r\ntwo\r\n--in--"
    let outer = "--abc\r\nContent-Type: multipart/related; boundary=in\r\n\r\n\(inner)\r\n--abc--"
    let part = try #require(try ReadPart.read(outer).first)
    let boundary = try MultipartBoundary(contentType: try #require(part.head["content-type"]))
    let parts = try ReadPart.read([part.bytes[...]], boundary: boundary.text)
    #expect(parts.map { String(decoding: $0.bytes, as: UTF8.self) } == ["one", "two"])
  }

  @Test func `a boundary that begins with hyphens has four of them on its line`() throws {
    let parts = try ReadPart.read("----x\r\n\r\n--x\r\n--\r\n----x--", boundary: "--x")
    #expect(parts.map { String(decoding: $0.bytes, as: UTF8.self) } == ["--x\r\n--"])
  }
}
