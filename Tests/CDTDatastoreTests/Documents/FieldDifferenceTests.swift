import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTTestSupport
import Testing

@Suite struct FieldDifferenceTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let old, new: String
    let differences: [String]
  }

  static let cases = [
    Case(
      testDescription: "equal bodies", old: #"{"a":1,"b":[1]}"#, new: #"{"b":[1],"a":1}"#, differences: []),
    Case(
      testDescription: "a changed, an added and a removed member", old: #"{"a":1,"b":2}"#,
      new: #"{"a":3,"c":null}"#,
      differences: [
        #"{"path":"a","old":1,"new":3}"#, #"{"path":"c","new":null}"#, #"{"path":"b","old":2}"#,
      ]),
    Case(
      testDescription: "members of objects", old: #"{"a":{"b":{"c":1,"d":2}}}"#,
      new: #"{"a":{"b":{"c":1,"d":3}}}"#, differences: [#"{"path":"a.b.d","old":2,"new":3}"#]),
    Case(
      testDescription: "an object in place of a value", old: #"{"a":1}"#, new: #"{"a":{"b":1}}"#,
      differences: [#"{"path":"a","old":1,"new":{"b":1}}"#]),
    Case(
      testDescription: "arrays as a whole", old: #"{"a":[1,2]}"#, new: #"{"a":[1,3]}"#,
      differences: [#"{"path":"a","old":[1,2],"new":[1,3]}"#]),
    Case(
      testDescription: "names with a dot", old: #"{"a":{"b.c":1}}"#, new: #"{"a":{"b.c":2}}"#,
      differences: [#"{"path":"a.b\\.c","old":1,"new":2}"#]),
    Case(
      testDescription: "digits that a double does not keep", old: #"{"a":1.00000000000000000001}"#,
      new: #"{"a":1.00000000000000000002}"#,
      differences: [#"{"path":"a","old":1.00000000000000000001,"new":1.00000000000000000002}"#]),
  ]

  private func revision(_ body: String) throws -> DocumentRevision {
    DocumentRevision(
      id: "a", revisionID: RevisionID(generation: 1, suffix: "a"), body: try JSONObject(parsing: body))
  }

  @Test(arguments: cases) func `names the paths with both values`(_ c: Case) throws {
    let differences = try revision(c.new).differences(from: revision(c.old))
    #expect(differences.map(\.json.text) == c.differences)
  }

  @Test func `without an older revision every field is new`() throws {
    #expect(
      try revision(#"{"a":{"b":1}}"#).differences(from: nil).map(\.json.text)
        == [#"{"path":"a","new":{"b":1}}"#])
  }

  @Test func `compares attachments by type, digest and length`() throws {
    try withTemporaryDatastore { store in
      var draft = DocumentDraft(id: "a", body: [:])
      for (name, text) in [("kept", "1"), ("changed", "1"), ("removed", "1")] {
        draft.attachments[name] = DocumentAttachment(
          data: Data(text.utf8), name: name, contentType: "text/plain")
      }
      let old = try store.createDocument(from: draft)
      var new = old
      new.attachments["removed"] = nil
      for name in ["changed", "added"] {
        new.attachments[name] = DocumentAttachment(
          data: Data("22".utf8), name: name, contentType: "text/plain")
      }
      let differences = try store.updateDocument(from: new).differences(from: old)
      #expect(differences.map(\.path) == ["added", "changed", "removed"].map { "_attachments.\($0)" })
      #expect(differences.map { $0.old?["length"] } == [nil, 1, 1])
      #expect(differences.map { $0.new?["length"] } == [2, 2, nil])
    }
  }
}
