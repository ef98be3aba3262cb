import CDTServerTestSupport
import Foundation
import Testing

/// What keeps a server from starting is told, with its remedy and its exit code.
@Suite struct ServeCommandTests {
  let directory: ServerDirectory

  init() throws {
    directory = try ServerDirectory()
  }

  private func expect(
    _ status: Int32, _ message: String, _ arguments: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let run = try ToolRun.of(["serve"] + arguments, in: directory)
    #expect(run.errors == "cdtquery: \(message)\n", sourceLocation: sourceLocation)
    #expect(run.status == status, sourceLocation: sourceLocation)
    #expect(run.output.isEmpty, sourceLocation: sourceLocation)
  }

  @Test func `other machines need users and TLS`() throws {
    try expect(
      64,
      "0.0.0.0 can be reached from other machines, but the server has neither users nor TLS; add users (--users) and a "
        + "certificate (--tls-cert, --tls-key), listen on 127.0.0.1, or use --insecure",
      ["people", "--bind", "0.0.0.0:0"])
  }

  @Test func `a directory that can't be created`() throws {
    try directory.write("", to: "file")
    try expect(
      74, "file is not a directory; move the file or choose another directory", ["file"])
  }

  @Test func `an address that another process has`() async throws {
    try await withServer { server async throws in
      try expect(
        69,
        "another process listens at 127.0.0.1:\(server.port); stop it, or choose another port (--bind)",
        ["people", "--bind", "127.0.0.1:\(server.port)"])
      try expect(
        69,
        "another process listens at 127.0.0.1:\(server.port); stop it, or choose another port (--bind)",
        ["people", "--port", "\(server.port)"])
    }
  }

  @Test func `an address of another machine`() throws {
    try expect(
      73,
      "can't listen at 192.0.2.1:0: Cannot assign requested address; choose an address of this machine and a port (--bind)",
      ["people", "--bind", "192.0.2.1:0", "--insecure"])
    try expect(
      73,
      "can't listen at nowhere.invalid:0: the name is unknown; choose an address of this machine and a port (--bind)",
      ["people", "--bind", "nowhere.invalid:0", "--insecure"])
  }

  @Test func `an address without a port`() throws {
    let run = try ToolRun.of(["serve", "people", "--bind", "localhost"], in: directory)
    #expect(
      run.errors.hasPrefix(
        "cdtquery: --bind needs an address and a port, such as 127.0.0.1:5984, or --port beside the address\n"
      ))
    #expect(run.status == 64)
    for bind in ["192.0.2.1", "192.0.2.1:5984"] {
      try expect(
        73,
        "can't listen at 192.0.2.1:0: Cannot assign requested address; choose an address of this machine and a port (--bind)",
        ["people", "--bind", bind, "--port", "0", "--insecure"])
    }
  }

  @Test func `a file of users that is not there`() throws {
    try expect(
      66,
      #"there is no file of users none.json; check the path, or create it with "cdtquery user add""#,
      ["people", "--users", "none.json"])
  }

  @Test func `a profile that there is not, and one without users`() throws {
    let run = try ToolRun.of(["serve", "people", "--profile", "obsidian"], in: directory)
    #expect(run.errors.hasPrefix("cdtquery: --profile has no obsidian; there is livesync\n"))
    #expect(run.status == 64)
    try expect(
      64,
      "every request needs a user (require_valid_user, or --profile livesync), but the server has none; add users (--users)",
      ["people", "--profile", "livesync"])
  }

  @Test func `kept settings that can't be used`() throws {
    try FileManager.default.createDirectory(
      atPath: directory.path("people"), withIntermediateDirectories: true)
    try directory.write("{", to: "people/_config.json")
    try expect(
      65,
      "the settings in people/_config.json can't be used: it is not a JSON object; fix it, or remove it and set the settings "
        + "again",
      ["people"])
  }

  @Test func `certificates that can't be used`() throws {
    let files = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"]
    try expect(74, "can't read cert.pem: No such file or directory; check the path", ["people"] + files)
    try directory.write("not PEM", to: "cert.pem")
    let run = try ToolRun.of(["serve", "people"] + files, in: directory)
    #expect(run.errors.hasPrefix("cdtquery: cert.pem is not a PEM file with a certificate: "))
    #expect(run.errors.hasSuffix("; check the path\n"))
    #expect(run.status == 65)
    #expect(try ToolRun.of(["serve", "people", "--tls-cert", "cert.pem"], in: directory).status == 64)
  }

  @Test func `a certificate and a key that don't belong together`() throws {
    let made = try ToolRun.shell(
      """
      for name in one two; do
        openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout $name.key -out $name.crt 2>&1 || exit 1
      done
      """, in: directory)
    try #require(made.status == 0, "\(made.output)")
    let run = try ToolRun.of(
      ["serve", "people", "--bind", "127.0.0.1:0", "--tls-cert", "one.crt", "--tls-key", "two.key"],
      in: directory)
    #expect(run.errors.hasPrefix("cdtquery: the certificate and its key can't be used: "))
    #expect(run.errors.hasSuffix("; check that both are PEM files and belong together\n"))
    #expect(run.status == 65)
  }
}
