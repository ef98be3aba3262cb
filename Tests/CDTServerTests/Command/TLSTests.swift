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

  @Test func `a renewed certificate is used for new connections after a hang-up`() throws {
    let directory = try ServerDirectory()
    func shell(_ line: String) throws -> String {
      let run = try ToolRun.shell(line, in: directory)
      #expect(run.status == 0, "\(line): \(run)")
      return run.output
    }
    _ = try shell(
      """
      for name in one two; do
        openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=$name -keyout $name.key -out $name.crt 2>&1 || exit 1
      done
      cp one.crt cert.pem; cp one.key key.pem
      """)
    let server = try ServerProgram(
      directory.path("people"),
      ["--tls-cert", directory.path("cert.pem"), "--tls-key", directory.path("key.pem")], keepsLog: true)
    /// The name in the certificate of a new connection.
    func name() throws -> String {
      try shell(
        """
        openssl s_client -connect 127.0.0.1:\(server.port) </dev/null 2>/dev/null | openssl x509 -noout -subject \
          | sed 's/.*= *//'
        """)
    }
    #expect(try name() == "one\n")
    _ = try shell("cp two.crt cert.pem; cp two.key key.pem")
    #expect(try name() == "one\n")
    server.hangUp()
    #expect(try server.nextLine().hasSuffix("notice certificate read"))
    #expect(try name() == "two\n")
    for change in [": > cert.pem", "cp one.crt cert.pem", "rm key.pem"] {
      _ = try shell(change)
      server.hangUp()
      #expect(try server.nextLine().contains(" error certificate kept error="))
      #expect(try name() == "two\n")
    }
    _ = try shell("cp one.key key.pem")
    server.hangUp()
    #expect(try server.nextLine().hasSuffix("notice certificate read"))
    #expect(try name() == "one\n")
    server.terminate()
    #expect(server.wait() == 0)
  }
}
