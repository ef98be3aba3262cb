import CouchDB
import Testing

@Suite struct MultipartWriterTests {
  private func writer(_ boundary: String = "abc") throws -> MultipartWriter {
    MultipartWriter(boundary: try #require(MultipartBoundary(boundary)))
  }

  @Test func `a body is written as CouchDB writes it`() throws {
    var writer = try writer()
    var body = writer.begin(.document) + Array("{}".utf8)
    body += writer.begin(.attachment(named: "b.bin", contentType: "image/png", length: 3)) + [1, 2, 3]
    body += writer.end()
    #expect(
      String(decoding: body, as: UTF8.self) == """
        --abc\r
        Content-Type: application/json\r
        \r
        {}\r
        --abc\r
        Content-Disposition: attachment; filename="b.bin"\r
        Content-Type: image/png\r
        Content-Length: 3\r
        \r
        \u{1}\u{2}\u{3}\r
        --abc--
        """)
    #expect(writer.contentType("multipart/related") == #"multipart/related; boundary="abc""#)
    #expect(
      try MultipartBoundary(contentType: writer.contentType("multipart/related")) == writer.boundary)
    let parts: [(head: MultipartHead, length: Int64)] = [
      (.document, 2), (.attachment(named: "b.bin", contentType: "image/png", length: 3), 3),
    ]
    #expect(writer.contentLength(of: parts) == Int64(body.count))
  }

  @Test func `a body without parts`() throws {
    let writer = try writer()
    #expect(String(decoding: writer.end(), as: UTF8.self) == "--abc--")
    #expect(writer.contentLength(of: []) == 7)
    #expect(try ReadPart.read([writer.end()[...]]).isEmpty)
  }

  @Test func `a length that no Int64 holds is nil`() throws {
    let writer = try writer()
    let frame = try #require(writer.contentLength(of: [(.document, 0)]))
    #expect(writer.contentLength(of: [(.document, .max - frame)]) == .max)
    #expect(writer.contentLength(of: [(.document, .max - frame + 1)]) == nil)
    #expect(writer.contentLength(of: [(.document, .max), (.document, .max)]) == nil)
    #expect(writer.contentLength(of: [(.document, -1)]) == nil)
  }
}
