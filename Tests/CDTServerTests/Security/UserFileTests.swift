import CDTServer
import CDTTestSupport
import Glibc
import Testing

@Suite struct UserFileTests {
  let directory: ServerDirectory
  let file: UserFile

  init() throws {
    directory = try ServerDirectory()
    file = UserFile(directory.path("users.json"))
  }

  func error<R>(_ body: () throws -> R) -> UserFileError? {
    #expect(throws: UserFileError.self) { _ = try body() }
  }

  @Test func `a new file has its users, and nobody else can read it`() throws {
    let before = umask(0)
    defer { umask(before) }
    #expect(try file.setPassword("secret", of: "mike", roles: ["_admin", "team"], function: .cheap))
    #expect(directory.mode("users.json") == 0o600)
    #expect(directory.mode("users.json.lock") == 0o600)
    let user = try #require(try file.read().users["mike"])
    #expect(user.roles == ["_admin", "team"])
    #expect(try user.password.verifies("secret"))
    #expect(try !directory.text("users.json").contains("secret"))
  }

  @Test func `a new password replaces the old one and keeps the roles, unless roles are given`() throws {
    _ = try file.setPassword("one", of: "mike", roles: ["team"], function: .cheap)
    #expect(try !file.setPassword("two", of: "mike", function: .cheap))
    let user = try #require(try file.read().users["mike"])
    #expect(try user.password.verifies("two"))
    #expect(try !user.password.verifies("one"))
    #expect(user.roles == ["team"])
    _ = try file.setPassword("two", of: "mike", roles: [], function: .cheap)
    #expect(try file.read().users["mike"]?.roles == [])
  }

  @Test func `users are removed`() throws {
    _ = try file.setPassword("x", of: "mike", function: .cheap)
    _ = try file.setPassword("x", of: "zoe", function: .cheap)
    try file.remove("mike")
    #expect(try file.read().users.all.map(\.name) == ["zoe"])
    #expect(error { try file.remove("mike") }?.code == .noSuchUser)
  }

  @Test func `removing from a missing file makes none`() throws {
    #expect(error { try file.remove("mike") }?.code == .missing)
    #expect(try directory.names() == [])
  }

  @Test func `names and roles that differ in bytes are different`() throws {
    _ = try file.setPassword("one", of: "jos\u{E9}", function: .cheap)
    #expect(try file.setPassword("two", of: "jose\u{301}", function: .cheap))
    let users = try file.read().users
    #expect(users.all.count == 2)
    #expect(try users["jos\u{E9}"]?.password.verifies("one") == true)
  }

  @Test(arguments: [0o640, 0o620, 0o604, 0o602, 0o610, 0o601, 0o644, 0o666] as [mode_t])
  func `a file to which others have access is neither read nor changed`(_ mode: mode_t) throws {
    _ = try file.setPassword("secret", of: "mike", function: .cheap)
    let before = try directory.text("users.json")
    chmod(file.path, mode)
    #expect(error { try file.read() }?.code == .exposed)
    #expect(error { try file.setPassword("other", of: "mike", function: .cheap) }?.code == .exposed)
    #expect(try directory.text("users.json") == before)
    chmod(file.path, 0o600)
    #expect(try file.read().users.all.count == 1)
  }

  // Only root can give a file to someone else.
  @Test(.enabled(if: geteuid() == 0)) func `a file of another user of the system is not read`() throws {
    _ = try file.setPassword("secret", of: "mike", function: .cheap)
    chown(file.path, 65_534, 65_534)
    #expect(error { try file.read() } == .ownedByAnother(file.path))
  }

  @Test func `a directory, a FIFO and a device are refused as file of users`() throws {
    #expect(error { try UserFile(directory.path).read() }?.code == .exposed)
    mkfifo(file.path, 0o600)
    #expect(error { try file.read() }?.code == .exposed)
    #expect(error { try UserFile("/dev/zero").read() }?.code == .exposed)
  }

