import CDTDatastore
import CDTJSON
import CDTSQLite
import Foundation
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

  /// The last line, which also names a SQLite that has a bug.
  private static func summary(_ text: String) -> String {
    "cdtquery: \(text)\(SQLiteLibrary.warning.map { "; \($0)" } ?? "")\n"
  }

  @Test func `nothing is found in a store that is whole`() throws {
    let space = try workspace()
    let result = try space.run("check", "people/contacts")
    #expect(result.output == "")
    #expect(result.errors == Self.summary("no problems found"))
    #expect(result.status == 0)
    let quiet = try space.run("check", "people/contacts", "--repair", "--quiet")
    #expect(quiet.output + quiet.errors == "")
    #expect(quiet.status == 0)
  }

  @Test func `functions of design documents are listed, and not as problems`() throws {
    let space = try workspace()
    let functions = #"{"validate_doc_update":"function() {}","views":{"a":{"map":"x"},"b":{"map":"x"}}}"#
    try space.run("put", "people/contacts", "_design/v", functions)
    let result = try space.run("check", "people/contacts")
    let view = #"declare the fields in a view of the language \"query\"."#
    let lines = [
      #"`validate_doc_update` is stored and never run, as there is no JavaScript; write a rule of the language \"query\"."#,
      "`views.a` is stored and never run, as there is no JavaScript; \(view)",
      "`views.b` is stored and never run, as there is no JavaScript; \(view)",
    ].map { #"{"kind":"design","id":"_design/v","finding":"\#($0)"}"# + "\n" }
    #expect(result.output == lines.joined())
    #expect(result.errors == Self.summary("no problems found"))
    #expect(result.status == 0)
  }

  @Test func `an index that disagrees is found, and repaired when that is wanted`() throws {
    let space = try workspace()
    try execute("DELETE FROM entries_1 WHERE instr(key, CAST('zoe' AS BLOB))", on: Self.index, in: space)
    let finding = #"{"kind":"index","id":"zoe","finding":"the index \"by_age\" lacks a row""#
    for _ in 0..<2 {
      let result = try space.run("check", "people/contacts")
      #expect(result.output == finding + "}\n")
      #expect(result.errors == Self.summary("1 finding; --repair rebuilds the indexes"))
      #expect(result.status == 1)
    }
    let repaired = try space.run("check", "people/contacts", "--repair")
    #expect(repaired.output == finding + ",\"repaired\":true}\n")
    #expect(repaired.errors == Self.summary("1 finding, 1 repaired"))
    #expect(repaired.status == 1)
    #expect(try space.run("check", "people/contacts").status == 0)
    #expect(try space.run("find", "people/contacts", "{\"age\":12}", "--ids").output == "zoe\n")
  }

  /// It closes the store last, and copies the log into the file without checksums.
  @Test func `a store that sqlite3 reads during a write stays readable, and is repaired`() throws {
    let space = try Workspace(Workspace.people)
    let lines = (0..<300).map { #"{"_id":"d\#($0)","text":"some words"}"# + "\n" }.joined()
    try space.write(lines, to: "more.jsonl")
    // A reader of the first state lets no earlier process empty the log.
    try space.shell(
      """
      mkfifo first second
      sqlite3 people/contacts/db.sync < first > one.txt & exec 3> first
      echo 'BEGIN; SELECT count(*) FROM documents;' >&3; until [ -s one.txt ]; do sleep 0.02; done
      cdtquery import people/contacts more.jsonl
      sqlite3 people/contacts/db.sync < second > two.txt & exec 4> second
      echo 'BEGIN; SELECT count(*) FROM documents;' >&4; until [ -s two.txt ]; do sleep 0.02; done
      cdtquery put people/contacts new '{"n":1}'
      exec 3>&-; exec 4>&-; wait
      """)
    #expect(!space.exists("people/contacts/db.sync-wal"))
    let finding = #"{"kind":"checksum","finding":""#
    for _ in 0..<2 {
      let check = try space.run("check", "people/contacts")
      #expect(check.lines.count == 1 && check.output.hasPrefix(finding), "\(check.output)")
      #expect(check.errors == Self.summary("1 finding; --repair writes the checksums"))
      #expect(check.status == 1)
    }
    let exported = try space.run("export", "people/contacts")
    #expect(exported.lines.count == 304)
    #expect(exported.status == 0)
    #expect(exported.errors.hasPrefix("cdtquery: another program, such as sqlite3, has copied "))
    let recovered = try space.run("recover", "people/contacts", "people/saved")
    #expect(recovered.errors == "cdtquery: saved 304 documents, 304 revisions, 0 attachments; 0 losses\n")
    let repaired = try space.run("check", "people/contacts", "--repair")
    #expect(repaired.output.hasSuffix(#","repaired":true}"# + "\n"))
    #expect(repaired.errors == Self.summary("1 finding, 1 repaired"))
    #expect(try space.run("check", "people/contacts").errors == Self.summary("no problems found"))
    #expect(try space.run("count", "people/contacts").errors == "")
  }

  @Test func `a damaged log of a killed process is a finding`() throws {
    let space = try Workspace(Workspace.people)
    // A reader keeps the log, and is killed.
    try space.shell(
      """
      mkfifo first
      sqlite3 people/contacts/db.sync < first > one.txt & reader=$!; exec 3> first
      echo 'BEGIN; SELECT count(*) FROM documents;' >&3; until [ -s one.txt ]; do sleep 0.02; done
      for n in 1 2 3 4 5; do cdtquery put people/contacts new$n '{"n":1}'; done
      kill -9 $reader; exec 3>&-; wait
      rm -f people/contacts/db.sync-shm
      """)
    let log = space.path("people/contacts/db.sync-wal")
    var bytes = try Data(contentsOf: URL(filePath: log))
    bytes[bytes.count / 3] ^= 1
    try bytes.write(to: URL(filePath: log))
    let check = try space.run("check", "people/contacts")
    #expect(check.lines.count == 1)
    #expect(check.output.hasPrefix(#"{"kind":"database","finding":""#), "\(check.output)")
    #expect(check.output.contains("db.sync-wal is damaged: only "), "\(check.output)")
    #expect(check.errors == Self.summary("1 finding"))
    #expect(check.status == 1)
    #expect(try space.run("get", "people/contacts", "new1").status == 74)
    // What is no datastore is no finding.
    try space.shell("mkdir people/other; sqlite3 people/other/db.sync 'CREATE TABLE t (a)'")
    #expect(try space.run("check", "people/other").status == 74)
  }

  @Test func `a missing index file is found and replaced`() throws {
    let space = try workspace()
    unlink(space.path(Self.index))
    let result = try space.run("check", "people/contacts", "--repair")
    #expect(
      result.output == #"{"kind":"index","finding":"the index file is missing","repaired":true}"# + "\n")
    #expect(result.status == 1)
    #expect(space.exists(Self.index))
    #expect(try space.run("check", "people/contacts").status == 0)
  }

  @Test func `damage of documents and attachments is found, and left as it is`() throws {
    let space = try workspace()
    try execute(
      "UPDATE documents SET text = substr(text, 1, head) || '{' WHERE id = 'zoe'",
      on: "people/contacts/db.sync",
      in: space)
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
