import CDTDatastore
import CDTJSON
import CDTSQLite
import Glibc
import Testing

@Suite struct CheckCommandTests {
  private static let index = "people/contacts/extensions/com.cloudant.sync.query/indexes.sqlite"

  private func workspace() throws -> Workspace {
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "age", "--name", "by_age")
    try space.run("attachment", "put", "people/contacts", "mike", "a", "-", input: "meow")
    return space
  }

  private func execute(_ sql: String, on file: String, in space: Workspace) throws {
    let connection = try Connection(path: space.path(file), mode: .readWrite)
    defer { connection.close() }
    try connection.execute(sql)
  }

  @Test func `nothing is found in a store that is whole`() throws {
    let space = try workspace()
    let result = try space.run("check", "people/contacts")
    #expect(result.output == "")
    #expect(result.errors == "cdtquery: no problems found\n")
    #expect(result.status == 0)
    let quiet = try space.run("check", "people/contacts", "--repair", "--quiet")
    #expect(quiet.output + quiet.errors == "")
    #expect(quiet.status == 0)
  }

  @Test func `an index that disagrees is found, and repaired when that is wanted`() throws {
    let space = try workspace()
    try execute("DELETE FROM entries_1 WHERE id = 'zoe'", on: Self.index, in: space)
    let finding = #"{"kind":"index","id":"zoe","finding":"the index \"by_age\" lacks a row""#
    for _ in 0..<2 {
      let result = try space.run("check", "people/contacts")
      #expect(result.output == finding + "}\n")
      #expect(result.errors == "cdtquery: 1 finding; --repair rebuilds the indexes\n")
      #expect(result.status == 1)
    }
    let repaired = try space.run("check", "people/contacts", "--repair")
    #expect(repaired.output == finding + ",\"repaired\":true}\n")
    #expect(repaired.errors == "cdtquery: 1 finding, 1 repaired\n")
    #expect(repaired.status == 1)
    #expect(try space.run("check", "people/contacts").status == 0)
    #expect(try space.run("find", "people/contacts", "{\"age\":12}", "--ids").output == "zoe\n")
  }

  @Test func `an index file that is gone is found and made anew`() throws {
    let space = try workspace()
    unlink(space.path(Self.index))
    let result = try space.run("check", "people/contacts", "--repair")
    #expect(
      result.output == #"{"kind":"index","finding":"the index file is missing","repaired":true}"# + "\n")
    #expect(result.status == 1)
    #expect(space.exists(Self.index))
    #expect(try space.run("check", "people/contacts").status == 0)
  }

  @Test func `what is wrong with documents and attachments is found, and left as it is`() throws {
    let space = try workspace()
    try execute("UPDATE documents SET body = '{' WHERE id = 'zoe'", on: "people/contacts/db.sync", in: space)
    try space.shell("echo wow! > people/contacts/attachments/*")
    let result = try space.run("check", "people/contacts", "--repair")
    let kinds = try result.lines.map { try JSONObject(parsing: $0)["kind"] }
    #expect(kinds.contains("body") && kinds.contains("attachment"), "\(result.output)")
    #expect(result.status == 1)
    #expect(try space.run("check", "people/contacts").status == 1)
  }

  @Test func `compact tells what it has freed`() throws {
    let space = try workspace()
    let result = try space.run("compact", "people/contacts")
    let report = try JSONObject(parsing: result.output)
    #expect(report["revisions"] == 1)
    #expect(report["attachments"] == 0)
    #expect(result.status == 0)
    try space.run("attachment", "delete", "people/contacts", "mike", "a")
    let second = try JSONObject(parsing: try space.run("compact", "people/contacts").output)
    #expect(second["revisions"] == 1)
    #expect(second["attachments"] == 1)
    #expect(try space.run("check", "people/contacts").status == 0)
    #expect(try space.run("find", "people/contacts", "{\"age\":36}", "--ids").output == "mike\n")
  }

  @Test(arguments: [
    "put people/contacts {}", "find people/contacts {}", "get people/contacts nobody",
    "index create people/contacts name", "changes people/contacts --follow --limit 1",
    "find people/contacts {\"$x\":1}",
  ])
  func `stores are closed at the end, whatever it is`(_ command: String) throws {
    let space = try workspace()
    try space.run(Built.cdtquery, command.split(separator: " ").map(String.init))
    #expect(space.exists("people/contacts/db.sync"))
    for file in ["people/contacts/db.sync", Self.index] {
      // The last connection to close takes the log with it.
      #expect(!space.exists(file + "-wal"), "\(file)")
      #expect(!space.exists(file + "-shm"), "\(file)")
    }
  }
}
