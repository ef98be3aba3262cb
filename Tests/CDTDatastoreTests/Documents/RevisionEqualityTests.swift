import Testing

@testable import CDTDatastore

@Suite struct RevisionEqualityTests {
  private let composed = DocumentRevision(id: "\u{E9}", body: ["a": 1, "b": 2])
  private let decomposed = DocumentRevision(id: "e\u{301}", body: ["a": 1, "b": 2])

  @Test func `two spellings of an id are not equal`() {
    #expect("\u{E9}" == "e\u{301}")  // what Swift's strings say
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed, composed]).count == 2)
  }

  @Test func `equal revisions are equal and hash alike`() {
    let other = DocumentRevision(id: "\u{E9}", body: ["b": 2.0, "a": 1])
    #expect(composed == other)
    #expect(composed.hashValue == other.hashValue)
  }

  @Test func `every part counts`() throws {
    let id = try #require(RevisionID("1-a"))
    let other = try #require(RevisionID("1-b"))
    let revision = DocumentRevision(id: "a", revision: id, body: [:], sequence: 1)
    let others = [
      DocumentRevision(id: "b", revision: id, body: [:], sequence: 1),
      DocumentRevision(id: "a", revision: other, body: [:], sequence: 1),
      DocumentRevision(id: "a", revision: id, body: ["a": 1], sequence: 1),
      DocumentRevision(id: "a", revision: id, body: nil, sequence: 1),
      DocumentRevision(id: "a", revision: id, body: [:], sequence: 2),
      DocumentRevision(id: "a", revision: id, body: [:], isDeleted: true, sequence: 1),
      DocumentRevision(id: "a", revision: id, body: [:], sequence: 1, isProjected: true),
      DocumentRevision(id: "a", body: [:]), DocumentRevision(body: [:]),
    ]
    for other in others { #expect(revision != other) }
    #expect(Set(others + [revision]).count == others.count + 1)
  }

  @Test func `changes compare their ids by bytes`() throws {
    let id = try #require(RevisionID("1-a"))
    let change = Change(sequence: 1, id: "\u{E9}", revision: id, isDeleted: false)
    #expect(change != Change(sequence: 1, id: "e\u{301}", revision: id, isDeleted: false))
    #expect(change == Change(sequence: 1, id: "\u{E9}", revision: id, isDeleted: false))
  }
}
