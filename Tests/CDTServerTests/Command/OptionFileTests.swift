import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// A file of the options of a server: `cdtquery serve --config`.
@Suite(.timeLimit(.usual)) struct OptionFileTests {
  let directory: ServerDirectory

  init() throws {
    directory = try ServerDirectory()
  }

  @Test func `the options of a file are used, and the command line comes first`() async throws {
    try directory.write(
      """
      # The options of a test.
        max-free = comments are not read

      bind = 192.0.2.1:1\r
      read-only
      cors = http://a.example
      cors=http://b.example
      \tlog-level =\tinfo
      """.replacing("  max-free", with: "  # max-free"), to: "serve.conf")
    let server = try ServerProgram(directory.path("people"), ["--config", directory.path("serve.conf")])
    let address = "http://127.0.0.1:\(server.port)"
    let put = try ToolRun.shell("curl -s -X PUT \(address)/db", in: directory)
    #expect(put.output.contains("This server is read-only."), "\(put.output)")
    for origin in ["http://a.example", "http://b.example"] {
      let reply = try ToolRun.shell("curl -si -H 'Origin: \(origin)' \(address)/", in: directory)
      #expect(reply.output.lowercased().contains("access-control-allow-origin: \(origin)"), "\(reply.output)")
    }
    server.terminate()
    #expect(server.wait() == 0)
  }

  @Test func `at SIGHUP the level of the log is read again`() throws {
    try directory.write("log-level = notice\n", to: "serve.conf")
    let server = try ServerProgram(
      directory.path("people"), ["--config", directory.path("serve.conf")], keepsLog: true)
    try directory.write("log-level = info\n", to: "serve.conf")
    server.hangUp()
    #expect(try server.nextLine().contains(" notice log level read log-level=info"))
    _ = try ToolRun.shell("curl -s http://127.0.0.1:\(server.port)/", in: directory)
    #expect(try server.nextLine().contains(" info request "))
    // What can't be used changes nothing.
    try directory.write("log-level = loud\n", to: "serve.conf")
    server.hangUp()
    #expect(try server.nextLine().contains(" error log level kept "))
    server.terminate()
    #expect(server.wait() == 0)
  }

  @Test func `an option of the command line replaces all of that name`() throws {
    try directory.write("cors = http://a.example\nbind = 192.0.2.1:1\n", to: "serve.conf")
    let server = try ServerProgram(
      directory.path("people"), ["--config=\(directory.path("serve.conf"))", "--cors=http://b.example"])
    func allowed(_ origin: String) throws -> Bool {
      try ToolRun.shell(
        "curl -si -H 'Origin: \(origin)' http://127.0.0.1:\(server.port)/", in: directory
      ).output.lowercased().contains("access-control-allow-origin: \(origin)")
    }
    #expect(try allowed("http://b.example"))
    #expect(try !allowed("http://a.example"))
    server.terminate()
    #expect(server.wait() == 0)
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let file: String
    let error: String
  }

  static let refusals = [
    Refusal(
      testDescription: "an unknown option", file: "\n# x\nprot = 5984",
      error: "3: Unknown option '--prot'. Did you mean '--port'?"),
    Refusal(
      testDescription: "a value of another type", file: "port = http",
      error: "1: The value 'http' is invalid for '--port <port>'"),
    Refusal(
      testDescription: "a value that the option does not have", file: "log-level = loud",
      error: "1: --log-level must be debug, info, notice, warning or error"),
    Refusal(
      testDescription: "a time without a unit", file: "read-only\nslow-query = 5",
      error: "2: --slow-query needs a time such as 200ms or 2s"),
    Refusal(
      testDescription: "an option without its value", file: "users",
      error: "1: Missing value for '--users <users>'"),
    Refusal(
      testDescription: "a flag with a value", file: "read-only = true",
      error: "1: The option '--read-only' does not take any value, but 'true' was specified."),
    Refusal(
      testDescription: "the same option twice", file: "port = 1\ncors = http://a\nport = 1",
      error: "3: port is already in line 1"),
    Refusal(
      testDescription: "another file", file: "config = other.conf",
      error: "1: a file of options can't name another one"),
    Refusal(testDescription: "help", file: "help", error: "1: Unknown option '--help'"),
    Refusal(
      testDescription: "hyphens", file: "--port = 5984",
      error:
        #"1: the line is not an option; write its long name without hyphens, as in "port = 5984""#),
    Refusal(
      testDescription: "the section of another format", file: "[server]",
      error: "1: the file of this command has no sections; leave out [server]"),
  ]

  @Test(arguments: refusals) func `a line that can't be used is named`(_ refusal: Refusal) throws {
    try directory.write(refusal.file, to: "serve.conf")
    let run = try ToolRun.of(["serve", "people", "--config", "serve.conf"], in: directory)
    #expect(run.errors == "cdtquery: serve.conf:\(refusal.error)\n")
    #expect(run.status == 65)
    #expect(try !directory.names().contains("people"))
  }

  @Test func `files that can't be read are refused`() throws {
    let missing = try ToolRun.of(["serve", "people", "--config", "none"], in: directory)
    #expect(missing.errors == "cdtquery: can't read none: No such file or directory; check the path\n")
    #expect(missing.status == 66)
    let other = try ToolRun.of(["serve", "people", "--config", "."], in: directory)
    #expect(other.errors == "cdtquery: can't read .: Is a directory; check the path\n")
    try Data([0x0A, 0xFF]).write(to: URL(filePath: directory.path("binary")))
    let binary = try ToolRun.of(["serve", "people", "--config", "binary"], in: directory)
    #expect(binary.errors == "cdtquery: binary is not a text of at most 1 MB in UTF-8; check the path\n")
  }

  @Test func `options that belong together may be in both places`() throws {
    try directory.write("tls-cert = cert.pem\n", to: "serve.conf")
    let run = try ToolRun.of(
      ["serve", "people", "--config", "serve.conf", "--tls-key", "key.pem"], in: directory)
    #expect(run.errors == "cdtquery: can't read cert.pem: No such file or directory; check the path\n")
  }
}
