import CDTDatastore
import CouchDB
import Testing

@Suite struct RevisionListTests {
  private func list(_ json: String) throws -> RevisionList {
    try RevisionList(json: try JSONValue(parsing: json))
  }

  @Test(arguments: [
    (#"{"start":3,"ids":["c","b","a"]}"#, ["3-c", "2-b", "1-a"]),
    (#"{"start":1000,"ids":["z"]}"#, ["1000-z"]),
    (#"{"start":12,"ids":["l","k","j"]}"#, ["12-l", "11-k", "10-j"]),
    (#"{"start":9223372036854775807,"ids":["b","a"]}"#, ["9223372036854775807-b", "9223372036854775806-a"]),
    (#"{"start":2,"ids":["b-x","a b"]}"#, ["2-b-x", "1-a b"]),
    (#"{"start":0,"ids":[]}"#, []),
  ]) func `revisions both ways`(json: String, revisions: [String]) throws {
    let list = try list(json)
    #expect(list.revisions.map(\.description) == revisions)
    #expect(list.json.text == json)
  }

  @Test func `other members are ignored`() throws {
    #expect(try list(#"{"ids":["a"],"x":1,"start":1}"#).revisions == [RevisionID("1-a")])
  }

  static let refusals = [
    Refusal("null", .badSpecialMember("_revisions")),
    Refusal("[]", .badSpecialMember("_revisions")),
    Refusal("{}", .revisionsStartNotAnInteger),
    Refusal(#"{"ids":["a"]}"#, .revisionsStartNotAnInteger),
    Refusal(#"{"start":"1","ids":["a"]}"#, .revisionsStartNotAnInteger),
    Refusal(#"{"start":1.0,"ids":["a"]}"#, .revisionsStartNotAnInteger),
    Refusal(#"{"start":9223372036854775808,"ids":["a"]}"#, .revisionsStartNotAnInteger),
    Refusal(#"{"start":1}"#, .revisionsNotAnArray),
    Refusal(#"{"start":1,"ids":"a"}"#, .revisionsNotAnArray),
    Refusal(#"{"start":1,"ids":[1]}"#, .revisionSuffixNotAString),
    Refusal(#"{"start":1,"ids":[null]}"#, .revisionSuffixNotAString),
    Refusal(#"{"start":1,"ids":["b","a"]}"#, .revisionsOutOfRange(start: 1, count: 2)),
    Refusal(#"{"start":0,"ids":["a"]}"#, .revisionsOutOfRange(start: 0, count: 1)),
    Refusal(#"{"start":-1,"ids":[]}"#, .revisionsOutOfRange(start: -1, count: 0)),
    Refusal(#"{"start":-9223372036854775808,"ids":["a"]}"#, .revisionsOutOfRange(start: .min, count: 1)),
    Refusal(
      #"{"start":1,"ids":["\#(String(repeating: "a", count: 254))"]}"#, .invalidRevision),
  ]

  @Test(arguments: refusals) func `an invalid list`(refusal: Refusal) {
    #expect(throws: refusal.error) { try list(refusal.testDescription) }
  }

  @Test func `a long history`() throws {
    let suffixes = (0..<100_000).map { JSONValue.string(String($0)) }
    let list = try RevisionList(json: ["start": 100_000, "ids": .array(suffixes)])
    #expect(list.revisions.last == RevisionID("1-99999"))
  }

  @Test func `an entry of _revs_info`() throws {
    let revision = try #require(RevisionID("3-c"))
    #expect(RevisionInfo(revision, .available).json.text == #"{"rev":"3-c","status":"available"}"#)
    #expect(RevisionInfo(revision, .deleted).json.text == #"{"rev":"3-c","status":"deleted"}"#)
    #expect(RevisionInfo(revision, .missing).json.text == #"{"rev":"3-c","status":"missing"}"#)
  }
}
