import CDTDatastore
import CDTJSON
import CDTQuery
import Testing

@Suite struct ProjectionTests {
  static let cases: [(fields: [String], body: String, projected: String)] = [
    (["a"], #"{"a": 1, "b": 2}"#, #"{"a":1}"#),
    (["b", "a"], #"{"a": 1, "b": 2}"#, #"{"a":1,"b":2}"#),
    (["pet.species"], #"{"pet": {"name": "zoe", "species": "cat"}}"#, #"{"pet":{"species":"cat"}}"#),
    (["pet.nothing", "x"], #"{"pet": {"name": "zoe"}}"#, #"{}"#),
    (["pet", "pet.name"], #"{"pet": {"name": "zoe", "age": 3}}"#, #"{"pet":{"name":"zoe","age":3}}"#),
    (["a.b"], #"{"a": [{"b": 1, "c": 2}, 3, {"b": null}]}"#, #"{"a":[{"b":1},{"b":null}]}"#),
    (["a.0"], #"{"a": [5, {"0": 1}]}"#, #"{"a":[5]}"#),
    (["a.0.b"], #"{"a": [{"b": 1, "c": 2}, {"b": 3}]}"#, #"{"a":[{"b":1}]}"#),
    (
      ["a.0.x", "a.b"], #"{"a": [{"x": 1, "b": 2, "c": 3}, {"x": 4, "b": 5}]}"#,
      #"{"a":[{"x":1,"b":2},{"b":5}]}"#
    ),
    (["a.b", "a.0"], #"{"a": [{"x": 1, "b": 2}, {"x": 4, "b": 5}]}"#, #"{"a":[{"x":1,"b":2},{"b":5}]}"#),
    (["x\\.y"], #"{"x.y": 1, "x": {"y": 2}}"#, #"{"x.y":1}"#),
    (["$a"], #"{"$a": 1}"#, #"{"$a":1}"#),
  ]

  @Test(arguments: cases)
  func `a result has the fields asked for`(_ c: (fields: [String], body: String, projected: String)) throws {
    try withTemporaryDatastore { store in
      let saved = try store.createDocument(
        from: DocumentDraft(id: "a", body: try JSONObject(parsing: c.body)))
      let result = try #require(try store.find([:], fields: c.fields).first)
      #expect(result.body.text == c.projected)
      #expect(result.id == "a" && result.revisionID == saved.revisionID && result.isProjected)
      try store.results(for: Query([:], fields: c.fields)).forEachJSON { text in
        let expected = c.projected.dropFirst().dropLast()
        let members = expected.isEmpty ? "" : "," + expected
        #expect(
          String(decoding: text, as: UTF8.self)
            == "{\"_id\":\"a\",\"_rev\":\"\(saved.revisionID.description)\"\(members)}")
      }
    }
  }

  @Test func `a projected revision can't be saved, and can be deleted`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["x": 1, "y": 2]))
      let part = try #require(try store.find([:], fields: ["x"]).first)
      let error = #expect(throws: DatastoreError.self) { try store.updateDocument(from: part) }
      #expect(
        error?.message
          == "this revision of document \"a\" has only some of its fields; fetch the document first")
      #expect(throws: DatastoreError.self) { try DocumentDraft(copying: part, id: "copy") }
      #expect(try store.deleteDocument(from: part).isDeleted)
      #expect(try store.read { try $0.documentCount() } == 0)
    }
  }
}
