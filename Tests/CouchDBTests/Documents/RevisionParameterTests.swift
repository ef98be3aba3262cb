import CDTDatastore
import CouchDB
import Testing

/// Revisions in the parameters and bodies of requests.
@Suite struct RevisionParameterTests {
  @Test func `open_revs`() throws {
    #expect(try OpenRevisions(parameter: "all") == .all)
    #expect(try OpenRevisions(parameter: "[]") == .revisions([]))
    let revisions = try ["3-c", "2-b-\"x"].map { try #require(RevisionID($0)) }
    let some = OpenRevisions.revisions(revisions)
    #expect(some.parameter == #"["3-c","2-b-\"x"]"#)
    #expect(try OpenRevisions(parameter: some.parameter) == some)
    #expect(OpenRevisions.all.parameter == "all")
  }

  @Test(arguments: ["", "ALL", "All", "1-a", "[", #"["1-a""#, "[1-a]"])
  func `open_revs that is not JSON`(text: String) {
    #expect(throws: CouchError.invalidOpenRevisions) { try OpenRevisions(parameter: text) }
  }

  @Test(arguments: [#""all""#, "{}", "null", "1"]) func `open_revs that is not an array`(text: String) {
    #expect(throws: CouchError.invalidRevisionList) { try OpenRevisions(parameter: text) }
    #expect(throws: CouchError.invalidRevisionList) { try RevisionID.list(parameter: text) }
  }

  @Test(arguments: [
    #"["1"]"#, #"["0-a"]"#, #"["01-a"]"#, #"["-1-a"]"#, #"["a-1"]"#, #"["1-a", 2]"#, #"[null]"#,
    #"["9223372036854775808-a"]"#, #"[["1-a"]]"#, #"[" 1-a"]"#, #"["+1-a"]"#,
  ]) func `arrays with what is not a revision`(text: String) {
    #expect(throws: CouchError.invalidRevision) { try OpenRevisions(parameter: text) }
    #expect(throws: CouchError.invalidRevision) { try RevisionID.list(parameter: text) }
  }

  @Test func `atts_since`() throws {
    let revisions = try RevisionID.list(parameter: #"["3-c", "1-a"]"#)
    #expect(revisions.map(\.description) == ["3-c", "1-a"])
    #expect(RevisionID.parameter(revisions) == #"["3-c","1-a"]"#)
    #expect(throws: CouchError.invalidJSON) { try RevisionID.list(parameter: "3-c") }
  }

  @Test func `the body of _revs_diff both ways`() throws {
    let json = #"{"task2":["3-c","3-d"],"task1":[],"_local/x":["1-a"]}"#
    let entries = try RevisionsDiffRequest.entries(Array(try JSONObject(parsing: json)))
    #expect(entries.map(\.id) == ["task2", "task1", "_local/x"])
    #expect(entries.map { $0.revisions.count } == [2, 0, 1])
    #expect(RevisionsDiffRequest.json(entries).text == json)
  }

  @Test func `revisions of an id that is repeated in the body of _revs_diff are joined`() throws {
    let entries = try RevisionsDiffRequest.entries([
      ("ü", ["1-a", "2-b"]), ("u\u{308}", ["1-c"]), ("ü", ["2-b", "3-c"]),
    ])
    #expect(RevisionsDiffRequest.json(entries).text == #"{"ü":["1-a","2-b","3-c"],"u\#u{308}":["1-c"]}"#)
    #expect(throws: CouchError.invalidRevision) {
      _ = try RevisionsDiffRequest.entries([("x", []), ("x", ["c"])])
    }
  }

  @Test(arguments: [
    (#"{"x":"3-c3"}"#, CouchError.invalidRevisionList), (#"{"x":null}"#, .invalidRevisionList),
    (#"{"a":["1-a"],"x":["c3"]}"#, .invalidRevision), (#"{"x":[3]}"#, .invalidRevision),
  ]) func `an invalid body of _revs_diff`(json: String, error: CouchError) throws {
    let members = Array(try JSONObject(parsing: json))
    #expect(throws: error) { _ = try RevisionsDiffRequest.entries(members) }
  }
}
