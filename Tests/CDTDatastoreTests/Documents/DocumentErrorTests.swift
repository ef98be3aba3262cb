import CDTDatastore
import CDTJSON
import Testing

/// What each use that is refused says, and that it changes nothing.
@Suite struct DocumentErrorTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: DatastoreError.Code
    let message: String
    let use: @Sendable (Fixture) throws -> Void

    init(
      _ testDescription: String, _ code: DatastoreError.Code, _ message: String,
      _ use: @escaping @Sendable (Fixture) throws -> Void
    ) {
      self.testDescription = testDescription
      self.code = code
      self.message = message
      self.use = use
    }
  }

  /// A store with a document of two revisions and a deleted one.
  struct Fixture {
    let store: Datastore
    let first, second, deletedFrom, tombstone: DocumentRevision

    init(_ store: Datastore) throws {
      self.store = store
      first = try store.createDocument(from: DocumentDraft(id: "live", body: ["hello": "world"]))
      var changed = first
      changed.body = ["hi": "mike"]
      second = try store.updateDocument(from: changed)
      deletedFrom = try store.createDocument(from: DocumentDraft(id: "gone", body: ["hello": "world"]))
      tombstone = try store.deleteDocument(from: deletedFrom)
    }

    func create(_ id: String?, _ body: JSONObject) throws {
      try store.createDocument(from: DocumentDraft(id: id, body: body))
    }

    func update(_ body: JSONObject?) throws {
      try store.updateDocument(
        from: DocumentRevision(id: "live", revisionID: second.revisionID, body: body))
    }
  }

  private static let first = "1-1f7588ca02054efe626a6e440a431861"
  private static let second = "2-be2c05cd85b8468ce92b04e001b0e923"
  private static let noBody = "the revision has no body; set one before saving, {} for an empty body"
  private static let notFinite =
    "the body has a number that is infinite or NaN, which JSON can't represent; use null or a string"
  private static let onlySome =
    #"this revision of document "live" has only some of its fields; fetch the document first"#
  private static let notCurrent = " is not a leaf; read the document again and repeat the change"

  private static func nested(_ depth: Int) -> JSONObject {
    var value: JSONValue = 1
    for _ in 0..<depth { value = .array([value]) }
    return ["a": value]
  }

  private static func projected(_ fixture: Fixture) -> DocumentRevision {
    DocumentRevision(
      id: "live", revisionID: fixture.second.revisionID, body: [:], sequence: 2, isProjected: true)
  }

  static let cases: [Case] = [
    Case(
      "create with an empty id", .invalidID, "a document id can't be empty; omit it to have one generated"
    ) {
      try $0.create("", [:])
    },
    Case(
      "create with an underscore", .invalidID,
      #"the id "_x" begins with an underscore, which is reserved for _design/…; choose another"#
    ) {
      try $0.create("_x", [:])
    },
    Case(
      "create an unnamed design document", .invalidID,
      #"the id "_design/" begins with an underscore, which is reserved for _design/…; choose another"#
    ) { try $0.create("_design/", [:]) },
    Case(
      "create with a reserved key", .reservedKey,
      #"the key "_id" begins with an underscore, which is reserved; rename the key"#
    ) { try $0.create("new", ["a": 1, "_id": "x"]) },
    Case("create with NaN", .invalidBody, notFinite) { try $0.create("new", ["a": .double(.nan)]) },
    Case("create with infinity within", .invalidBody, notFinite) {
      try $0.create("new", ["a": [["b": .double(-.infinity)]]])
    },
    Case(
      "create nested too deep", .invalidBody, "the body is nested deeper than 512 levels; flatten it"
    ) { try $0.create("new", nested(512)) },
    Case(
      "create what is there", .conflict,
      #"document "live" already exists; update its current revision instead"#
    ) { try $0.create("live", [:]) },
    Case("create a copy of a projected revision", .invalidRevision, onlySome) {
      try $0.store.createDocument(from: DocumentDraft(copying: projected($0), id: "new"))
    },
    Case("update without a body", .missingBody, noBody) { try $0.update(nil) },
    Case(
      "update with a reserved key", .reservedKey,
      #"the key "_" begins with an underscore, which is reserved; rename the key"#
    ) { try $0.update(["_": 1]) },
    Case("update with NaN", .invalidBody, notFinite) { try $0.update(["a": .double(.nan)]) },
    Case("update of an old revision", .conflict, #"revision \#(first) of document "live""# + notCurrent) {
      try $0.store.updateDocument(from: $0.first)
    },
    Case(
      "update after a deletion with the old revision", .conflict,
      #"revision \#(first) of document "gone""# + notCurrent
    ) { try $0.store.updateDocument(from: $0.deletedFrom) },
    Case(
      "update of an unknown document", .notFound,
      #"there is no document "new"; check the id, or create it"#
    ) {
      let known = $0.second
      try $0.store.updateDocument(
        from: DocumentRevision(id: "new", revisionID: known.revisionID, body: known.body))
    },
    Case(
      "update with another document's revision", .conflict,
      #"revision \#(second) of document "gone""# + notCurrent
    ) {
      let known = $0.second
      try $0.store.updateDocument(
        from: DocumentRevision(id: "gone", revisionID: known.revisionID, body: known.body))
    },
    Case("update from a projected revision", .invalidRevision, onlySome) {
      try $0.store.updateDocument(from: projected($0))
    },
    Case("delete of an old revision", .conflict, #"revision \#(first) of document "live""# + notCurrent) {
      try $0.store.deleteDocument(from: $0.first)
    },
    Case("delete twice", .conflict, #"revision \#(first) of document "gone""# + notCurrent) {
      try $0.store.deleteDocument(from: $0.deletedFrom)
    },
    Case(
      "delete of an unknown id", .notFound, #"there is no document "new"; check the id, or create it"#
    ) { try $0.store.deleteDocument(withID: "new") },
    Case(
      "delete of a deleted id", .notFound, #"document "gone" is deleted; create it again to reuse the id"#
    ) { try $0.store.deleteDocument(withID: "gone") },
    Case("read of an unknown id", .notFound, #"there is no document "é\n"; check the id, or create it"#) {
      _ = try $0.store.document(withID: "é\n")
    },
    Case("read of a deleted id", .notFound, #"document "gone" is deleted; create it again to reuse the id"#) {
      _ = try $0.store.document(withID: "gone")
    },
    Case(
      "read of an unknown revision", .notFound,
      #"revision 3-x of document "live" is not in the store; read the current revision"#
    ) {
      _ = try $0.store.read {
        try $0.document(withID: "live", revisionID: RevisionID(generation: 3, suffix: "x"))
      }
    },
    Case(
      "history of an unknown revision", .notFound,
      #"revision 3-x of document "live" is not in the store; read the current revision"#
    ) {
      _ = try $0.store.read {
        try $0.revisionHistory(
          of: DocumentRevision(
            id: "live", revisionID: RevisionID(generation: 3, suffix: "x"), body: [:]))
      }
    },
  ]

  @Test(arguments: cases) func `is refused with its message and changes nothing`(_ each: Case) throws {
    try withTemporaryDatastore { store in
      let fixture = try Fixture(store)
      let before = try StoreState(store)
      let error = datastoreError { try each.use(fixture) }
      #expect(error?.code == each.code)
      #expect(error?.message == each.message)
      #expect(try StoreState(store) == before)
    }
  }

  @Test func `an operation that is refused within a write leaves the rest of the write to be kept`() throws {
    try withTemporaryDatastore { store in
      let fixture = try Fixture(store)
      let before = try store.read { try $0.lastSequence() }
      try store.write { transaction in
        try transaction.createDocument(from: DocumentDraft(id: "rest", body: [:]))
        for (id, body): (String, JSONObject) in [("", [:]), ("_x", [:]), ("a", ["_": 1]), ("live", [:])] {
          datastoreError { try transaction.createDocument(from: DocumentDraft(id: id, body: body)) }
        }
        datastoreError { try transaction.updateDocument(from: fixture.first) }
        datastoreError { try transaction.deleteDocument(withID: "gone") }
      }
      #expect(try store.read { try $0.lastSequence() } == before + 1)
      #expect(try store.read { try $0.allDocumentIDs() } == ["live", "rest"])
    }
  }

  struct Status: Sendable {
    let code: DatastoreError.Code
    let status: Int
  }

  static let statuses: [Status] =
    [
      DatastoreError.Code.invalidName, .invalidID, .invalidRevision, .invalidBody, .missingBody, .reservedKey,
      .invalidImport, .invalidAttachment, .invalidResolution,
    ].map { Status(code: $0, status: 400) }
    + [.closed, .nestedWrite, .busy, .corrupt, .newerFormat, .io].map { Status(code: $0, status: 500) }
    + [
      Status(code: .notFound, status: 404), Status(code: .conflict, status: 409),
      Status(code: .full, status: 507),
    ]

  @Test(arguments: statuses) func `a code has the status of CouchDB`(_ each: Status) {
    #expect(DatastoreError(each.code, "").status == each.status)
  }

  @Test func `an error describes itself by its message and its code by its name`() {
    let error = DatastoreError(.conflict, documentID: "a", "text")
    #expect("\(error)" == "text")
    #expect("\(error.code)" == "conflict")
    #expect(error.documentID == "a")
  }

  @Test func `a long name is shown in part`() throws {
    try withTemporaryDatastore { store in
      let error = datastoreError { try store.document(withID: String(repeating: "x", count: 1_000)) }
      let shown = String(repeating: "x", count: 80)
      #expect(error?.message == #"there is no document "\#(shown)…"; check the id, or create it"#)
    }
  }
}
