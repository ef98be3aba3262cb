import CDTServer
import Testing

@Suite struct ExposureTests {
  private func message(
    address: String, hasUsers: Bool, hasTLS: Bool, allowsAnyOrigin: Bool = false, isInsecure: Bool = false
  ) -> String? {
    do throws(ServerError) {
      try Exposure.check(
        address: address, hasUsers: hasUsers, hasTLS: hasTLS, allowsAnyOrigin: allowsAnyOrigin,
        isInsecure: isInsecure)
      return nil
    } catch {
      #expect(error.code == .exposed)
      return error.description
    }
  }

  @Test(arguments: [
    "127.0.0.1", "127.3.2.1", "::1", "[::1]", "0:0::1", "::ffff:127.0.0.1", "localhost", "LOCALHOST",
  ])
  func `a loopback address needs nothing`(_ address: String) {
    #expect(message(address: address, hasUsers: false, hasTLS: false) == nil)
  }

  @Test(arguments: [
    "0.0.0.0", "::", "[::]", "192.0.2.1", "10.0.0.1", "2001:db8::1", "fe80::1", "db.example.com",
    "localhost.evil.example",
    "127.1", "128.0.0.1", "", "*", "::ffff:192.0.2.1", "127.0.0.1:5984", "localhost\0",
  ])
  func `any other address needs users and TLS`(_ address: String) {
    let elsewhere = "can be reached from other machines, but the server has"
    let end = "listen on 127.0.0.1, or use --insecure"
    #expect(
      message(address: address, hasUsers: false, hasTLS: false)
        == "\(address) \(elsewhere) neither users nor TLS; add users (--users) and a certificate (--tls-cert, --tls-key), \(end)"
    )
    #expect(
      message(address: address, hasUsers: true, hasTLS: false)
        == "\(address) \(elsewhere) no TLS; add a certificate (--tls-cert, --tls-key), \(end)")
    #expect(
      message(address: address, hasUsers: false, hasTLS: true)
        == "\(address) \(elsewhere) no users; add users (--users), \(end)")
    #expect(message(address: address, hasUsers: true, hasTLS: true) == nil)
    #expect(message(address: address, hasUsers: false, hasTLS: false, isInsecure: true) == nil)
  }

  @Test func `pages of every origin need users`() {
    #expect(
      message(address: "127.0.0.1", hasUsers: false, hasTLS: true, allowsAnyOrigin: true)
        == "with the CORS origin * and no users, every web page that is open on this machine can read and change everything; "
        + "list the origins, add users (--users), or use --insecure")
    #expect(
      message(address: "127.0.0.1", hasUsers: true, hasTLS: false, allowsAnyOrigin: true) == nil)
    #expect(
      message(
        address: "127.0.0.1", hasUsers: false, hasTLS: false, allowsAnyOrigin: true, isInsecure: true)
        == nil)
  }
}
