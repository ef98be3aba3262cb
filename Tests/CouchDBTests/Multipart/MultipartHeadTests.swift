import CouchDB
import Testing

@Suite struct MultipartHeadTests {
  private func head(_ lines: String) throws -> MultipartHead {
    try MultipartHead(parsing: Array((lines + "\r\n").utf8))
  }

  @Test func `a field is found in upper and lower case`() throws {
    let head = try head("Content-Type: text/plain\r\nX-Doc-Id:  a b\t\r\ncontent-type: other\r\n")
    #expect(head["CONTENT-type"] == "text/plain")
    #expect(head["x-doc-id"] == "a b")
    #expect(head["Content"] == nil)
    #expect(head.fields.count == 3)
  }

  @Test func `a value may be empty, have colons and go on in the next line`() throws {
    let head = try head("A:\r\nB: c:d\r\n\te \r\n  f\r\n")
    #expect(head["A"]?.isEmpty == true)
    #expect(head["B"] == "c:d\te   f")
  }

  @Test func `the media type and the file name`() throws {
    let head = try head(
      "Content-Type: Application/JSON; error=\"true\"\r\nContent-Disposition: attachment; filename=\"a/é.txt\"\r\n"
    )
    #expect(head.mediaType == "application/json")
    #expect(head.fileName == "a/é.txt")
    #expect(try self.head("").mediaType == nil)
    #expect(try self.head("").fileName == nil)
  }

  @Test func `an attachment has CouchDB's fields in CouchDB's order`() {
    let head = MultipartHead.attachment(
      named: "b.txt", contentType: "text/plain", length: 25, encoding: .gzip)
    #expect(
      String(decoding: head.bytes, as: UTF8.self) == """
        Content-Disposition: attachment; filename="b.txt"\r
        Content-Type: text/plain\r
        Content-Length: 25\r
        Content-Encoding: gzip\r
        \r\n
        """)
    #expect(
      MultipartHead.attachment(named: "b", contentType: "text/plain", length: 1)["Content-Encoding"] == nil)
  }

  @Test(arguments: ["plain.txt", #"quo"ted"#, #"back\slash"#, #"\""#, #"\"#, "空 é/; filename=x", "a=b;c", ""])
  func `a file name survives`(name: String) throws {
    let head = MultipartHead.attachment(named: name, contentType: "text/plain", length: 1)
    #expect(try MultipartHead(parsing: head.bytes).fileName == name)
  }

  @Test func `no value adds a field or ends the head`() throws {
    let evil = "x\"\r\nEvil: yes\r\n\r\n--abc--\u{0}\u{7F}"
    let head = MultipartHead.attachment(named: evil, contentType: evil, length: 1)
    let parsed = try MultipartHead(parsing: head.bytes)
    #expect(parsed.fields.map(\.name) == ["Content-Disposition", "Content-Type", "Content-Length"])
    #expect(parsed.fileName == "x\"__Evil: yes____--abc--__")
    #expect(parsed["Content-Type"] == "x\"  Evil: yes    --abc--")
  }
}
