import CDTDatastore
import CDTJSON
import CDTQuery
import FoundationEssentials
import Testing

/// Each command is the first that meets a document that has expired and is not deleted yet.
@Suite struct ExpiredDocumentTests {
  /// A workspace with the store `s/o` and its copy `s/same`. "token", with an attachment and a conflict, has expired; "left" has not.
  private static func workspace() throws -> Workspace {
    let space = try Workspace()
    var options = DatastoreOptions()
    options.worksInBackground = false
    let manager = try DatastoreManager(directory: space.path("s"), options: options)
    let store = try manager.datastore(named: "o")
    var draft = DocumentDraft(id: "token", body: ["until": 1])
    draft.attachments["note.txt"] = DocumentAttachment(
      data: Data([104, 105]), name: "note.txt", contentType: "text/plain")
    try store.createDocument(from: draft)
    let rival = RevisionID(generation: 1, suffix: "0")
    try store.write {
      try $0.forceInsert(
        DocumentRevision(id: "token", revisionID: rival, body: ["until": 1]), history: [rival])
    }
    try store.createDocument(from: DocumentDraft(id: "left", body: ["until": 4e9]))
    try store.ensureIndexed(["until"], .expiring(after: .zero))
    try manager.closeDatastore(named: "o")
    try FileManager.default.copyItem(atPath: space.path("s/o"), toPath: space.path("s/same"))
    return space
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var status: Int32 = 0
    var output: String?
  }

  static let cases = [
    Case(testDescription: "get s/o token", status: 66, output: ""),
    Case(testDescription: "attachment get s/o token note.txt -", status: 66, output: ""),
    Case(testDescription: "attachment list s/o token", status: 66, output: ""),
    Case(testDescription: "conflicts s/o", output: ""),
    Case(testDescription: "conflicts s/o token", status: 66),
    Case(testDescription: "count s/o", output: "1\n"), Case(testDescription: "delete s/o token", status: 66),
    Case(testDescription: "verify s/o s/same", output: "{\"documents\":1,\"differences\":0}\n"),
  ]

  @Test(arguments: cases) func `is left out by`(_ c: Case) throws {
    let space = try Self.workspace()
    let result = try space.shell("cdtquery \(c.testDescription)")
    #expect(result.status == c.status, "\(result)")
    if let output = c.output { #expect(result.output == output) }
  }

  @Test(arguments: ["find s/o", "export s/o -", "sample s/o", "changes s/o"])
  func `is not listed by`(command: String) throws {
    let result = try Self.workspace().shell("cdtquery \(command)")
    let ids = try result.lines.map { try JSONObject(parsing: $0) }.filter { $0["deleted"] != true }.map {
      $0["_id"]?.stringValue ?? $0["id"]?.stringValue
    }
    #expect(result.status == 0 && ids == ["left"], "\(result)")
  }

  @Test func `is not counted by info and describe`() throws {
    let space = try Self.workspace()
    let info = try JSONObject(parsing: space.run("info", "s/o").output)
    #expect(info["documents"] == 1 && info["conflicts"] == 0)
    #expect(try space.run("describe", "s/same").lines.first == "1 document")
  }

  @Test func `is not in a backup, which verify finds equal`() throws {
    let space = try Self.workspace()
    #expect(try space.run("backup", "s/o", "saved").status == 0)
    #expect(try space.run("restore", "saved", "s/restored").status == 0)
    #expect(try space.run("get", "s/restored", "token").status == 66)
    #expect(try space.run("get", "s/restored", "left").status == 0)
  }

  @Test func `is not deleted by verify`() throws {
    let space = try Self.workspace()
    #expect(try space.run("verify", "s/o", "s/same").status == 0)
    var options = DatastoreOptions()
    options.worksInBackground = false
    let manager = try DatastoreManager(directory: space.path("s"), options: options)
    defer { try? manager.closeDatastore(named: "o") }
    #expect(try manager.existingDatastore(named: "o").read { try $0.lastSequence() } == 3)
  }

  @Test func `values other than dates are named`() throws {
    let space = try Workspace()
    let documents = """
      {"_id":"a","seen":1577836800000}
      {"_id":"b","seen":"2020-01-01"}
      {"_id":"c","seen":4e9}
      {"_id":"d","seen":"2020-01-01T10:00Z"}
      {"_id":"e","seen":"2020-01-01T10:00:00"}
      {"_id":"f","seen":null}
      {"_id":"g"}

      """
    try space.run("import", "s/x", "-", input: documents)
    let made = try space.run("index", "create", "s/x", "seen", "--expire-after", "3600")
    #expect(made.status == 0 && made.output == "expire_seen\n")
    let named = """
      4 documents never expire by the index "expire_seen" as "seen" is not a date, such as "a" with 1577836800000, \
      "b" with "2020-01-01", "d" with "2020-01-01T10:00Z": 
      """
    #expect(made.errors.hasPrefix("cdtquery: \(named)numbers are seconds since 1970"), "\(made.errors)")
    let check = try space.run("check", "s/x", "--quiet")
    let note = try JSONObject(parsing: try #require(check.lines.first))
    #expect(check.status == 0 && note["kind"] == "expiry" && note["id"] == "a")
    #expect(note["finding"]?.stringValue?.hasPrefix(named) == true)
    #expect(try space.run("describe", "s/x").output.contains(named))
    let json = try JSONObject(parsing: space.run("describe", "s/x", "--format", "json").output)
    #expect(json["neverExpiring"]?.arrayValue?.count == 1)
    // In milliseconds, "a" has expired.
    try space.run("index", "delete", "s/x", "expire_seen")
    let again = try space.run("index", "create", "s/x", "seen", "--expire-after", "3600", "--milliseconds")
    #expect(again.errors.hasPrefix("cdtquery: 3 documents never expire"), "\(again.errors)")
    #expect(try space.run("get", "s/x", "a").status == 66)
    #expect(try space.run("index", "list", "s/x").output.contains(#""milliseconds":true"#))
    #expect(try space.run("index", "create", "s/x", "n", "--milliseconds").status == 65)
  }
}
