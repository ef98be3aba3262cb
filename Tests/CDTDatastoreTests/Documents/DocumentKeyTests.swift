import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// Ids of other types than `String`, and references to other documents.
@Suite struct DocumentKeyTests {
  struct ISBN: RawRepresentable, DocumentKey { let rawValue: String }
  enum Slot: Int, DocumentKey { case left = 1, right }
  struct Version: LosslessStringConvertible, DocumentKey {
    let description: String
    init?(_ description: String) {
      guard description.hasPrefix("v") else { return nil }
      self.description = description
    }
  }

  struct Item<ID: DocumentKey>: DocumentModel, Equatable {
    var id: ID
    var revision: RevisionID?
    var name = ""
  }

  struct Person: DocumentModel, Equatable {
    var id = UUID()
    var revision: RevisionID?
    var name: String
    var boss: Reference<Person>?
    var friends: [Reference<Person>] = []
  }

  struct Shelf: DocumentModel {
    var id = 1
    var revision: RevisionID?
    var tools: Set<Reference<Tool>> = []
  }

  struct Tool: DocumentModel {
    var id: Int
    var revision: RevisionID?
    var shelf: Reference<Shelf>?
  }

  private static func expectStored<ID: DocumentKey>(_ id: ID, as text: String) throws {
    try withTemporaryDatastore { store in
      let saved = try store.save(Item(id: id, name: "a"))
      #expect(saved.id == id)
      let document = try store.document(withID: text)
      #expect(document.body == ["name": "a"])
      #expect(try document.decode(Item<ID>.self) == saved)
      #expect(try store.update(Item<ID>.self, where: { $0.id == id }, .set(\.name, "b")) == 1)
      let changed = try store.document(withID: id, as: Item<ID>.self)
      #expect(changed.id == id && changed.revision?.generation == 2)
      #expect(throws: DatastoreError.self) { try store.save(Item(id: id)) }
      try store.delete(changed)
      #expect(try store.read { try $0.documentCount() } == 0)
    }
  }

  @Test func `an id is stored as its text`() throws {
    try Self.expectStored("a", as: "a")
    try Self.expectStored(-7, as: "-7")
    try Self.expectStored(UInt64.max, as: "18446744073709551615")
    try Self.expectStored(Int64.min, as: "-9223372036854775808")
    let key = try #require(UUID(uuidString: "0000000a-0000-0000-0000-000000000001"))
    try Self.expectStored(key, as: "0000000A-0000-0000-0000-000000000001")
    try Self.expectStored(ISBN(rawValue: "978-3"), as: "978-3")
    try Self.expectStored(Slot.right, as: "2")
    try Self.expectStored(#require(Version("v1.2")), as: "v1.2")
  }

  @Test func `another text is not the id of a model`() throws {
    func expectError<ID: DocumentKey>(_ type: ID.Type, _ id: String) throws {
      try withTemporaryDatastore { store in
        let document = try store.createDocument(from: DocumentDraft(id: id, body: ["name": "a"]))
        let error = #expect(throws: DatastoreError.self) { try document.decode(Item<ID>.self) }
        #expect(error?.code == .undecodable && error?.documentID == id)
      }
    }
    for id in ["007", "+7", "seven", "7.0", "99999999999999999999"] { try expectError(Int.self, id) }
    try expectError(UUID.self, "0000000a-0000-0000-0000-000000000001")
    try expectError(Slot.self, "3")
    try expectError(Version.self, "1.2")
    try withTemporaryDatastore { store in
      let document = try store.createDocument(from: DocumentDraft(id: "007", body: ["name": "a"]))
      let error = #expect(throws: DatastoreError.self) { try document.decode(Item<Int>.self) }
      #expect(
        error?.message
          == #"document "007" can't be decoded as Item<Int>: its id is not one that Int writes; select only the documents of the "#
          + "type, or give it ids of another type")
    }
  }

