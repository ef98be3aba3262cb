import CDTServer
import CouchDB
import Testing

@Suite struct HostCheckTests {
  private func error(_ check: HostCheck, _ headers: String...) -> CouchError? {
    do throws(CouchError) {
      try check.check(headers)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    "localhost", "localhost:5984", "LOCALHOST", "localhost.", "127.0.0.1", "127.0.0.1:5984", "[::1]",
    "[::1]:5984",
    "[0:0::1]:65535", "[::ffff:127.0.0.1]", "127.0.0.1:1",
  ])
  func `the names of this machine pass`(_ host: String) throws {
    #expect(error(try HostCheck(names: [], listeningOn: ["127.0.0.1"]), host) == nil)
  }

  @Test func `configured names and the addresses where the server listens pass`() throws {
    let check = try HostCheck(
      names: ["db.example.com", "Nas.local"], listeningOn: ["192.0.2.7", "2001:db8::7"])
    for host in [
      "db.example.com", "DB.Example.COM:443", "db.example.com.", "nas.local:5984", "192.0.2.7:5984",
      "[2001:DB8:0::7]",
    ] {
      #expect(error(check, host) == nil, "\(host)")
    }
    for host in [
      "192.0.2.8", "[2001:db8::8]", "example.com", "a.db.example.com", "db.example.com.evil.example",
    ] {
      #expect(error(check, host) == .unknownHost, "\(host)")
    }
  }

  @Test(arguments: [
    "evil.example", "evil.example:5984", "localhost.evil.example", "127.0.0.1.evil.example", "evil-localhost",
    // Spellings of addresses that only some programs understand.
    "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.01", "0", "0.0.0.0", "[::]", "192.0.2.1",
    "127.0.0.2",
  ])
  func `any other host is refused`(_ host: String) throws {
    let refused = error(try HostCheck(names: [], listeningOn: ["127.0.0.1"]), host)
    #expect(refused == .unknownHost)
    #expect(refused?.status == 421)
  }

  @Test func `on all addresses of the machine every address passes, as none can be rebound, but no name`()
    throws
  {
    for address in ["0.0.0.0", "::", "[::]"] {
      let check = try HostCheck(names: [], listeningOn: [address])
      for host in ["192.0.2.1:5984", "[2001:db8::1]", "localhost"] {
        #expect(error(check, host) == nil, "\(host)")
      }
      for host in ["evil.example", "2130706433", "192.0.2.1.evil.example"] {
        #expect(error(check, host) == .unknownHost, "\(host)")
      }
    }
  }

  @Test(arguments: [
    "", " ", "localhost:", "localhost:0", "localhost:65536", "localhost:+80", "localhost:80:80",
    "localhost:８０",
    "localhost:99999999999999999999", ":5984", "::1", "[::1", "::1]", "[]", "[localhost]", "[127.0.0.1]",
    "[::1]x",
    "[::1%25lo]", "user@localhost", "localhost/", "localhost#", "localhost?x", "localhost,evil.example",
    "local host",
    "localhost\0", "localhost\t", "löcalhost", ".", "localhost..evil\\",
    String(repeating: "a", count: 254),
  ])
  func `a malformed host is 400`(_ host: String) throws {
    #expect(error(try HostCheck(names: [], listeningOn: ["0.0.0.0"]), host) == .invalidHost)
  }

  @Test func `there is exactly one header`() throws {
    let check = try HostCheck(names: [], listeningOn: [])
    #expect(error(check) == .missingHost)
    #expect(error(check, "localhost", "localhost") == .missingHost)
    #expect(error(check, "localhost", "evil.example") == .missingHost)
  }

  @Test(arguments: ["http://db.example.com", "db.example.com:5984", "", "*", "a b"])
  func `refuses a configured name`(_ name: String) {
    #expect(throws: ServerError.invalidHostName(name)) {
      try HostCheck(names: [name], listeningOn: [])
    }
  }
}
