import CDTPlatform
import Testing

@Suite struct IPAddressTests {
  @Test func `spellings of an address are equal`() throws {
    let address = try #require(IPAddress("2001:DB8:0:0::1"))
    #expect(address == IPAddress("2001:db8::1"))
    let mapped = try #require(IPAddress("::ffff:192.0.2.1"))
    #expect(mapped == IPAddress("192.0.2.1"))
    #expect(mapped != IPAddress("192.0.2.2"))
    #expect(IPAddress("::1") != IPAddress("0.0.0.1"))
  }

  @Test(arguments: [
    "", "localhost", "127.1", "1.2.3", "1.2.3.4.5", "256.0.0.1", "1.2.3.4 ", " ::1", "[::1]", "::1%lo",
    "1.2.3.4\0", ":",
    "::ffff:1.2.3", String(repeating: "1", count: 100),
  ])
  func `malformed addresses are not parsed`(_ text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test func `the network of an IPv6 address has 64 bits`() throws {
    let network = try #require(IPAddress("2001:db8:0:1::")).subscriber
    #expect(IPAddress("2001:db8:0:1:ffff::1")?.subscriber == network)
    #expect(IPAddress("2001:db8:0:2::1")?.subscriber != network)
    #expect(IPAddress("192.0.2.1")?.subscriber == IPAddress("192.0.2.1"))
  }
}
