import CDTServer
import Testing

@Suite struct SecurityMessageTests {
  static let userFile: [(UserFileError, String)] = [
    (
      .missing("u.json"),
      #"there is no file of users u.json; check the path, or create it with "cdtquery user add""#
    ),
    (.notRegular("u.json"), "u.json is not a regular file; give the path of a file of users"),
    (
      .ownedByAnother("u.json"),
      "u.json belongs to another user of the system, who can change it; change its owner"
    ),
    (
      .sharedAccess("u.json"),
      #"u.json holds password hashes, but others can read or write it; run "chmod 600 u.json""#
    ),
    (.tooLarge("u.json", limit: 9), "u.json has more than 9 bytes; check the path, or remove users"),
    (.invalid("u.json", "why"), "u.json is not a file of users: why; fix it, or create a new one"),
    (
      .invalidName("a\nb"),
      #""a\nb" can't be a user's name; use 1 to 128 bytes without a colon or control characters, and no underscore at the beginning"#
    ),
    (
      .invalidRole("_a"),
      #""_a" can't be a role; use 1 to 128 bytes without control characters, and no underscore at the beginning, except in _admin and _metrics"#
    ),
    (.tooManyRoles("mike"), #""mike" has more than 100 roles; use fewer"#),
    (.invalidPassword, "the password can't be used; use 1 to 1024 bytes without control characters"),
    (
      .noSuchUser("mike", in: "u.json"),
      #"there is no user "mike" in u.json; "cdtquery user list" shows the names"#
    ),
    (.busy("u.json"), "another process is changing u.json; try again later"),
    (.unreadable("u.json", "why"), "can't read u.json: why; check the path and its permissions"),
    (.unwritable("u.json", "why"), "can't write u.json: why; check the path and its permissions"),
    (.noMemory("why"), "can't derive the password hash: why; free some memory and try again"),
  ]

  @Test(arguments: userFile)
  func `an error of the file of users ends with its remedy`(_ error: UserFileError, _ message: String) {
    #expect(error.description == message)
  }

  @Test func `an error of the configuration ends with its remedy`() {
    #expect(
      ServerError.invalidHostName("http://a").description
        == #""http://a" is not a host name or address; write it without scheme and port, as in db.example.com"#
    )
    #expect(
      ServerError.invalidOrigin("a/b").description
        == #""a/b" is not an origin; write scheme, host and port without a path, as in https://app.example.com or http://localhost:3000"#
    )
  }
}
