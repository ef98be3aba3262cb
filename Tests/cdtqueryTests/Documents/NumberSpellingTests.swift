import CDTDatastore
import CDTJSON
import Testing

/// Every command prints and stores a number as it was spelled.
@Suite struct NumberSpellingTests {
  private static let members =
    #""d":123456789.123456789123,"p":1.10,"tiny":1e-400,"list":[-0.0,{"n":1E+3}],"big":12345678901234567890"#

  private static func document(_ id: String) -> String { #"{"_id":"\#(id)",\#(members)}"# }

  private func store() throws -> Workspace {
    let space = try Workspace()
    #expect(try space.run("import", "s", input: Self.document("a") + "\n").status == 0)
    return space
  }

  private func hasNumbers(_ output: String) -> Bool { output.contains(Self.members + "}") }

  @Test func `get, find, export and changes print it`() throws {
    let space = try store()
    let exported = try space.run("export", "s").output
    #expect(hasNumbers(exported))
    #expect(try space.run("get", "s", "a").output == exported)
    #expect(try space.run("find", "s", "{}").output == exported)
    #expect(hasNumbers(try space.run("find", "s", #"{"p":1.1}"#, "--fields", "d,p,tiny,list,big").output))
    let batch = try space.run("find", "s", "--batch", "-", input: #"{"selector":{"d":{"$gt":1.0}}}"# + "\n")
    #expect(batch.output.contains(Self.members))
    #expect(try space.run("find", "s", "{}", "--format", "json").output.contains(Self.members))
    for format in ["csv", "table"] {
      let printed = try space.run("find", "s", "{}", "--fields", "d,p,tiny", "--format", format).output
      #expect(["123456789.123456789123", "1.10", "1e-400"].allSatisfy { printed.contains($0) }, "\(printed)")
    }
  }

  @Test func `put, attachments and a resolved conflict store it`() throws {
    let space = try store()
    #expect(try space.run("put", "s", "b", "{" + Self.members + "}").status == 0)
    #expect(hasNumbers(try space.run("get", "s", "b").output))
    #expect(try space.run("put", "s", "b", try space.run("get", "s", "b").output).status == 0)
    #expect(hasNumbers(try space.run("export", "s").lines[1]))
    #expect(try space.run("attachment", "put", "s", "a", "note", "-", input: "x").status == 0)
    #expect(hasNumbers(try space.run("export", "s").lines[0]))
    #expect(try space.run("attachment", "delete", "s", "a", "note").status == 0)
    #expect(hasNumbers(try space.run("export", "s").lines[0]))
    try space.makeConflict()
    let merged = "{" + Self.members + "}"
    #expect(hasNumbers(try space.run("resolve", "team/tasks", "milk", "--merge", merged).output))
    #expect(hasNumbers(try space.run("get", "team/tasks", "milk").output))
  }

  @Test func `the leaves of a conflict are printed with it`() throws {
    let space = try store()
    let manager = try DatastoreManager(directory: space.directory)
    let leaf = RevisionID(generation: 1, suffix: "00")
    try manager.datastore(named: "s").write {
      try $0.forceInsert(
        DocumentRevision(id: "a", revisionID: leaf, body: JSONObject(parsing: "{\(Self.members)}")),
        history: [leaf])
    }
    try manager.closeDatastore(named: "s")
    let leaves = try space.run("conflicts", "s", "a").lines
    #expect(leaves.count == 2 && leaves.allSatisfy(hasNumbers))
  }

  @Test func `comma-separated values and recovery keep it`() throws {
    let space = try store()
    let csv = "_id,color,price\na,557e90,1.10\nb,ff00aa,123456789.123456789123\n"
    try space.write(csv, to: "c.csv")
    #expect(try space.run("import", "colors", "c.csv", "--format", "csv").status == 0)
    let colors = try space.run("find", "colors", "{}", "--fields", "color,price", "--format", "csv").output
    #expect(
      colors.contains("557e90") && colors.contains(",1.10\n") && colors.contains(",123456789.123456789123\n"))
    let exported = try space.run("export", "s").output
    #expect(try space.run("recover", "s", "saved").status == 0)
    #expect(try space.run("export", "saved").output == exported)
  }
}
