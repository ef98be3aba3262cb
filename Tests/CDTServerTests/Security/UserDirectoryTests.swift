import CDTServer
import Glibc
import Testing

@Suite struct UserDirectoryTests {
  let files: ServerDirectory
  let file: UserFile
  let directory: UserDirectory

  init() throws {
    files = try ServerDirectory()
    file = UserFile(files.path("users.json"))
    _ = try file.setPassword("x", of: "mike", function: .cheap)
    directory = try UserDirectory(file, at: .zero)
  }

  private func names() throws -> [String] { try directory.current.get().users.all.map(\.name) }

  @Test func `the file is looked at once a second, by one caller`() {
    #expect(!directory.isDue(at: .milliseconds(999)))
    #expect(directory.isDue(at: .seconds(1)))
    #expect(!directory.isDue(at: .seconds(1)))
    #expect(!directory.isDue(at: .milliseconds(1_999)))
    #expect(directory.isDue(at: .seconds(2)))
  }

  @Test func `a change of the file is a new generation`() throws {
    #expect(directory.refresh() == nil)
    let before = try directory.current.get()
    _ = try file.setPassword("x", of: "zoe", function: .cheap)
    #expect(try names() == ["mike"])
    #expect(directory.refresh() == nil)
    #expect(try names() == ["mike", "zoe"])
    #expect(try directory.current.get().generation == before.generation + 1)
    #expect(directory.refresh() == nil)
    #expect(try directory.current.get().generation == before.generation + 1)
  }

  @Test func `nobody is known while the file is missing, which is reported once`() throws {
    try file.change { _ in }
    let text = try files.text("users.json")
    unlink(file.path)
    #expect(directory.refresh()?.code == .missing)
    #expect(throws: UserFileError.self) { try names() }
    #expect(directory.refresh() == nil)
    #expect(throws: UserFileError.self) { try names() }
    try files.write(text, to: "users.json")
    #expect(directory.refresh() == nil)
    #expect(try names() == ["mike"])
  }

  @Test func `a file that could not be read for a while is read again, although it is unchanged`() throws {
    rename(files.path, files.path + "-away")
    #expect(directory.refresh()?.code == .missing)
    rename(files.path + "-away", files.path)
    #expect(directory.refresh() == nil)
    #expect(try names() == ["mike"])
  }

  @Test func `nobody is known while others have access to the file`() throws {
    chmod(file.path, 0o644)
    #expect(directory.refresh()?.code == .exposed)
    #expect(throws: UserFileError.self) { try names() }
    chmod(file.path, 0o600)
    #expect(directory.refresh() == nil)
    #expect(try names() == ["mike"])
  }

  @Test func `nobody is known while the content is invalid`() throws {
    let text = try files.text("users.json")
    try files.write("{", to: "users.json")
    #expect(directory.refresh()?.code == .invalid)
    #expect(throws: UserFileError.self) { try names() }
    try files.write(text, to: "users.json")
    #expect(directory.refresh() == nil)
    #expect(try names() == ["mike"])
  }

  @Test func `a server does not start without its file`() {
    #expect(throws: UserFileError.self) {
      _ = try UserDirectory(UserFile(files.path("other.json")), at: .zero)
    }
  }

  @Test func `the decoy costs as much as the most expensive user`() throws {
    #expect(try directory.current.get().decoy.function == .cheap)
    let costly = PasswordHash.Function.scrypt(logN: 5, r: 2, p: 1)
    _ = try file.setPassword("x", of: "zoe", function: costly)
    _ = directory.refresh()
    #expect(try directory.current.get().decoy.function == costly)
    #expect(Users().decoy.function == .standard)
  }
}
