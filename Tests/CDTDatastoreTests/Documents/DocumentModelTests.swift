import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Testing

/// Models: the id and the revision of their documents, and saving.
@Suite struct DocumentModelTests {
  struct Address: Codable, Equatable {
    var city: String
    var zip: Int?
  }

  struct Person: DocumentModel, Equatable {
    var id = UUID().uuidString
    var revision: RevisionID?
    var name: String
    var age: Int?
    var address: Address?
    var tags: [String] = []
  }

  /// A model with CouchDB's names.
  struct Note: DocumentModel {
    var id: String
    var revision: RevisionID?
    var text: String
    enum CodingKeys: String, CodingKey { case id = "_id", revision = "_rev", text = "body" }
  }

  @Test func `a model comes back as it was saved`() throws {
    try withTemporaryDatastore { store in
      let ana = try store.save(Person(id: "ana", name: "Ana", age: 3))
      let document = try store.document(withID: "ana")
      #expect(document.body.text == #"{"name":"Ana","age":3,"tags":[]}"#)
      #expect(ana.revision == document.revisionID && ana.id == "ana")
      #expect(try document.decode(Person.self) == ana)
      let inferred: Person? = try document.decode()
      #expect(inferred == ana)
      let note = try store.save(Note(id: "note", text: "hello"))
      #expect(try store.document(withID: "note").body == ["body": "hello"])
      let read = try store.document(withID: "note").decode(Note.self)
      #expect(read.revision == note.revision && read.id == "note" && read.text == "hello")
    }
  }

