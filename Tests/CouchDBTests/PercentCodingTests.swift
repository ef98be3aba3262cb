import CDTTestSupport
import CouchDB
import Testing

@Suite struct PercentCodingTests {
  @Test(arguments: [
    ("", ""), ("task1", "task1"), ("a%2Fb", "a/b"), ("a%2fb", "a/b"), ("a+b", "a b"), ("a%2Bb", "a+b"),
    ("a%20b", "a b"), ("%25", "%"), ("%2525", "%25"), ("%252F", "%2F"), ("%00", "\u{0}"), ("é", "é"),
    ("%C3%A9", "é"), ("%F0%9F%98%80", "😀"), ("%2E%2e", ".."), ("a/b?c#d", "a/b?c#d"),
  ]) func `text is decoded once`(text: String, decoded: String) throws {
    #expect(Array(try PercentCoding.decode(text).utf8) == Array(decoded.utf8))
  }

  @Test(arguments: [
    "%", "a%", "%2", "%%", "%2%20", "%G0", "%0G", "%-1", "%+1", "% 1", "%é", "%u0041", "%25%",
  ])
  func `a percent sign without two digits`(text: String) {
    #expect(throws: CouchError.invalidPercentEncoding(text)) { try PercentCoding.decode(text) }
  }

  /// Overlong forms, surrogates, beyond Unicode, and cut off.
  @Test(arguments: ["%FF", "%C0%AF", "%C0%80", "%ED%A0%80", "%F5%80%80%80", "%C3", "a%E2%82", "%80", "%C3x"])
  func `bytes that are not UTF-8`(text: String) {
    #expect(throws: CouchError.urlNotUTF8(text)) { try PercentCoding.decode(text) }
  }

  @Test func `only letters, digits and four signs stay as they are`() {
    #expect(PercentCoding.encode("AZaz09-._~") == "AZaz09-._~")
    #expect(
      PercentCoding.encode(" !\"#$%&'()*+,/:;<=>?@[\\]^`{|}") == """
        %20%21%22%23%24%25%26%27%28%29%2A%2B%2C%2F%3A%3B%3C%3D%3E%3F%40%5B%5C%5D%5E%60%7B%7C%7D
        """)
    #expect(PercentCoding.encode("\u{0}\n\u{7F}é") == "%00%0A%7F%C3%A9")
  }

  @Test func `dots alone are encoded, as clients remove such segments`() {
    #expect(PercentCoding.encode(".") == "%2E")
    #expect(PercentCoding.encode("..") == "%2E%2E")
    #expect(PercentCoding.encode("...") == "...")
  }

  @Test func `random text survives, and random bytes never crash`() throws {
    let seed = testSeed(19)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<5_000 {
      let bytes = (0..<Int.random(in: 0...20, using: &random)).map { _ in
        Bool.random(using: &random)
          ? Array("%+0aF/".utf8).randomElement(using: &random) ?? 0
          : UInt8.random(in: 0...255, using: &random)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(
        Array(try PercentCoding.decode(PercentCoding.encode(text)).utf8) == Array(text.utf8), "seed \(seed)")
      if let decoded = try? PercentCoding.decode(text) {
        #expect(decoded.utf8.count <= text.utf8.count, "seed \(seed)")
      }
    }
  }
}
