import Foundation
import Testing

/// The server over TLS.
@Suite struct TLSTests {
  @Test func `a server with a certificate speaks TLS and nothing else`() throws {
    let directory = try ServerDirectory()
    let made = try ToolRun.shell(
      """
      openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
        -keyout key.pem -out cert.pem 2>&1 && echo secret | cdtquery user add users.json mike --role _admin
      """, in: directory)
    try #require(made.status == 0, "\(made.output)")
    let server = try ServerProgram(
      directory.path("people"),
      [
        "--tls-cert", directory.path("cert.pem"), "--tls-key", directory.path("key.pem"), "--users",
        directory.path("users.json"),
      ])
    func curl(_ options: String) throws -> ToolRun {
      try ToolRun.shell("curl -s --cacert cert.pem \(options)", in: directory)
    }
    let address = "127.0.0.1:\(server.port)"
    #expect(try curl("https://\(address)/_up").output == "{\"status\":\"ok\",\"seeds\":{}}\n")
    #expect(try curl("-u mike:secret -X PUT https://\(address)/db").output == "{\"ok\":true}\n")
    let login = try curl("-i https://\(address)/_session -d name=mike -d password=secret")
    #expect(
      login.output.lowercased().contains("set-cookie: authsession=") && login.output.contains("; Secure"))
    // An older protocol, a client that does not trust the certificate, and one without TLS.
    // Only this setting lets OpenSSL 3 try it.
    let old = "--tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0"
    let tried = try curl("-v \(old) https://\(address)/_up 2>&1")
    #expect(tried.status == 35 && tried.output.contains("alert protocol version"), "\(tried.output)")
    #expect(try ToolRun.shell("curl -s https://\(address)/_up", in: directory).status == 60)
    #expect(try curl("http://\(address)/_up").output == "")
    server.terminate()
    #expect(server.wait() == 0)
  }
}
