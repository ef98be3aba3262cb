import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Testing

/// Changing a document by a closure: `updateDocument(withID:)`.
@Suite struct UpdateTests {
  @Test func `the closure gets the winner, and what it makes of it is saved`() throws {
    try withTemporaryDatastore { store in
      try store.insert("2-b", after: ["1-a"])
      try store.insert("2-a", after: ["1-a"])
      let saved = try store.updateDocument(withID: "a") { document in
        #expect(document.body == ["by": "2-b"])
        document.body["n"] = 1
        document.attachments["x"] = DocumentAttachment(data: Data("x".utf8), name: "x", contentType: "")
      }
      #expect(saved.revisionID.generation == 3)
      #expect(try store.document(withID: "a") == saved)
      #expect(saved.body == ["by": "2-b", "n": 1])
      #expect(try saved.attachments["x"]?.data() == Data("x".utf8))
      #expect(try store.read { try $0.currentRevisions(ofDocument: "a") }.count == 2)
    }
  }

  @Test func `a closure that changes nothing saves nothing`() throws {
    try withTemporaryDatastore { store in
      let document = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1, "m": 2]))
      let before = try StoreState(store)
      #expect(try store.updateDocument(withID: "a") { $0.body["n"] = 1 } == document)
      #expect(try StoreState(store) == before)
    }
  }

  struct Refused: Error, Equatable {}

  @Test func `a document that can't be saved is refused, and the closure's error passes through`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      try store.createDocument(from: DocumentDraft(id: "deleted", body: ["n": 1]))
      try store.deleteDocument(withID: "deleted")
      let other = try store.createDocument(from: DocumentDraft(id: "b", body: [:]))
      let before = try StoreState(store)
      let cases: [(String, DatastoreError.Code, (inout DocumentRevision) throws -> Void)] = [
        ("none", .notFound, { $0.body = [:] }), ("deleted", .notFound, { $0.body = [:] }),
        ("a", .reservedKey, { $0.body["_x"] = 1 }), ("a", .invalidBody, { $0.body["x"] = .double(.nan) }),
        ("a", .invalidRevision, { $0 = other }), ("a", .missingBody, { $0 = try bare($0) }),
        ("a", .nestedWrite, { _ in try store.createDocument(from: DocumentDraft(body: [:])) }),
      ]
      func bare(_ revision: DocumentRevision) throws -> DocumentRevision {
        DocumentRevision(id: "a", revisionID: revision.revisionID, body: nil)
      }
      for (id, code, change) in cases {
        #expect(datastoreError { try store.updateDocument(withID: id, change) }?.code == code)
        #expect(try StoreState(store) == before)
      }
      #expect(throws: Refused()) { try store.updateDocument(withID: "a") { _ in throw Refused() } }
      #expect(try StoreState(store) == before)
    }
  }

  @Test func `threads that count in one document lose no count, without repeating`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 0]))
      onThreads(8) { _ in
        for _ in 0..<25 {
          do {
            try store.updateDocument(withID: "a") { $0.body["n"] = ($0.body["n"]?.intValue ?? 0) + 1 }
          } catch {
            Issue.record("\(error)")
          }
        }
      }
      let counted = try store.document(withID: "a")
      #expect(counted.body == ["n": 200])
      #expect(counted.revisionID.generation == 201)
    }
  }
}
