import CDTDatastore
import JSON
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
      let saved = try store.createDocument(from: DocumentRevision(id: "milk", encoding: task))
      #expect(saved.id == "milk")
      #expect(try store.document(withID: "milk").decode(Task.self) == task)
      let inferred: Task = try saved.decode()
      #expect(inferred == task)
    }
  }

  @Test func `members are in the order of the type, and without an id one is made`() throws {
    let revision = try DocumentRevision(encoding: Task(description: "Buy milk"))
    #expect(revision.id == nil)
    #expect(revision.revision == nil)
    #expect(revision.body.keys == ["description", "completed", "tags"])
  }

  @Test func `members that the type does not know are passed over`() throws {
    let revision = DocumentRevision(body: ["x": 1, "description": "a", "completed": true, "tags": []])
    #expect(try revision.decode(Task.self) == Task(description: "a", completed: true))
  }

  @Test func `a value that is no object is refused`() {
    #expect(throws: EncodingError.self) { try DocumentRevision(encoding: [1, 2]) }
    #expect(throws: EncodingError.self) { try DocumentRevision(encoding: "text") }
    #expect(throws: EncodingError.self) { try DocumentRevision(encoding: ["a": Double.infinity]) }
  }

  @Test func `a body of another shape is refused with the path`() {
    let revision = DocumentRevision(body: ["description": "a", "completed": true, "tags": ["a", 2]])
    let error = #expect(throws: DecodingError.self) { try revision.decode(Task.self) }
    guard case .typeMismatch(_, let context)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(context.codingPath.map(\.stringValue).first == "tags")
  }

  @Test func `a revision without a body has nothing to decode`() {
    let error = datastoreError { try DocumentRevision(id: "a").decode(Task.self) }
    #expect(error?.code == .missingBody)
    #expect(error?.documentID == "a")
    #expect(error?.message == "the revision has no body to decode; give it one, or read the document first")
  }

  @Test func `a reserved key is refused when it is saved`() throws {
    struct Reserved: Encodable { let _id = "x" }
    try withTemporaryDatastore { store in
      let revision = try DocumentRevision(encoding: Reserved())
      #expect(datastoreError { try store.createDocument(from: revision) }?.code == .reservedKey)
    }
  }
}
