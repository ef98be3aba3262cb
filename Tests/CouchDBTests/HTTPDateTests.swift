import CDTTestSupport
import CouchDB
import Testing

@Suite struct HTTPDateTests {
  @Test func `a time is written as HTTP has it, and read again`() {
    #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.text(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
    #expect(HTTPDate.seconds("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
    var random = SeededGenerator(seed: testSeed(1))
    for _ in 0..<1_000 {
      // Until the year 9999.
      let seconds = Int64.random(in: 0..<253_402_300_800, using: &random)
      #expect(HTTPDate.seconds(HTTPDate.text(seconds)) == seconds)
    }
  }

  @Test(arguments: [
    "", " ", "5", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37:00 GMT",
    "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
    "Sun, 06 Nov 1994 a:b:c GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 a:08:49:37 GMT",
  ])
  func `other texts are not times`(text: String) {
    #expect(HTTPDate.seconds(text) == nil)
  }

  @Test func `numbers out of their range do no harm`() {
    for text in ["Sun, 65535 Dec 65535 65535:65535:65535 GMT", "Sun, 00 Jan 0000 00:00:00 GMT"] {
      _ = HTTPDate.seconds(text)
    }
  }
}
