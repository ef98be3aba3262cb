import CDTJSON
import CDTPlatform
import CDTTestSupport
import Foundation
import Glibc
import Testing

@Suite struct StoreCommandTests {
  @Test func `info tells what a store holds`() throws {
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "age")
    try space.run("delete", "people/contacts", "zoe")
    let info = try JSONObject(parsing: try space.run("info", "people/contacts").output)
    #expect(info["name"] == "contacts")
    #expect(info["documents"] == 2)
    #expect(info["sequence"] == 4)
    #expect(info["indexes"] == ["age"])
    guard case .int(let bytes)? = info["bytes"] else {
      Issue.record("no size")
      return
    }
    #expect(bytes > 4096)
    // Design documents are counted.
    try space.run("put", "people/contacts", "_design/a", "-", input: "{}")
    #expect(try JSONObject(parsing: space.run("info", "people/contacts").output)["documents"] == 3)
  }

  @Test func `list names the stores, sorted, and nothing else`() throws {
    let space = try Workspace(Workspace.people)
    try space.run("import", "people/b", input: "")
    try space.run("import", "people/A", input: "")
    try space.write("", to: "people/file")
    #expect(try space.run("list", "people").output == "A\nb\ncontacts\n")
    let result = try space.run("list", "nowhere")
    #expect(result.errors == "cdtquery: there is no directory nowhere; check the path\n")
    #expect(result.status == 66)
    #expect(!space.exists("nowhere"))
  }

  @Test(arguments: ["list", "serve", "look"])
  func `a store is not taken for a directory of stores`(_ command: String) throws {
    let space = try Workspace(Workspace.people)
    let result = try space.run(Built.cdtquery, [command, "people/contacts"])
    #expect(result.status == 64)
    #expect(
      result.errors
        == "cdtquery: people/contacts is a store, not a directory of stores; name the directory that it is in, people\n"
    )
  }

  @Test(arguments: [
    ("people/contacts", "people/contacts"), ("people/contacts/", "people/contacts"),
    ("./people/contacts", "people/contacts"), ("contacts", "contacts"),
  ])
  func `a store is named by its path`(_ c: (argument: String, directory: String)) throws {
    let space = try Workspace()
    #expect(try space.run("import", c.argument, input: "{}").status == 0)
    #expect(space.exists("\(c.directory)/db.sync"))
  }

  @Test(arguments: ["user-tasks", "a$(b)+", "team%2F1"])
  func `a store of a server with a name of CouchDB is taken by every command`(_ name: String) throws {
    let space = try Workspace()
    let store = "people/\(name)"
    for (command, output) in [
      (["import", store, "-"], ""), (["list", "people"], "\(name)\n"), (["count", store], "3\n"),
      (
        ["find", store, #"{"age": 36}"#, "--fields", "name"],
        #"{"_id":"mike","_rev":"1-bf77fbecd21d59ff7cf34b1acbb7f4f0","name":"Mike"}"# + "\n"
      ),
      (["index", "create", store, "age"], "age\n"), (["conflicts", store], ""), (["check", store], ""),
      (["recover", store, "people/saved-1", "--quiet"], ""), (["count", "people/saved-1"], "3\n"),
      (["drop", "people/saved-1", "--yes"], ""), (["drop", store, "--yes"], ""), (["list", "people"], ""),
    ] {
      let result = try space.run(Built.cdtquery, command, input: Array(Workspace.people.utf8))
      #expect(result.status == 0, "\(command): \(result.errors)")
      #expect(result.output == output, "\(command)")
    }
  }

  static let refused = [
    (
      store: "people/nobody", status: Int32(66),
      error:
        "there is no store people/nobody; \"cdtquery list people\" lists the stores there, or create it with import"
    ),
    (
      store: "nowhere/contacts", status: 66,
      error: "there is no store nowhere/contacts; check the path, or create it with import"
    ),
    (
      store: "nobody", status: 66,
      error: "there is no store nobody; \"cdtquery list .\" lists the stores there, or create it with import"
    ),
    (
      store: "people/no.such", status: 64,
      error:
        "\"no.such\" is not a valid name of a store; start with a letter and use only letters, digits and _, or only lower-case letters, digits and _$()+-/, where / is %2F in a path"
    ),
    (
      store: "people/..", status: 64,
      error:
        "\"..\" is not a valid name of a store; start with a letter and use only letters, digits and _, or only lower-case letters, digits and _$()+-/, where / is %2F in a path"
    ),
    (store: "", status: 64, error: "The value '' is invalid for '<store>'"),
    (store: "/", status: 64, error: "The value '/' is invalid for '<store>'"),
  ]

  @Test(
    arguments: refused,
    [
      "find", "count", "info", "export", "get", "drop", "index list", "index create", "changes", "conflicts",
      "resolve", "attachment list", "compact", "check",
    ])
  func `a store that is not there is refused by every command`(
    _ c: (store: String, status: Int32, error: String), _ command: String
  ) throws {
    let space = try Workspace(Workspace.people)
    let rest =
      [
        "find": ["{}"], "get": ["mike"], "drop": ["--yes"], "index create": ["age"],
        "resolve": ["mike", "--pick", "1-a"], "attachment list": ["mike"],
      ][command] ?? []
    let result = try space.run(
      Built.cdtquery, command.split(separator: " ").map(String.init) + [c.store] + rest)
    #expect(result.errors.split(separator: "\n").first.map(String.init) == "cdtquery: \(c.error)")
    #expect(result.status == c.status)
    #expect(!space.exists("nowhere"))
  }

  // MARK: drop

  @Test func `drop with --yes deletes the store`() throws {
    let space = try Workspace(Workspace.people)
    let result = try space.run("drop", "people/contacts", "--yes")
    #expect(result.status == 0)
    #expect(result.output + result.errors == "")
    #expect(!space.exists("people/contacts"))
    #expect(try space.run("drop", "people/contacts", "--yes").status == 66)
  }

  @Test func `drop without a terminal and without --yes deletes nothing`() throws {
    let space = try Workspace(Workspace.people)
    let result = try space.run("drop", "people/contacts", input: "contacts\n")
    #expect(
      result.errors
        == "cdtquery: can't ask for confirmation without a terminal; to delete the store, add --yes\n")
    #expect(result.status == 64)
    #expect(space.exists("people/contacts/db.sync"))
  }

  @Test func `a store that is damaged can be dropped`() throws {
    let space = try Workspace(Workspace.people)
    let file = space.path("people/contacts/db.sync")
    var data = try Data(contentsOf: URL(filePath: file))
    data.replaceSubrange(0..<4_096, with: Data(repeating: 7, count: 4_096))
    try data.write(to: URL(filePath: file))
    #expect(try space.run("count", "people/contacts").status == 74)
    #expect(try space.run("drop", "people/contacts", "--yes").status == 0)
    #expect(!space.exists("people/contacts"))
  }

  @Test(arguments: [
    ("CREATE TABLE precious(a); INSERT INTO precious VALUES(1)", "is an SQLite database but not a datastore"),
    (nil, "has no files of a datastore"),
  ])
  func `a file of another program is neither dropped nor recovered`(
    _ c: (sql: String?, reason: String)
  ) throws {
    let space = try Workspace()
    try FileManager.default.createDirectory(
      atPath: space.path("d/x"), withIntermediateDirectories: true)
    try space.write("my notes", to: "d/x/notes.txt")
    if let sql = c.sql {
      try space.shell("sqlite3 d/x/db.sync '\(sql)'")
    } else {
      try space.write("my notes", to: "d/x/db.sync")
    }
    let before = try Data(contentsOf: URL(filePath: space.path("d/x/db.sync")))
    for arguments in [["drop", "d/x", "--yes"], ["recover", "d/x", "d/saved"]] {
      let result = try space.run(Built.cdtquery, arguments)
      #expect(result.status == 74)
      #expect(result.errors.contains("db.sync \(c.reason)"), "\(result.errors)")
    }
    #expect(try Data(contentsOf: URL(filePath: space.path("d/x/db.sync"))) == before)
    #expect(try Files.names(in: space.path("d")) == ["x"])
  }

  @Test func `a store whose path is too long for SQLite is refused whole`() throws {
    let space = try Workspace()
    var directory = space.directory
    while directory.utf8.count < 420 { directory += "/" + String(repeating: "e", count: 30) }
    for length in [470, 505] {
      let long = directory + "/" + String(repeating: "f", count: length - directory.utf8.count - 1)
      try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: true)
      let result = try space.run("import", "\(long)/s", input: "{}")
      #expect(result.status == 73)
      #expect(result.errors.contains("choose a directory with a shorter path"), "\(result.errors)")
      #expect(try Files.names(in: long) == [])
    }
    // Everything works at the longest path.
    let longest = 504 - "/extensions/com.cloudant.sync.query/indexes.sqlite.new".utf8.count - "/s".utf8.count
    let parent = directory + "/" + String(repeating: "g", count: longest - directory.utf8.count - 1)
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    #expect(try space.run("import", "\(parent)/s", input: "{}").status == 0)
    #expect(try space.run("index", "create", "\(parent)/s", "n").status == 0)
    #expect(try space.run("find", "\(parent)/s", #"{"n":{"$exists":false}}"#, "--ids").lines.count == 1)
    #expect(try space.run("import", "\(parent)/ss", input: "{}").status == 73)
  }

  @Test(arguments: [("contacts\n", Int32(0)), ("no\n", 64), ("\n", 64), ("\u{4}", 64)])
  func `drop asks on a terminal`(_ c: (answer: String, status: Int32)) throws {
    let space = try Workspace(Workspace.people)
    let terminal = try Terminal()
    let program = try Program.start(
      Built.cdtquery, ["drop", "people/contacts"], directory: space.directory,
      input: .descriptor(terminal.program), output: .file("/dev/null"),
      errors: .descriptor(terminal.program))
    close(terminal.program)
    let question = try Descriptor.read(from: terminal.person) { $0.hasSuffix(": ") }
    #expect(question == "Delete contacts with 3 documents? Type its name to confirm: ")
    try Descriptor.write(c.answer, to: terminal.person)
    let rest = try Descriptor.read(from: terminal.person)
    close(terminal.person)
    #expect(program.wait() == c.status)
    #expect(
      rest.contains(
        "the name does not match, so nothing was deleted; try again"
      ) == (c.status != 0))
    #expect(space.exists("people/contacts") == (c.status != 0))
  }
}
