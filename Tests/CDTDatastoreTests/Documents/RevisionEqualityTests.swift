import Testing

@testable import CDTDatastore

@Suite struct RevisionEqualityTests {
  private let composed = DocumentDraft(id: "\u{E9}", body: ["a": 1, "b": 2])
  private let decomposed = DocumentDraft(id: "e\u{301}", body: ["a": 1, "b": 2])

  @Test func `two spellings of an id are not equal`() {
    #expect("\u{E9}" == "e\u{301}")  // what Swift's strings say
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed, composed]).count == 2)
  }

  @Test func `equal revisions are equal and hash alike`() {
    let other = DocumentDraft(id: "\u{E9}", body: ["b": 2.0, "a": 1])
    #expect(composed == other)
    #expect(composed.hashValue == other.hashValue)
  }

  @Test func `every part counts`() throws {
    let id = try #require(RevisionID("1-a"))
    let other = try #require(RevisionID("1-b"))
    let revision = DocumentRevision(id: "a", revisionID: id, body: [:], sequence: 1)
    let others = [
      DocumentRevision(id: "b", revisionID: id, body: [:], sequence: 1),
      DocumentRevision(id: "a", revisionID: other, body: [:], sequence: 1),
      DocumentRevision(id: "a", revisionID: id, body: ["a": 1], sequence: 1),
      DocumentRevision(id: "a", revisionID: id, body: nil, sequence: 1),
      DocumentRevision(id: "a", revisionID: id, body: [:], sequence: 2),
      DocumentRevision(id: "a", revisionID: id, body: [:], isDeleted: true, sequence: 1),
      DocumentRevision(id: "a", revisionID: id, body: [:], sequence: 1, isProjected: true),
    ]
    for other in others { #expect(revision != other) }
    #expect(Set(others + [revision]).count == others.count + 1)
  }

  @Test func `changes compare their ids by bytes`() throws {
    let id = try #require(RevisionID("1-a"))
    let change = Change(sequence: 1, id: "\u{E9}", revisionID: id, isDeleted: false, leafCount: 1)
    #expect(change != Change(sequence: 1, id: "e\u{301}", revisionID: id, isDeleted: false, leafCount: 1))
    #expect(change == Change(sequence: 1, id: "\u{E9}", revisionID: id, isDeleted: false, leafCount: 1))
  }
}
