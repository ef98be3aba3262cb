import CDTDatastore
import CDTJSON
import Foundation
import Testing

@Suite struct CodableBodyTests {
  struct Task: Codable, Equatable {
    var description: String
    var completed = false
    var tags: [String] = []
    var due: Double?
  }

  @Test func `a value becomes a body, is saved, and comes back`() throws {
    try withTemporaryDatastore { store in
      let task = Task(description: "Buy milk", tags: ["home", "é"], due: 1.5)
      let saved = try store.createDocument(from: DocumentDraft(id: "milk", encoding: task))
      #expect(saved.id == "milk")
      #expect(try store.document(withID: "milk").decode(Task.self) == task)
      let inferred: Task = try saved.decode()
      #expect(inferred == task)
    }
  }

  @Test func `dates and data are spelled as the options say`() throws {
    struct Photo: Codable, Equatable { var taken: Date, thumbnail: Data }
    let photo = Photo(taken: Date(timeIntervalSince1970: 1_714_566_600.25), thumbnail: Data([0, 1, 255]))
    let revision = try DocumentDraft(encoding: photo)
    #expect(revision.body == ["taken": "2024-05-01T12:30:00.250Z", "thumbnail": "AAH/"])
    #expect(try revision.body.decode(Photo.self) == photo)
    let options = JSONCodingOptions(dates: .secondsSince1970, data: .deferred)
    let numbers = try DocumentDraft(encoding: photo, options: options)
    #expect(numbers.body == ["taken": 1_714_566_600.25, "thumbnail": [0, 1, 255]])
    #expect(try numbers.body.decode(Photo.self, options: options) == photo)
  }

  @Test func `members are in the order of the type, and without an id one is made`() throws {
    let draft = try DocumentDraft(encoding: Task(description: "Buy milk"))
    #expect(draft.id == nil)
    #expect(draft.body.keys == ["description", "completed", "tags"])
  }

  @Test func `members that the type does not know are passed over`() throws {
    let draft = DocumentDraft(body: ["x": 1, "description": "a", "completed": true, "tags": []])
    #expect(try draft.body.decode(Task.self) == Task(description: "a", completed: true))
  }

  @Test func `values other than objects are refused`() {
    #expect(throws: EncodingError.self) { try DocumentDraft(encoding: [1, 2]) }
    #expect(throws: EncodingError.self) { try DocumentDraft(encoding: "text") }
    #expect(throws: EncodingError.self) { try DocumentDraft(encoding: ["a": Double.infinity]) }
  }

  @Test func `a body of another shape is refused with the path`() {
    let draft = DocumentDraft(body: ["description": "a", "completed": true, "tags": ["a", 2]])
    let error = #expect(throws: DecodingError.self) { try draft.body.decode(Task.self) }
    guard case .typeMismatch(_, let context)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(context.codingPath.map(\.stringValue).first == "tags")
  }

  @Test func `a revision without a body has nothing to decode`() {
    let revision = DocumentRevision(
      id: "a", revisionID: RevisionID(generation: 1, suffix: "x"), body: nil)
    let error = datastoreError { try revision.decode(Task.self) }
    #expect(error?.code == .missingBody)
    #expect(error?.documentID == "a")
    #expect(error?.message == "the revision has no body to decode; set one, or read the document first")
  }

  @Test func `a reserved key is refused when it is saved`() throws {
    struct Reserved: Encodable { let _id = "x" }
    try withTemporaryDatastore { store in
      let revision = try DocumentDraft(encoding: Reserved())
      #expect(datastoreError { try store.createDocument(from: revision) }?.code == .reservedKey)
    }
  }
}
