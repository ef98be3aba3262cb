import CDTTestSupport
import CouchDB
import Testing

@Suite struct MultipartBoundaryTests {
  @Test(arguments: [
    ("multipart/related; boundary=abc", "abc"),
    (#"multipart/related; boundary="abc""#, "abc"),
    (#"Multipart/Mixed;BOUNDARY="a b";x=y"#, "a b"),
    ("multipart/form-data; charset=utf-8; boundary=----=_Part_1.2", "----=_Part_1.2"),
    ("multipart/related; boundary=--0123456789abcdef", "--0123456789abcdef"),
    (#"multipart/mixed; boundary="'()+_,-./:=?""#, "'()+_,-./:=?"),
    (
      "multipart/mixed; boundary=" + String(repeating: "x", count: 70),
      String(repeating: "x", count: 70)
    ),
  ])
  func `the boundary of a Content-Type`(type: String, boundary: String) throws {
    #expect(try MultipartBoundary(contentType: type).text == boundary)
  }

  @Test(arguments: [
    "multipart/related", "multipart/related; boundary=", #"multipart/related; boundary="""#,
    #"multipart/related; boundary="abc"#, #"multipart/related; boundary="abc ""#,
    "multipart/related; boundary=a; boundary=a", "multipart/related; boundary=a; Boundary=b",
    "multipart/related; boundary=é", "multipart/related; boundary=a\u{0}b",
    "multipart/related; boundary=a\r\nb",
    "multipart/related; boundary=a b", "multipart/related; boundary=a@b", "multipart/related boundary=abc",
    "multipart/related; boundary=" + String(repeating: "x", count: 71),
    "multipart/related; boundaryx=abc", "multipart/related; boundary",
  ])
  func `no valid boundary`(type: String) {
    let error =
      type == "multipart/related boundary=abc" ? CouchError.notMultipart(type) : .invalidBoundary(type)
    #expect(throws: error) { try MultipartBoundary(contentType: type) }
  }

  @Test(arguments: [
    "", "application/json", "multipart; boundary=a", "multipart/; boundary=a", "text/multipart/related",
  ])
  func `a Content-Type that is not of a multipart body`(type: String) {
    #expect(throws: CouchError.notMultipart(type)) { try MultipartBoundary(contentType: type) }
  }

  @Test func `random boundaries are different and valid`() {
    var generator = SeededGenerator(seed: 1)
    let made = (0..<100).map { _ in MultipartBoundary.random(using: &generator) }
    #expect(Set(made).count == 100)
    #expect(made.allSatisfy { $0.text.utf8.count == 32 && MultipartBoundary($0.text) == $0 })
    #expect(MultipartBoundary.random() != .random())
  }
}