  @Test func `a missing file, and a path with NUL, are errors`() {
    #expect(error { try file.read() }?.code == .missing)
    #expect(error { try UserFile("a\0b").read() }?.code == .unreadable)
  }

  @Test func `a file without an end is not read into memory`() throws {
    try directory.write("", to: "users.json")
    truncate(file.path, 1 << 40)
    #expect(error { try file.read() }?.code == .invalid)
  }

  @Test func `a symbolic link stays, and the file where it leads is changed`() throws {
    _ = try file.setPassword("x", of: "mike", function: .cheap)
    symlink(file.path, directory.path("link"))
    _ = try UserFile(directory.path("link")).setPassword("x", of: "zoe", function: .cheap)
    #expect(try file.read().users.all.map(\.name) == ["mike", "zoe"])
    #expect(try directory.names() == ["link", "users.json", "users.json.lock"])
  }

  @Test func `files of an interrupted change are not used`() throws {
    try directory.write("rubbish", to: "users.json.new", mode: 0o666)
    _ = try file.setPassword("x", of: "mike", function: .cheap)
    #expect(directory.mode("users.json") == 0o600)
    #expect(try directory.names() == ["users.json", "users.json.lock"])
  }

  @Test func `a failed change leaves the file as it is`() throws {
    struct Stop: Error {}
    _ = try file.setPassword("x", of: "mike", function: .cheap)
    let before = try directory.text("users.json")
    #expect(throws: Stop.self) {
      try file.change { users in
        _ = users.remove("mike")
        throw Stop()
      }
    }
    #expect(try directory.text("users.json") == before)
  }

  @Test func `changes at the same time are all kept`() async throws {
    let file = file
    let password = try PasswordHash("x", function: .cheap)
    let failures = Gathered<String>()
    await onThreads(4) { worker in
      do {
        for number in 0..<10 {
          try file.change { users in
            users.set(try User(name: "user-\(worker)-\(number)", password: password, roles: []))
            // Another thread could read the file in the meantime.
            usleep(500)
          }
        }
      } catch {
        failures.append("\(error)")
      }
    }
    #expect(failures.all == [])
    #expect(try file.read().users.all.count == 40)
  }

  @Test func `a change that waits too long for another gives up`() throws {
    try file.change { _ in
      let error = error { try UserFile(file.path).change(waitingUpTo: .milliseconds(5)) { _ in } }
      #expect(error?.code == .busy)
    }
  }

  @Test func `a directory that does not exist can't hold the file`() {
    let file = UserFile(directory.path("nowhere/users.json"))
    #expect(error { try file.setPassword("x", of: "mike", function: .cheap) }?.code == .unwritable)
  }

  @Test(arguments: [
    "", "_mike", "mi:ke", "mi\nke", "mike\0", "\u{7F}", "\u{85}", String(repeating: "a", count: 129),
  ])
  func `refuses a name`(_ name: String) throws {
    #expect(error { try file.setPassword("x", of: name, function: .cheap) } == .invalidName(name))
    #expect(try directory.names() == [])
  }

  @Test(arguments: ["", "_replicator", "_", "_admin ", "a\tb", String(repeating: "a", count: 129)])
  func `refuses a role`(_ role: String) throws {
    let refused = error { try file.setPassword("x", of: "mike", roles: ["team", role], function: .cheap) }
    #expect(refused == .invalidRole(role))
    #expect(try directory.names() == [])
  }

  @Test func `accepts the longest names and roles, spaces and other scripts`() throws {
    for name in [String(repeating: "a", count: 128), "Mike Smith", "Дмитрий", "mike@example.com", "a_b"] {
      _ = try file.setPassword("x", of: name, roles: [name, "_admin", "a:b"], function: .cheap)
      #expect(try file.read().users[name]?.roles == [name, "_admin", "a:b"])
    }
  }

  @Test func `roles are limited in number, and not repeated`() throws {
    let roles = (0...User.maximumRoles).map { "role\($0)" }
    #expect(
      error { try file.setPassword("x", of: "mike", roles: roles, function: .cheap) } == .tooManyRoles("mike")
    )
    _ = try file.setPassword("x", of: "mike", roles: ["a", "b", "a"], function: .cheap)
    #expect(try file.read().users["mike"]?.roles == ["a", "b"])
  }

  @Test(arguments: ["", "a\nb", "a\0", String(repeating: "a", count: 1_025)])
  func `refuses a password`(_ password: String) throws {
    #expect(error { try file.setPassword(password, of: "mike", function: .cheap) } == .invalidPassword)
    #expect(try directory.names() == [])
  }

  struct Content: Sendable, CustomTestStringConvertible {
    let testDescription, text, reason: String
  }
  static let hash = "$scrypt$ln=4,r=1,p=1$MDEyMzQ1Njc4$MDEyMzQ1Njc4OTAxMjM0NTY"
  static let layout = "it is not an object with the one member \"users\", an object"
  static let member = "user \"a\": not an object with \"password\", a string, and \"roles\", an array"
  static let contents = [
    Content(testDescription: "nothing", text: "", reason: "line 1, column 1: the text is empty"),
    Content(testDescription: "no object", text: "[]", reason: "line 1, column 1: expected an object"),
    Content(testDescription: "no users", text: "{}", reason: layout),
    Content(testDescription: "users that are a list", text: #"{"users":[]}"#, reason: layout),
    Content(testDescription: "an unknown member", text: #"{"users":{},"x":1}"#, reason: layout),
    Content(testDescription: "a user that is no object", text: #"{"users":{"a":1}}"#, reason: member),
    Content(testDescription: "no roles", text: #"{"users":{"a":{"password":"\#(hash)"}}}"#, reason: member),
    Content(
      testDescription: "a misspelled member",
      text: #"{"users":{"a":{"password":"\#(hash)","roles":[],"role":["_admin"]}}}"#, reason: member),
    Content(
      testDescription: "a role that is no string",
      text: #"{"users":{"a":{"password":"\#(hash)","roles":[1]}}}"#,
      reason: "user \"a\": a role is not a string"),
    Content(
      testDescription: "a password in the clear", text: #"{"users":{"a":{"password":"secret","roles":[]}}}"#,
      reason: "user \"a\": \"password\" is not a hash of a known kind and cost"),
    Content(
      testDescription: "a hash that takes 16 GiB",
      text:
        #"{"users":{"a":{"password":"$scrypt$ln=24,r=8,p=1$MDEyMzQ1Njc4$MDEyMzQ1Njc4OTAxMjM0NTY","roles":[]}}}"#,
      reason: "user \"a\": \"password\" is not a hash of a known kind and cost"),
    Content(
      testDescription: "a reserved name", text: #"{"users":{"_a":{"password":"\#(hash)","roles":[]}}}"#,
      reason: "user \"_a\": \(UserFileError.invalidName("_a"))"),
    Content(
      testDescription: "a name twice",
      text:
        #"{"users":{"a":{"password":"\#(hash)","roles":[]},"a":{"password":"\#(hash)","roles":["_admin"]}}}"#,
      reason: "the object has two members named \"a\""),
  ]

  @Test(arguments: contents)
  func `refuses a content with its reason, and does not overwrite it`(_ content: Content) throws {
    try directory.write(content.text, to: "users.json")
    let refused = error { try file.read() }
    #expect(refused?.code == .invalid)
    let message = try #require(refused?.description)
    #expect(message.hasPrefix("\(file.path) is not a file of users: "), "\(message)")
    #expect(message.contains(content.reason), "\(message)")
    #expect(error { try file.setPassword("x", of: "mike", function: .cheap) } == refused)
    #expect(try directory.text("users.json") == content.text)
  }
}
