import CDTSQLite
import CDTTestSupport
import FoundationEssentials
import Glibc
import Synchronization
import Testing

/// What the machine does is told as that: the exit code, and a message that names the file and the remedy.
@Suite struct FailureTests {
  private static let index = "people/contacts/extensions/com.cloudant.sync.query"

  private static let commands = [
    #"find people/contacts {"age":36}"#, "count people/contacts {}", "get people/contacts mike",
    "check people/contacts", "compact people/contacts", "info people/contacts", "export people/contacts",
    "index list people/contacts", "index update people/contacts", "put people/contacts {}",
    "attachment get people/contacts mike x",
  ]

  /// People with an index and an attachment.
  private static func space() throws -> Workspace {
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "age")
    try space.run("attachment", "put", "people/contacts", "mike", "x", "-", input: "hi")
    return space
  }

  private static func run(_ command: String, in space: Workspace) throws -> Workspace.Result {
    try space.run(Built.cdtquery, command.split(separator: " ").map(String.init))
  }

  private static func makeFIFO(_ path: String) {
    try? FileManager.default.removeItem(atPath: path)
    #expect(mkfifo(path, 0o600) == 0)
  }

  private static func makeDirectory(_ path: String) throws {
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  // MARK: Other kinds of files

  @Test(arguments: ["db.sync", "db.sync-wal", "db.sync-shm"], [true, false])
  func `a directory or a FIFO in place of a file of the documents is named`(_ name: String, isFIFO: Bool)
    throws
  {
    let space = try Self.space()
    let path = space.path("people/contacts/\(name)")
    if isFIFO { Self.makeFIFO(path) } else { try Self.makeDirectory(path) }
    for command in Self.commands {
      let result = try Self.run(command, in: space)
      #expect(
        result.errors == "cdtquery: people/contacts/\(name) is not a regular file; check the path\n",
        "\(command)")
      #expect(result.status == (command.hasPrefix("put") ? 73 : 74), "\(command)")
      #expect(result.output == "", "\(command)")
    }
  }

  @Test(arguments: ["attachments", "extensions"])
  func `a FIFO in place of a directory is named`(_ name: String) throws {
    let space = try Self.space()
    Self.makeFIFO(space.path("people/contacts/\(name)"))
    for command in Self.commands {
      let result = try Self.run(command, in: space)
      #expect(
        result.errors
          == "cdtquery: people/contacts/\(name) is not a directory; move the file or choose another directory\n"
      )
      #expect(result.status == (command.hasPrefix("put") ? 73 : 74), "\(command)")
    }
  }

  @Test(arguments: ["indexes.sqlite", "indexes.sqlite-wal", "indexes.sqlite-shm"], [true, false])
  func `documents are read and written whatever is in place of the index file`(_ name: String, isFIFO: Bool)
    throws
  {
    let space = try Self.space()
    let path = space.path("\(Self.index)/\(name)")
    if isFIFO { Self.makeFIFO(path) } else { try Self.makeDirectory(path) }
    let found = try space.run("find", "people/contacts", #"{"age":36}"#, "--ids")
    #expect(found.output == "mike\n")
    #expect(found.status == 0)
    #expect(try space.run("export", "people/contacts").lines.count == 3)
    // A FIFO is replaced by a new index file in the background; a directory is not removed.
    if !isFIFO {
      let check = try space.run("check", "people/contacts")
      #expect(check.output.contains(#""kind":"index""#), "\(check.output)")
      #expect(check.status == 1)
      let update = try space.run("index", "update", "people/contacts")
      #expect(update.errors.contains("/\(name)"), "\(update.errors)")
      #expect(update.status == 74)
    }
    #expect(try space.run("put", "people/contacts", "{}").status == 0)
  }

  @Test(arguments: ["indexes.json", "build.lock"])
  func `a directory in place of a file beside the index file is named`(_ name: String) throws {
    let space = try Self.space()
    try Self.makeDirectory(space.path("\(Self.index)/\(name)"))
    #expect(try space.run("find", "people/contacts", #"{"age":36}"#, "--ids").output == "mike\n")
    let command = name == "build.lock" ? "index update people/contacts" : "check people/contacts"
    let result = try Self.run(command, in: space)
    #expect(result.errors.contains("\(Self.index)/\(name)"), "\(result.errors)")
    #expect(result.status == 74)
  }

  @Test func `a FIFO in place of a draft of the definitions is replaced`() throws {
    let space = try Self.space()
    Self.makeFIFO(space.path("\(Self.index)/indexes.json.new"))
    #expect(try space.run("index", "create", "people/contacts", "name").status == 0)
    #expect(!space.exists("\(Self.index)/indexes.json.new"))
  }

  @Test func `a FIFO among golden files is named`() throws {
    let space = try Workspace()
    try Self.makeDirectory(space.path("tests"))
    Self.makeFIFO(space.path("tests/a.test"))
    let result = try space.run("test", "tests")
    #expect(
      result.errors
        == "cdtquery: tests/a.test is not a file; give it another name, or name the files to test\n")
    #expect(result.status == 66)
  }

  // MARK: Permissions

  /// Whether a program can be run that permissions hold back, also as root.
  static let canDropPrivileges: Bool = {
    guard let space = try? Workspace() else { return false }
    return (try? space.shell("\(unprivileged) true"))?.status == 0
  }()

  private static let unprivileged = "setpriv --bounding-set=-dac_override,-dac_read_search,-fowner"

  @Test(
    .enabled(if: canDropPrivileges, "setpriv can't drop privileges here"),
    arguments: ["people", "people/contacts", "people/contacts/db.sync"])
  func `a file that can't be read is there, and not missing`(_ name: String) throws {
    let space = try Self.space()
    chmod(space.path(name), 0)
    defer { chmod(space.path(name), 0o700) }
    for command in Self.commands where !command.hasPrefix("put") {
      let result = try space.shell("\(Self.unprivileged) cdtquery \(command.replacing("\"", with: "\\\""))")
      #expect(result.errors.contains("Permission denied"), "\(command): \(result.errors)")
      #expect(!result.errors.contains("Cocoa"), "\(command): \(result.errors)")
      #expect(result.status == 74, "\(command)")
    }
  }

  @Test(.enabled(if: canDropPrivileges, "setpriv can't drop privileges here"))
  func `queries go on without an index file that can't be read or written`() throws {
    for mode: (directory: mode_t, file: mode_t) in [(0o500, 0o400), (0o700, 0), (0, 0o600)] {
      let space = try Self.space()
      chmod(space.path("\(Self.index)/indexes.sqlite"), mode.file)
      chmod(space.path(Self.index), mode.directory)
      defer { chmod(space.path(Self.index), 0o700) }
      let found = try space.shell("\(Self.unprivileged) cdtquery find people/contacts '{\"age\":36}' --ids")
      #expect(found.output == "mike\n", "\(mode): \(found.errors)")
      #expect(found.status == 0)
      let put = try space.shell("\(Self.unprivileged) cdtquery put people/contacts '{}'")
      #expect(put.status == 0, "\(mode): \(put.errors)")
      let update = try space.shell("\(Self.unprivileged) cdtquery index rebuild people/contacts")
      #expect(update.status == 74, "\(mode): \(update.errors)")
    }
  }

  @Test(.enabled(if: canDropPrivileges, "setpriv can't drop privileges here"))
  func `a store of another user can be read, and a write says that it can only be read`() throws {
    let space = try Self.space()
    _ = try space.shell("chown -R 1 people; chmod -R u=rwX,go=rX people")
    for command in Self.commands {
      let result = try space.shell(
        "\(Self.unprivileged) cdtquery \(command.replacing("\"", with: "\\\""))")
      if ["put", "compact", "index update"].contains(where: command.hasPrefix) {
        #expect(result.errors.contains("people/contacts can only be read"), "\(command): \(result.errors)")
        #expect(result.status == 74, "\(command)")
      } else {
        #expect(result.status == 0, "\(command): \(result.errors)")
        // A store that can be written to has more files while it is open.
        if command.hasPrefix("info") { continue }
        #expect(try result.output == Self.run(command, in: space).output, "\(command)")
      }
    }
  }

  @Test func `an index file that another process has locked is busy`() throws {
    let space = try Self.space()
    let file = try Connection(path: space.path("\(Self.index)/indexes.sqlite"), mode: .readWrite)
    defer { file.close() }
    try file.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE locked (x)")
    for command in ["compact people/contacts", "index update people/contacts"] {
      let result = try Self.run(command, in: space)
      #expect(result.errors == "cdtquery: another process is writing to people/contacts; try again later\n")
      #expect(result.status == 69)
    }
  }

  // MARK: Deleted meanwhile

  @Test func `a store that is deleted while a command runs is missing, and nothing else`() throws {
    let space = try Self.space()
    try space.write(Workspace.people, to: "people.jsonl")
    let (store, documents) = (space.path("people/contacts"), space.path("people.jsonl"))
    let commands = Self.commands + ["changes people/contacts", "export people/contacts --attachments"]
    let isDone = Atomic(false)
    let missing = Atomic(0)
    onThreads(3) { thread in
      do {
        let space = try Workspace()
        if thread == 0 {
          defer { isDone.store(true, ordering: .relaxed) }
          for _ in 0..<20 {
            try space.shell(
              """
              cdtquery import \(store) \(documents); cdtquery index create \(store) age
              echo hi | cdtquery attachment put \(store) mike x -; cdtquery drop \(store) --yes
              """)
          }
          return
        }
        while !isDone.load(ordering: .relaxed) {
          for command in commands {
            let result = try Self.run(command.replacing("people/contacts", with: store), in: space)
            #expect(
              [0, 66].contains(result.status),
              "\(command): \(result.status) \(result.output) \(result.errors)")
            if result.status == 66 { missing.add(1, ordering: .relaxed) }
          }
        }
      } catch {
        Issue.record(error)
      }
    }
    #expect(missing.load(ordering: .relaxed) > 0)
  }

  // MARK: Input

  @Test func `an argument that is not UTF-8 is refused, not changed`() throws {
    let space = try Workspace(Workspace.people)
    for command in [
      #"get people/contacts $'a\xff'"#, #"put people/contacts $'a\xff' '{}'"#, #"list $'\xc3('"#,
      #"find people/contacts $'{"a": "\xff"}'"#,
    ] {
      let result = try space.shell("cdtquery \(command)")
      #expect(result.errors.hasPrefix("cdtquery: argument "), "\(result.errors)")
      #expect(result.errors.contains("is not UTF-8; convert it"), "\(result.errors)")
      #expect(result.status == 64)
    }
    #expect(try space.run("count", "people/contacts").output == "3\n")
  }

  @Test func `a golden file that is not UTF-8, or can't be read, is named`() throws {
    let space = try Workspace()
    try space.write([0x3D, 0x3D, 0x20, 0xFF, 0x0A], to: "bad.test")
    let bad = try space.run("test", "bad.test")
    #expect(bad.errors == "cdtquery: bad.test is not UTF-8; convert it to UTF-8\n")
    #expect(bad.status == 65)
    try Self.makeDirectory(space.path("goldens"))
    try Self.makeDirectory(space.path("goldens/directory.test"))
    let directory = try space.run("test", "goldens")
    #expect(
      directory.errors == "cdtquery: can't read goldens/directory.test: Is a directory; check the path\n")
    #expect(directory.status == 74)
  }

  @Test func `an index that is asked for but does not exist is an error of every command`() throws {
    let space = try Workspace(Workspace.people)
    let request = #"{"selector":{},"use_index":"nope"}"#
    for hasIndex in [false, true] {
      if hasIndex { try space.run("index", "create", "people/contacts", "age") }
      let error =
        "cdtquery: use_index: there is no index \"nope\"; there are \(hasIndex ? "\"age\"" : "none")\n"
      for command in [["find"], ["count"], ["explain"], ["find", "--count"], ["find", "--ids"]] {
        let result = try space.run(Built.cdtquery, command + ["people/contacts", request])
        #expect(result.errors == error, "\(command)")
        #expect(result.status == 65, "\(command)")
      }
    }
  }
}