  @Test func `members that the model does not know are kept`() throws {
    try withTemporaryDatastore { store in
      let body: JSONObject = [
        "id": 7, "name": "Ana", "age": 3, "tags": ["a"], "color": "red",
        "address": ["city": "Bern", "street": "Hill"],
      ]
      let file = DocumentAttachment(data: Data("a".utf8), name: "a", contentType: "text/plain")
      try store.createDocument(from: DocumentDraft(id: "ana", body: body, attachments: [file]))
      var ana = try store.document(withID: "ana").decode(Person.self)
      ana.age = nil
      ana.address?.zip = 3000
      ana.tags.append("b")
      ana = try store.save(ana)
      let saved = try store.document(withID: "ana")
      #expect(
        saved.body.text
          == #"{"id":7,"name":"Ana","tags":["a","b"],"color":"red","address":{"city":"Bern","street":"Hill","zip":3000}}"#
      )
      #expect(saved.revisionID == ana.revision && saved.revisionID.generation == 2)
      #expect(saved.attachments["a"] != nil)
      ana.address = nil
      try store.save(ana)
      #expect(try store.document(withID: "ana").body["address"] == nil)
    }
  }

  @Test func `nothing is saved if nothing differs`() throws {
    try withTemporaryDatastore { store in
      var number: JSONObject = ["name": "Ana", "tags": []]
      number["age"] = try JSONValue(parsing: "3.0")
      try store.createDocument(from: DocumentDraft(id: "ana", body: number))
      let ana = try store.document(withID: "ana").decode(Person.self)
      #expect(try store.save(ana) == ana)
      #expect(try store.document(withID: "ana").revisionID.generation == 1)
    }
  }

  @Test func `a conflict is an error, or is merged`() throws {
    try withTemporaryDatastore { store in
      let first = try store.save(Person(id: "ana", name: "Ana"))
      var theirs = first, mine = first
      theirs.age = 4
      mine.tags = ["x"]
      try store.save(theirs)
      let stale = #expect(throws: DatastoreError.self) { try store.save(mine) }
      #expect(stale?.code == .conflict)
      let new = #expect(throws: DatastoreError.self) { try store.save(Person(id: "ana", name: "Other")) }
      #expect(new?.code == .conflict)
      var calls = 0
      let merged = try store.save(mine) { stored, mine in
        calls += 1
        var merged = mine
        merged.age = stored.age
        return merged
      }
      #expect(merged.age == 4 && merged.tags == ["x"] && merged.revision?.generation == 3 && calls == 1)
      #expect(try store.document(withID: "ana").decode(Person.self) == merged)
      let replaced = try store.save(Person(id: "ana", name: "Other")) { _, mine in mine }
      #expect(replaced.name == "Other" && replaced.age == nil && replaced.revision?.generation == 4)
      try store.save(merged) { stored, _ in stored }
      #expect(try store.document(withID: "ana").revisionID.generation == 4)
      #expect(throws: CancellationError.self) { try store.save(mine) { _, _ in throw CancellationError() } }
    }
  }

  @Test func `a deleted document is saved again only as a new one`() throws {
    try withTemporaryDatastore { store in
      var ana = try store.save(Person(id: "ana", name: "Ana"))
      try store.deleteDocument(withID: "ana")
      for merge in [nil, { (_: Person, mine: Person) in mine }] {
        let error = #expect(throws: DatastoreError.self) { try store.save(ana, merge: merge) }
        #expect(error?.code == .notFound)
      }
      ana.revision = nil
      #expect(try store.save(ana).revision?.generation == 3)
      let missing = Person(id: "none", revision: RevisionID("1-a"), name: "")
      #expect(throws: DatastoreError.self) { try store.save(missing) }
      #expect(throws: DatastoreError.self) { try store.save(Person(id: "", name: "")) }
    }
  }

  @Test func `a losing revision can be saved`() throws {
    try withTemporaryDatastore { store in
      let first = try store.save(Person(id: "ana", name: "Ana"))
      guard let root = first.revision,
        let (low, high) = RevisionID("2-a").flatMap({ low in RevisionID("2-f").map { (low, $0) } })
      else { return #expect(Bool(false)) }
      for revision in [low, high] {
        let document = DocumentRevision(
          id: "ana", revisionID: revision, body: ["name": "\(revision)", "tags": []])
        try store.write { try $0.forceInsert(document, history: [revision, root]) }
      }
      var losing = try store.read { try $0.document(withID: "ana", revisionID: low) }.decode(Person.self)
      losing.age = 1
      losing = try store.save(losing)
      #expect(losing.revision?.generation == 3)
      #expect(try store.document(withID: "ana").decode(Person.self) == losing)
    }
  }

  private static let accept =
    "correct the document, or accept the value in the init(from:) of its type, as docs/models.md#values-that-a-type-does-not-know shows"

  /// A type with a decoding of its own.
  struct Port: Codable {
    struct Refused: Error, CustomStringConvertible { let description = "the port is taken" }
    init() {}
    init(from decoder: any Decoder) throws { throw Refused() }
  }

  enum Level: Int, Codable { case low = 1, high }

  struct Device: DocumentModel {
    var id: String
    var revision: RevisionID?
    var level = Level.low
    var name = ""
    var port: Port?
  }

  @Test func `an error of decoding has a remedy that works`() throws {
    try withTemporaryDatastore { store in
      let cases: [(JSONObject, String)] = [
        (
          ["level": 9, "name": "a"], "level: Cannot initialize Level from invalid Int value 9; \(Self.accept)"
        ),
        (["level": 1, "name": 7], "name: expected a string, found a number; \(Self.accept)"),
        (["level": 1, "name": "a", "port": 80], "the port is taken; \(Self.accept)"),
        (
          ["level": 1, "name": nil],
          "name: expected a string, found null; correct the document, or make the property optional"
        ),
        (
          ["level": 1],
          #"there is no member "name"; add it to the document, make the property optional, or give its type a "#
            + "default with HasDefaults"
        ),
      ]
      for (body, message) in cases {
        let document = try store.createDocument(from: DocumentDraft(body: body))
        let expected = "document \(JSONValue.string(document.id).text) can't be decoded as Device: \(message)"
        for decode in [{ _ = try document.decode(Device.self) }, { let _: Device? = try document.decode() }] {
          let error = #expect(throws: DatastoreError.self) { try decode() }
          #expect(error?.message == expected && error?.documentID == document.id)
        }
      }
    }
  }

  @Test func `an error of decoding names the document and the member`() throws {
    try withTemporaryDatastore { store in
      let body: JSONObject = ["name": "Ana", "tags": ["a", 2]]
      let document = try store.createDocument(from: DocumentDraft(id: "ana", body: body))
      let error = #expect(throws: DatastoreError.self) { try document.decode(Person.self) }
      #expect(error?.code == .undecodable && error?.documentID == "ana")
      #expect(
        error?.message
          == #"document "ana" can't be decoded as Person: tags[1]: expected a string, found a number; "#
          + Self.accept)
      let person = Person(id: "ana", revision: document.revisionID, name: "Eva")
      #expect(throws: DatastoreError.self) { try store.save(person) }
    }
  }

  struct Event: DocumentModel, Equatable {
    var id = UUID().uuidString
    var revision: RevisionID?
    var at: Date
    var amount = 0.5
    var isSelected = false
    enum CodingKeys: CodingKey { case id, revision, at, amount }
  }

  /// Encodes what it can't decode.
  struct OneWay: DocumentModel {
    var id: String
    var revision: RevisionID?
    var count: Int

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode("\(count)", forKey: .count)
    }
  }

  @Test func `save returns what is stored`() async throws {
    let manager = try DatastoreManager.inMemory()
    let store = try await manager.datastore(named: "store")
    let at = Date(timeIntervalSince1970: 1.23456789)
    var event = try await store.save(Event(id: "e", at: at, isSelected: true))
    #expect(try await store.document(withID: "e").decode(Event.self) == event)
    #expect(event.at != at && abs(event.at.timeIntervalSince(at)) < 0.001 && !event.isSelected)
    event.at = at + 5
    event = try await store.save(event) { _, mine in mine }
    #expect(try await store.document(withID: "e").decode(Event.self) == event)
    #expect(event.revision?.generation == 2)
    event.isSelected = true
    event.at += 0.0001
    event = try await store.save(event)
    #expect(try await store.document(withID: "e").decode(Event.self) == event)
    #expect(event.revision?.generation == 2)
  }

  @Test func `a model that can't be read back is not saved`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        let error = #expect(throws: DatastoreError.self) { try transaction.save(OneWay(id: "a", count: 1)) }
        #expect(error?.code == .undecodable)
      }
      #expect(try store.read { try $0.documentCount() } == 0)
    }
  }

  @Test func `a model is deleted unless its document has changed`() async throws {
    try withTemporaryDatastore { store in
      let ana = try store.save(Person(id: "ana", name: "Ana"))
      var older = ana
      older.age = 4
      older = try store.save(older)
      let stale = #expect(throws: DatastoreError.self) { try store.delete(ana) }
      #expect(stale?.code == .conflict)
      try store.delete(older)
      let gone = #expect(throws: DatastoreError.self) { try store.delete(older) }
      #expect(gone?.code == .conflict)
      let new = #expect(throws: DatastoreError.self) { try store.delete(Person(id: "eva", name: "Eva")) }
      #expect(
        new?.message == #"the model of document "eva" has no revision; delete a model that was read or saved"#
      )
      #expect(try store.read { try $0.documentCount() } == 0)
    }
    let manager = try DatastoreManager.inMemory()
    let store = try await manager.datastore(named: "store")
    try await store.delete(store.save(Person(id: "ana", name: "Ana")))
    #expect(try await store.read { try $0.documentCount() } == 0)
  }

  @Test func `a conflict with a version that can't be decoded is left and reported`() throws {
    try withTemporaryDatastore { store in
      let first = try #require(RevisionID("1-a"))
      for (id, bad) in [("ana", true), ("eva", false)] {
        for revision in ["2-b", "2-c"] {
          let body: JSONObject = ["name": bad && revision == "2-b" ? 5 : "x", "tags": [.string(revision)]]
          let leaf = try #require(RevisionID(revision))
          let document = DocumentRevision(id: id, revisionID: leaf, body: body)
          try store.write { try $0.forceInsert(document, history: [leaf, first]) }
        }
      }
      var errors: [String?] = []
      let count = try store.write { transaction in
        try transaction.resolveConflicts(Person.self, undecodable: { errors.append($0.documentID) }) { $0[0] }
      }
      #expect(count == 1 && errors == ["ana"])
      #expect(try store.read { try $0.conflictedDocumentIDs() } == ["ana"])
    }
  }

  @Test func `many models are saved in one transaction`() async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let manager = try DatastoreManager(directory: directory)
    let store = try await manager.datastore(named: "store")
    let people = (0..<10).map { Person(id: "p\($0)", name: "\($0)") }
    let saved = try await store.write { transaction in try people.map { try transaction.save($0) } }
    #expect(saved.allSatisfy { $0.revision?.generation == 1 })
    let changed = try await store.save(saved[0]) { _, mine in mine }
    #expect(changed == saved[0])
    manager.close()
  }

  @Test func `conflicts of models are merged`() throws {
    try withTemporaryDatastore { store in
      let first = try #require(RevisionID("1-a"))
      for (revision, name) in [("2-b", "Ana"), ("2-c", "Anna"), ("2-d", "Änne")] {
        let body: JSONObject = ["name": .string(name), "tags": [.string(revision)], "color": .string(name)]
        let leaf = try #require(RevisionID(revision))
        for id in ["ana", "eva"] {
          let document = DocumentRevision(id: id, revisionID: leaf, body: body)
          try store.write { try $0.forceInsert(document, history: [leaf, first]) }
        }
      }
      let count = try store.write { transaction in
        try transaction.resolveConflicts(Person.self) { versions -> Person? in
          guard versions[0].id == "ana" else { return nil }
          var merged = versions[0]
          merged.tags = versions.flatMap(\.tags)
          return merged
        }
      }
      #expect(count == 1)
      #expect(
        try store.document(withID: "ana").body.text
          == #"{"name":"Änne","tags":["2-d","2-c","2-b"],"color":"Änne"}"#)
      #expect(try store.read { try $0.conflictedDocumentIDs() } == ["eva"])
    }
  }
}
