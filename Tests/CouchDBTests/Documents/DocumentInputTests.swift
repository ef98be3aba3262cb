import CDTDatastore
import CouchDB
import Testing

@Suite struct DocumentInputTests {
  private func document(_ json: String) throws -> DocumentInput {
    try Array(json.utf8).withUnsafeBytes { try DocumentInput($0) }
  }

  private func text(_ body: BodyText) -> String { String(decoding: body.text, as: UTF8.self) }

  @Test func `a document of a replicator`() throws {
    let document = try document(
      """
      {"_id":"task1","_rev":"2-b","title":"Buy milk","_revisions":{"start":2,"ids":["b","a"]},"_deleted":true,
       "list":[{"_x":1}],"":null}
      """)
    #expect(document.id == "task1")
    #expect(document.revisionID == RevisionID("2-b"))
    #expect(document.history.map(\.description) == ["2-b", "1-a"])
    #expect(document.isDeleted)
    #expect(text(document.body) == #"{"title":"Buy milk","list":[{"_x":1}],"":null}"#)
    #expect(document.attachments.isEmpty)
  }

  @Test func `an empty document`() throws {
    let document = try document("{}")
    #expect(document.id == nil && document.revisionID == nil && document.history.isEmpty)
    #expect(!document.isDeleted && text(document.body) == "{}")
  }

  @Test func `_rev alone is a history of one`() throws {
    #expect(try document(#"{"_rev":"7-x"}"#).history == [RevisionID("7-x")])
  }

  @Test func `_revisions alone has the revision first`() throws {
    let document = try document(#"{"_revisions":{"start":3,"ids":["c","b"]}}"#)
    #expect(document.revisionID == RevisionID("3-c"))
    #expect(document.history.count == 2)
    #expect(try self.document(#"{"_revisions":{"start":0,"ids":[]}}"#).revisionID == nil)
  }

  @Test func `members that CouchDB computes are ignored`() throws {
    let document = try document(
      #"{"_conflicts":["1-a"],"_deleted_conflicts":1,"_revs_info":null,"_local_seq":[],"_deleted":false,"a":1}"#
    )
    #expect(text(document.body) == #"{"a":1}"#)
    #expect(!document.isDeleted)
  }

  static let refusals = [
    Refusal("[]", .documentNotAnObject), Refusal("null", .documentNotAnObject),
    Refusal(#""x""#, .documentNotAnObject),
    Refusal(#"{"_id":1}"#, .documentIDNotAString), Refusal(#"{"_id":null}"#, .documentIDNotAString),
    Refusal(#"{"_rev":1}"#, .invalidRevision), Refusal(#"{"_rev":null}"#, .invalidRevision),
    Refusal(#"{"_rev":""}"#, .invalidRevision), Refusal(#"{"_rev":"0-1"}"#, .invalidRevision),
    Refusal(#"{"_rev":"x"}"#, .invalidRevision),
    Refusal(#"{"_deleted":1}"#, .badSpecialMember("_deleted")),
    Refusal(#"{"_deleted":"true"}"#, .badSpecialMember("_deleted")),
    Refusal(#"{"_deleted":null}"#, .badSpecialMember("_deleted")),
    Refusal(#"{"_revisions":[]}"#, .badSpecialMember("_revisions")),
    Refusal(#"{"_revisions":{"start":1,"ids":["b","a"]}}"#, .revisionsOutOfRange(start: 1, count: 2)),
    Refusal(#"{"_attachments":[]}"#, .badSpecialMember("_attachments")),
    Refusal(#"{"_attachments":null}"#, .badSpecialMember("_attachments")),
    Refusal(#"{"_x":1}"#, .badSpecialMember("_x")), Refusal(#"{"_":1}"#, .badSpecialMember("_")),
    Refusal(#"{"a":1,"_ID":"x"}"#, .badSpecialMember("_ID")),
    Refusal(#"{"_Rev":"1-a"}"#, .badSpecialMember("_Rev")),
    Refusal(#"{"__id":1}"#, .badSpecialMember("__id")),
    Refusal(#"{"_replication_other":"triggered"}"#, .badSpecialMember("_replication_other")),
  ]

  @Test(arguments: refusals) func `an invalid document`(refusal: Refusal) {
    #expect(throws: refusal.error) { try document(refusal.testDescription) }
  }

  @Test func `_revisions is right when _rev disagrees with it`() throws {
    let list = #""_revisions":{"start":2,"ids":["b","a"]}"#
    for json in [#"{"_rev":"2-x",\#(list)}"#, #"{\#(list),"_rev":"2-x"}"#] {
      #expect(try document(json).revisionID == RevisionID("2-b"))
    }
  }
}