  @Test func `a member named id or _id has no effect`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "5", body: ["name": "a", "id": "x"]))
      var item = try store.document(withID: "5").decode(Item<Int>.self)
      #expect(item.id == 5)
      item.name = "b"
      try store.save(item)
      #expect(try store.document(withID: "5").body == ["name": "b", "id": "x"])
    }
  }

  @Test func `a reference is stored as the text of the id`() throws {
    try withTemporaryDatastore { store in
      let anna = try store.save(Person(name: "Anna"))
      var ben = Person(name: "Ben", boss: Reference(anna), friends: [Reference(id: anna.id)])
      ben = try store.save(ben)
      let body = try store.document(withID: ben.id.uuidString).body
      #expect(body["boss"] == .string(anna.id.uuidString) && body["friends"] == [.string(anna.id.uuidString)])
      #expect(ben.boss?.id == anna.id && ben.boss == ben.friends.first)
      ben.boss = nil
      #expect(try store.save(ben).boss == nil)
      let shelf = try store.save(Shelf(tools: [Reference(id: 1), Reference(id: 2)]))
      #expect(shelf.tools == [Reference(id: 2), Reference(id: 1)])
    }
  }

  @Test func `a text that is not an id is not a reference`() throws {
    try withTemporaryDatastore { store in
      let document = try store.createDocument(from: DocumentDraft(id: "1", body: ["shelf": "01"]))
      let error = #expect(throws: DatastoreError.self) { try document.decode(Tool.self) }
      #expect(
        error?.message
          == #"document "1" can't be decoded as Tool: shelf: "01" is not the id of a Shelf, which is of the type Int; correct the "#
          + "document, or accept the value in the init(from:) of its type, as docs/models.md#values-that-a-type-does-not-know shows"
      )
    }
  }

  struct Wrapper<Content: Codable & Sendable>: Codable { var content: Content? }

  struct Holder<Content: Codable & Sendable>: DocumentModel {
    var id = "h"
    var revision: RevisionID?
    var content: Content
  }

  @Test func `a model inside a model is not saved`() throws {
    func error(_ content: some Codable & Sendable) throws -> DatastoreError? {
      var error: DatastoreError?
      try withTemporaryDatastore { store in
        error = #expect(throws: DatastoreError.self) { try store.save(Holder(content: content)) }
        let count = try store.read { try $0.documentCount() }
        #expect(count == 0)
      }
      return error
    }
    let tool = Tool(id: 1)
    let direct = try error(tool)
    #expect(direct?.code == .invalidBody && direct?.documentID == "h")
    #expect(
      direct?.message
        == #"the property "content" of document "h" is a model inside a model, a copy that is never updated; store a "#
        + "Reference<Tool>, or for a copy a Codable type that is not a DocumentModel")
    #expect(try error([tool])?.message.contains(#""content[0]""#) == true)
    #expect(try error(["a": tool])?.message.contains(#""content.a""#) == true)
    #expect(try error(Tool?.some(tool))?.message.contains(#""content""#) == true)
    #expect(try error(Wrapper(content: tool))?.message.contains(#""content.content""#) == true)
    try withTemporaryDatastore { store in
      let (none, empty) = (Holder(content: Tool?.none), Holder(id: "i", content: [Tool]()))
      let reference = try store.save(Holder(id: "j", content: Reference(tool)))
      #expect(try store.save(none).revision != nil && store.save(empty).revision != nil)
      #expect(reference.content.id == 1)
      // What a document has already is read, and refused when it is changed.
      let body: JSONObject = ["content": ["id": 1]]
      try store.createDocument(from: DocumentDraft(id: "k", body: body))
      var old = try store.document(withID: "k").decode(Holder<Tool>.self)
      old.content.id = 2
      #expect(throws: DatastoreError.self) { try store.save(old) }
    }
  }

  @Test func `conflicts are resolved for ids of the type`() throws {
    try withTemporaryDatastore { store in
      let first = try #require(RevisionID("1-a"))
      for id in ["1", "2", "x"] {
        for revision in ["2-b", "2-c"] {
          let leaf = try #require(RevisionID(revision))
          let document = DocumentRevision(id: id, revisionID: leaf, body: ["name": .string(revision)])
          try store.write { try $0.forceInsert(document, history: [leaf, first]) }
        }
      }
      let count = try store.write { try $0.resolveConflicts(Item<Int>.self, ids: [1]) { $0.first } }
      #expect(count == 1)
      var errors: [String?] = []
      let all = try store.write { transaction in
        try transaction.resolveConflicts(Item<Int>.self, undecodable: { errors.append($0.documentID) }) {
          $0.first
        }
      }
      #expect(all == 1 && errors == ["x"])
      #expect(try store.read { try $0.conflictedDocumentIDs() } == ["x"])
    }
  }
}
