import CDTDatastore
import CDTJSON
import Testing

@Suite struct LogCommandTests {
  private func rows(_ result: Workspace.Result) throws -> [JSONObject] {
    try result.lines.map { try JSONObject(parsing: $0) }
  }

  @Test func `prints each revision with its time and the fields that it has changed, newest first`() throws {
    let space = try Workspace(Workspace.people)
    try space.run(
      "update", "people/contacts", #"{"_id":"mike"}"#, "--set", "age=37", "--unset", "name", "--yes")
    try space.run("delete", "people/contacts", "mike")
    let result = try space.run("log", "people/contacts", "mike")
    #expect(result.status == 0)
    let rows = try rows(result)
    #expect(rows.allSatisfy { $0["time"]?.stringValue?.hasSuffix("Z") == true && $0["user"] == nil })
    #expect(
      rows.map {
        "\($0["rev"]?.stringValue?.prefix(2) ?? "") \($0["change"]?.stringValue ?? "") \($0["path"]?.stringValue ?? "")"
      }
        == [
          "3- deleted age", "2- changed age", "2- changed name", "1- created name", "1- created age",
        ])
    #expect(rows.map { $0["old"] } == [37, 36, "Mike", nil, nil])
    #expect(rows.map { $0["new"] } == [nil, 37, nil, "Mike", 36])
    let table = try space.run("log", "people/contacts", "mike", "--format", "csv")
    #expect(table.lines.first == "rev,time,change,path,old,new")
  }

  @Test func `a revision whose content is not stored has one row without a path`() throws {
    let space = try Workspace(Workspace.people)
    try space.run("update", "people/contacts", #"{"_id":"mike"}"#, "--set", "age=37", "--yes")
    try space.run("compact", "people/contacts")
    let rows = try rows(space.run("log", "people/contacts", "mike"))
    #expect(rows.map { $0["path"] } == [nil, nil])
    #expect(rows.map { $0["change"] } == ["changed", "created"])
  }

  @Test func `a conflict has the revisions of the winner first, and marks the leaves`() throws {
    let space = try Workspace()
    try space.makeConflict()
    let rows = try rows(space.run("log", "team/tasks", "milk"))
    #expect(rows.map { $0["rev"]?.stringValue?.prefix(5) } == ["2-bbb", "1-967", "2-aaa"])
    #expect(rows.map { $0["leaf"] } == [true, nil, true])
  }

  @Test func `a document that there is not is named`() throws {
    let space = try Workspace(Workspace.people)
    let result = try space.run("log", "people/contacts", "nobody")
    #expect(result.status == 66)
    #expect(result.errors.contains(#"there is no document "nobody""#))
  }
}
