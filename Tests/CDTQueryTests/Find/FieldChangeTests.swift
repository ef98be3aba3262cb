import CDTDatastore
import CDTJSON
import CDTQuery
import CDTRandomDocuments
import CDTTestSupport
import Foundation
import Testing

@Suite struct FieldChangeTests {
  /// A change, a body, and the body that it makes of it; `nil` if the change does not fit.
  struct Case: Sendable, CustomTestStringConvertible {
    let change: FieldChange
    let body: String
    let result: String?
    var testDescription: String { "\(change) of \(body)" }

    init(_ change: FieldChange, _ body: String, _ result: String?) {
      (self.change, self.body, self.result) = (change, body, result)
    }
  }

  static let cases = [
    Case(.set("a", 1), "{}", #"{"a":1}"#),
    Case(.set("a.b", "x"), #"{"a":{"c":1.10}}"#, #"{"a":{"c":1.10,"b":"x"}}"#),
    Case(.set("a.b.c", true), "{}", #"{"a":{"b":{"c":true}}}"#),
    Case(.set("a.1", 5), #"{"a":[1,2]}"#, #"{"a":[1,5]}"#),
    Case(.set("a.2", 5), #"{"a":[1,2]}"#, nil),
    Case(.set("a.b", 5), #"{"a":[{"b":1}]}"#, nil),
    Case(.set("a.b", 5), #"{"a":1}"#, nil),
    Case(.set("a", 1.0), #"{"a":1}"#, #"{"a":1.0}"#),
    Case(.set("a\\.b", JSONValue.null), "{}", #"{"a.b":null}"#),
    Case(.unset("a"), #"{"a":1,"b":2}"#, #"{"b":2}"#),
    Case(.unset("a.b"), #"{"a":{"b":1}}"#, #"{"a":{}}"#),
    Case(.unset("a.b"), "{}", "{}"),
    Case(.unset("a.0"), #"{"a":[1]}"#, nil),
    Case(.unset("a.b"), #"{"a":1}"#, #"{"a":1}"#),
    Case(.unset("a.b.c"), #"{"a":{"b":"x"}}"#, #"{"a":{"b":"x"}}"#),
    Case(.unset("a.b"), #"{"a":[{"b":1}]}"#, #"{"a":[{"b":1}]}"#),
    Case(.unset("a.3"), #"{"a":[1]}"#, #"{"a":[1]}"#),
    Case(.remove("a.b", 1), #"{"a":null}"#, #"{"a":null}"#),
    Case(.rename("a", to: "b"), #"{"a":1,"c":2}"#, #"{"c":2,"b":1}"#),
    Case(.rename("a", to: "b"), #"{"a":null,"b":2}"#, #"{"b":null}"#),
    Case(.rename("a", to: "b"), #"{"b":2}"#, #"{"b":2}"#),
    Case(.rename("a.b", to: "c.d.e"), #"{"a":{"b":1.10}}"#, #"{"a":{},"c":{"d":{"e":1.10}}}"#),
    Case(.rename("a.1.b", to: "a.0.c"), #"{"a":[{},{"b":1}]}"#, #"{"a":[{"c":1},{}]}"#),
    Case(.rename("a.b", to: "c"), #"{"a":[{"b":1}]}"#, #"{"a":[{"b":1}]}"#),
    Case(.rename("a.0", to: "c"), #"{"a":[1]}"#, nil),
    Case(.rename("a", to: "b.c"), #"{"a":1,"b":2}"#, nil),
    Case(.rename("a\\.b", to: "a.b"), #"{"a.b":1}"#, #"{"a":{"b":1}}"#),
    Case(.increment("a"), "{}", #"{"a":1}"#),
    Case(.increment("a", by: -2), #"{"a":1}"#, #"{"a":-1}"#),
    Case(.increment("a", by: 1), #"{"a":9223372036854775807}"#, nil),
    Case(.increment("a", by: 1), #"{"a":18446744073709551615}"#, nil),
    Case(.increment("a", by: 0.5), #"{"a":18446744073709551615}"#, nil),
    Case(.increment("a", by: 0.5), #"{"a":1.10}"#, #"{"a":1.6}"#),
    Case(.increment("a", by: 1), #"{"a":1e3}"#, #"{"a":1001}"#),
    Case(.increment("a", by: 1e308), #"{"a":1.7e308}"#, nil),
    Case(.increment("a"), #"{"a":"1"}"#, nil),
    Case(.increment("a"), #"{"a":null}"#, nil),
    Case(.append("a", 1), "{}", #"{"a":[1]}"#),
    Case(.append("a.0", 1), #"{"a":[[]]}"#, #"{"a":[[1]]}"#),
    Case(.append("a", 1), #"{"a":{}}"#, nil),
    Case(.remove("a", 1), #"{"a":[1,"1",1.0,2]}"#, #"{"a":["1",2]}"#),
    Case(.remove("a", 1), "{}", "{}"),
    Case(.remove("a", 1), #"{"a":"1"}"#, nil),
  ]

  @Test(arguments: cases)
  func `makes a revision or names what does not fit`(_ item: Case) throws {
    try withTemporaryDatastore { store in
      let body = try JSONObject(parsing: item.body)
      let created = try store.createDocument(from: DocumentDraft(id: "doc", body: body))
      guard let result = item.result else {
        let error = #expect(throws: QueryError.self) {
          try store.write { try $0.update(matching: [:], item.change) }
        }
        #expect(error?.code == .invalidChange)
        #expect(error?.message.contains("\"doc\"") == true)
        #expect(try store.document(withID: "doc") == created)
        return
      }
      let count = try store.write { try $0.update(matching: [:], item.change) }
      let changed = try store.document(withID: "doc")
      #expect(changed.body.text == result)
      #expect(count == (result == item.body ? 0 : 1))
      #expect(changed.revisionID.generation == 1 + count)
    }
  }

  @Test(arguments: [
    (FieldChange.set("_id", "x"), QueryError.Code.invalidChange),
    (.set("a..b", 1), .invalidPath), (.set("", 1), .invalidPath), (.unset("$a"), .invalidPath),
    (.increment("a", by: "1"), .invalidChange),
    (.rename("a", to: "a"), .invalidChange), (.rename("a", to: "a.b"), .invalidChange),
    (.rename("a.b", to: "a"), .invalidChange), (.rename("a", to: "_id"), .invalidChange),
    (.rename("_id", to: "a"), .invalidChange), (.rename("a", to: "b..c"), .invalidPath),
    (.set(String(repeating: "a.", count: 101) + "a", 1), .invalidPath),
  ])
  func `an invalid change changes nothing`(_ change: FieldChange, _ code: QueryError.Code) throws {
    try withTemporaryDatastore { store in
      let created = try store.createDocument(from: DocumentDraft(id: "doc", body: [:]))
      let error = #expect(throws: QueryError.self) {
        try store.write { try $0.update(matching: [:], .set("b", 1), change) }
      }
      #expect(error?.code == code)
      #expect(try store.document(withID: "doc") == created)
    }
  }

  @Test func `a number that JSON can't represent is refused`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "doc", body: [:]))
      #expect(throws: DatastoreError.self) {
        try store.write { try $0.update(matching: [:], .set("a", Double.nan)) }
      }
    }
  }

  @Test func `attachments and other leaves stay`() throws {
    try withTemporaryDatastore { store in
      let draft = DocumentDraft(
        id: "doc", body: ["a": 1],
        attachments: [
          "x.txt": DocumentAttachment(data: Data("x".utf8), name: "x.txt", contentType: "text/plain")
        ])
      let created = try store.createDocument(from: draft)
      let other = RevisionID(generation: 1, suffix: String(repeating: "0", count: 32))
      try store.write {
        try $0.forceInsert(DocumentRevision(id: "doc", revisionID: other, body: ["a": 2]), history: [])
      }
      #expect(try store.write { try $0.update(matching: ["a": 1], .set("b", 1)) } == 1)
      let changed = try store.document(withID: "doc")
      #expect(changed.attachments == created.attachments)
      #expect(
        try store.read { try $0.currentRevisions(ofDocument: "doc") }.map(\.revisionID) == [
          changed.revisionID, other,
        ])
      #expect(try store.write { try $0.delete(matching: ["b": 1]) } == 1)
      #expect(try store.document(withID: "doc").revisionID == other)
    }
  }

  /// The documents that a query finds are those that are changed, and nothing else is.
  @Test(arguments: 0..<20)
  func `changes exactly the matches`(round: UInt64) throws {
    var random = RandomDocuments(seed: round, scope: .everything)
    try withTemporaryDatastore { store in
      if round % 2 == 0 { try store.ensureIndexed(["a"]) }
      for number in 0..<30 {
        try store.createDocument(from: DocumentDraft(id: "d\(number)", body: random.body()))
      }
      for _ in 0..<10 {
        let selector = try QuerySelector(random.selector())
        let before = Dictionary(uniqueKeysWithValues: try store.find([:]).map { ($0.id, $0) })
        let matches = Set(try store.read { try $0.documentIDs(Query(selector)) })
        let count = try store.write {
          try $0.update(matching: Query(selector), [.increment("changed by tests")])
        }
        #expect(count == matches.count)
        for document in try store.find([:]) {
          let known = try #require(before[document.id])
          #expect((document.revisionID != known.revisionID) == matches.contains(document.id))
        }
      }
    }
  }
}
