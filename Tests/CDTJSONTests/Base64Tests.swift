import CDTJSON
import Foundation
import Testing

@Suite struct Base64Tests {
  @Test func `text that Foundation writes is read`() {
    for count in 0..<100 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
      #expect(Base64.decode(Data(bytes).base64EncodedString()) == bytes)
    }
  }

  @Test(arguments: [
    "====", "=", "YQ", "YQ=", "YQ===", "YWI", "YWI==", "YW=J", "Y===", "YWJj=", "YQ==YQ==", "YQ==YWJj",
    "YWJ-", "YW J",
    "YWJ\n", "é", "YWJ\u{301}",
  ])
  func `other text is refused`(_ text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test func `white space is ignored where that is wanted`() {
    #expect(Base64.decode(" YW\r\nJ\tj YQ = = ", ignoresSpace: true) == Array("abca".utf8))
    #expect(Base64.decode("YWJj\u{A0}", ignoresSpace: true) == nil)
  }
}
