import CDTServer
import Glibc
import Testing

@Suite struct UserCommandTests {
  let directory: ServerDirectory

  init() throws {
    directory = try ServerDirectory()
  }

  private func run(
    _ arguments: String..., input: String = "", environment: [String: String] = [:], output: String? = nil
  ) throws -> ToolRun {
    try ToolRun.of(arguments, in: directory, input: input, environment: environment, output: output)
  }

  private func verifies(_ password: String, _ name: String = "mike") throws -> Bool {
    let user = try #require(try UserFile(directory.path("u.json")).read().users[name])
    return try user.password.verifies(password)
  }

  // MARK: Adding, removing, listing

  @Test func `adds, changes, lists and removes users`() throws {
    let added = try run("user", "add", "u.json", "mike", "--role", "team", "--role", "_admin", input: "one\n")
    #expect(added.errors == "mike added\n")
    #expect(added.output == "")
    #expect(added.status == 0)
    #expect(directory.mode("u.json") == 0o600)
    #expect(try run("user", "add", "u.json", "mike", input: "two\n").errors == "mike changed\n")
    #expect(try run("user", "add", "u.json", "Zoe \"Z\"", input: "three").status == 0)
    #expect(
      try run("user", "list", "u.json").output == """
        {"name":"Zoe \\"Z\\"","roles":[]}
        {"name":"mike","roles":["team","_admin"]}

        """)
    #expect(try verifies("two"))
    let removed = try run("user", "remove", "u.json", "mike")
    #expect(removed.errors == "" && removed.output == "" && removed.status == 0)
    #expect(try run("user", "list", "u.json").output == "{\"name\":\"Zoe \\\"Z\\\"\",\"roles\":[]}\n")
  }

  @Test func `processes at the same time lose no user`() throws {
    let result = try ToolRun.shell(
      "for n in 1 2 3 4 5 6; do echo x | cdtquery user add u.json user$n & done; wait", in: directory)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      try UserFile(directory.path("u.json")).read().users.all.map(\.name) == (1...6).map { "user\($0)" })
  }

  // MARK: Passwords

  @Test func `a password is the first line of a file, or of standard input`() throws {
    try directory.write("from file\r\nsecond line\n", to: "password")
    #expect(
      try run("user", "add", "u.json", "mike", "--password-file", "password", input: "no\n").status == 0)
    #expect(try verifies("from file"))
    #expect(
      try run("user", "add", "u.json", "mike", "--password-file", "-", input: "first\nsecond\n").status == 0)
    #expect(try verifies("first"))
    #expect(try run("user", "add", "u.json", "mike", input: "  spaces \t").status == 65)
    #expect(try run("user", "add", "u.json", "mike", input: "  spaces  ").status == 0)
    #expect(try verifies("  spaces  "))
  }

  @Test func `a password in the environment comes before standard input, and a file before both`() throws {
    let environment = ["CDTQUERY_PASSWORD": "from environment"]
    #expect(try run("user", "add", "u.json", "mike", input: "no\n", environment: environment).status == 0)
    #expect(try verifies("from environment"))
    #expect(
      try run(
        "user", "add", "u.json", "mike", "--password-file", "-", input: "yes\n", environment: environment
      )
      .status == 0)
    #expect(try verifies("yes"))
  }

  @Test func `a terminal is asked twice, and does not show the password`() throws {
    let run = try TerminalRun(["user", "add", "u.json", "mike"], in: directory)
    try run.wait(for: "Password of mike: ")
    #expect(!run.echoes)
    run.type("s3cret\n")
    try run.wait(for: "The same again: ")
    #expect(!run.echoes)
    run.type("s3cret\n")
    #expect(run.end() == 0)
    #expect(run.seen == "Password of mike: \r\nThe same again: \r\nmike added\r\n")
    #expect(try verifies("s3cret"))
  }

  @Test func `two different passwords change nothing`() throws {
    let run = try TerminalRun(["user", "add", "u.json", "mike"], in: directory)
    try run.wait(for: "Password of mike: ")
    run.type("one\n")
    try run.wait(for: "The same again: ")
    run.type("two\n")
    #expect(run.end() == 65)
    #expect(run.seen.hasSuffix("cdtquery: the two passwords differ; try again\r\n"))
    #expect(try directory.names() == [])
  }

  @Test func `an interrupt ends the command, and the terminal shows its input again`() throws {
    let run = try TerminalRun(["user", "add", "u.json", "mike"], in: directory)
    try run.keepingTerminal {
      try run.wait(for: "Password of mike: ")
      #expect(!run.echoes)
      run.type("half\u{3}")
      try run.wait(for: "\n")
      #expect(run.status() == -SIGINT)
      #expect(run.echoes)
    }
    #expect(try directory.names() == [])
  }

  // MARK: Refusals

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let arguments: [String]
    var input = "x\n"
    let status: Int32
    let error: String
  }
  static let refusals = [
    Refusal(
      testDescription: "no command", arguments: ["user", "frobnicate"], status: 64,
      error: #"there is no command "cdtquery user frobnicate""#),
    Refusal(
      testDescription: "a password as an argument", arguments: ["user", "add", "u.json", "mike", "secret"],
      status: 64,
      error: "Unexpected argument 'secret'"),
    Refusal(
      testDescription: "no name", arguments: ["user", "add", "u.json"], status: 64,
      error: "Missing expected argument '<name>'"),
    Refusal(
      testDescription: "an invalid name", arguments: ["user", "add", "u.json", "_mike"], status: 64,
      error: "\"_mike\" can't be a user's name; use 1 to 128 bytes"),
    Refusal(
      testDescription: "an invalid role", arguments: ["user", "add", "u.json", "mike", "--role", "_root"],
      status: 64,
      error: "\"_root\" can't be a role; use 1 to 128 bytes"),
    Refusal(
      testDescription: "an empty password", arguments: ["user", "add", "u.json", "mike"], input: "\n",
      status: 65,
      error: "the password can't be used; use 1 to 1024 bytes"),
    Refusal(
      testDescription: "no password", arguments: ["user", "add", "u.json", "mike"], input: "", status: 65,
      error: "standard input has no password; set CDTQUERY_PASSWORD, or give --password-file"),
    Refusal(
      testDescription: "a password that is too long", arguments: ["user", "add", "u.json", "mike"],
      input: String(repeating: "x", count: 100_000), status: 65, error: "the password can't be used"),
    Refusal(
      testDescription: "no password file",
      arguments: ["user", "add", "u.json", "mike", "--password-file", "nowhere"], status: 66,
      error: "can't read nowhere: No such file or directory; check the path"),
    Refusal(
      testDescription: "a directory as the password file",
      arguments: ["user", "add", "u.json", "mike", "--password-file", "."], status: 74,
      error: "can't read .: Is a directory; check it"),
    Refusal(
      testDescription: "listing a missing file", arguments: ["user", "list", "u.json"], status: 66,
      error: "there is no file of users u.json; check the path"),
    Refusal(
      testDescription: "removing from a missing file", arguments: ["user", "remove", "u.json", "mike"],
      status: 66,
      error: "there is no file of users u.json; check the path"),
    Refusal(
      testDescription: "a directory that does not exist",
      arguments: ["user", "add", "nowhere/u.json", "mike"],
      status: 73, error: "can't write nowhere/u.json: No such file or directory; check the path"),
  ]

  @Test(arguments: refusals)
  func `refuses with an exit code and a remedy`(_ refusal: Refusal) throws {
    let result = try ToolRun.of(refusal.arguments, in: directory, input: refusal.input)
    #expect(result.errors.hasPrefix("cdtquery: \(refusal.error)"), "\(result.errors)")
    #expect(result.status == refusal.status)
    #expect(result.output == "")
    #expect(try directory.names() == [])
  }

  @Test func `a file with other content, or that others can read, is left alone`() throws {
    for (text, mode) in [("{}", 0o600), ("{\"users\":{}}", 0o644)] as [(String, mode_t)] {
      try directory.write(text, to: "u.json", mode: mode)
      for arguments in [["add", "u.json", "mike"], ["remove", "u.json", "mike"], ["list", "u.json"]] {
        #expect(
          try ToolRun.of(["user"] + arguments, in: directory, input: "x\n").status == 65, "\(arguments)")
      }
      #expect(try directory.text("u.json") == text)
    }
  }

  @Test func `a user that does not exist can't be removed`() throws {
    #expect(try run("user", "add", "u.json", "mike", input: "x\n").status == 0)
    let result = try run("user", "remove", "u.json", "zoe")
    #expect(
      result.errors
        == "cdtquery: there is no user \"zoe\" in u.json; \"cdtquery user list\" shows the names\n")
    #expect(result.status == 66)
  }

  @Test func `a password that is not UTF-8 is refused`() throws {
    let result = try ToolRun.shell("printf 'a\\xff' | cdtquery user add u.json mike", in: directory)
    #expect(
      result.errors
        == "cdtquery: the password from standard input is not UTF-8; convert it to UTF-8\n")
    #expect(result.status == 65)
  }

  @Test func `output that can't be written is a failure, unless the reader has seen enough`() throws {
    #expect(try run("user", "add", "u.json", "mike", input: "x\n").status == 0)
    let full = try run("user", "list", "u.json", output: "/dev/full")
    #expect(
      full.errors
        == "cdtquery: can't write the output: No space left on device; check its destination and try again\n")
    #expect(full.status == 74)
    let closed = try ToolRun.shell(
      "set -o pipefail; cdtquery user list u.json | true; cdtquery --help | true", in: directory)
    #expect(closed.status == 0 && closed.errors == "", "\(closed)")
  }
}
