import CDTDatastore
import CDTJSON
import CDTSQLite
import CDTTestSupport
import Synchronization
import Testing

@Suite struct DocumentTests {
  @Test func `a document is created, read, updated and deleted`() throws {
    try withTemporaryDatastore { store in
      var task = try store.createDocument(from: DocumentDraft(id: "a", body: ["done": false]))
      #expect(task.revisionID.generation == 1)
      #expect(try store.document(withID: "a") == task)
      task.body["done"] = true
      let updated = try store.updateDocument(from: task)
      #expect(updated.revisionID.generation == 2)
      #expect(try store.document(withID: "a") == updated)
      #expect(try store.document(withID: "a").body == ["done": true])
      let tombstone = try store.deleteDocument(from: updated)
      #expect(tombstone.isDeleted)
      #expect(tombstone.revisionID.generation == 3)
      #expect(tombstone.body == [:])
      #expect(try store.read { try $0.documentCount() } == 0)
    }
  }

  @Test func `a missing id is made`() throws {
    try withTemporaryDatastore { store in
      let ids = try (0..<3).map { _ in try store.createDocument(from: DocumentDraft(body: [:])).id }
      #expect(Set(ids).count == 3)
      #expect(ids.allSatisfy { $0.count == 36 })
    }
  }

  @Test(arguments: ["_design/x", "a_b", " ", "a/b", "é\0\n\"", "💩", String(repeating: "x", count: 10_000)])
  func `an id of any other kind is taken`(_ id: String) throws {
    try withTemporaryDatastore { store in
      let saved = try store.createDocument(from: DocumentDraft(id: id, body: ["a": 1]))
      #expect(try store.document(withID: id) == saved)
      #expect(try store.read { try $0.allDocumentIDs() } == [id])
      #expect(try store.changes().documents.map(\.id) == [id])
    }
  }

  @Test func `two spellings of a character are two ids`() throws {
    try withTemporaryDatastore { store in
      let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
      try store.createDocument(from: DocumentDraft(id: composed, body: ["n": 1]))
      try store.createDocument(from: DocumentDraft(id: decomposed, body: ["n": 2]))
      #expect(try store.document(withID: composed).body["n"] == 1)
      #expect(try store.document(withID: decomposed).body["n"] == 2)
      #expect(try store.documents(withIDs: [decomposed, composed]).map { $0.body["n"] } == [2, 1])
      #expect(try store.read { try $0.documentCount() } == 2)
    }
  }

  @Test func `the same id in another datastore is fine`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      for name in ["a", "b"] {
        try manager.datastore(named: name).createDocument(from: DocumentDraft(id: "x", body: [:]))
      }
      #expect(try manager.datastore(named: "b").read { try $0.documentCount() } == 1)
    }
  }

  @Test func `a deleted document is continued by creating it again`() throws {
    try withTemporaryDatastore { store in
      let first = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      let tombstone = try store.deleteDocument(from: first)
      let again = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 2]))
      #expect(again.revisionID.generation == 3)
      #expect(try store.document(withID: "a") == again)
      #expect(try store.read { try $0.documentCount() } == 1)
      #expect(
        try store.read { try $0.revisionHistory(of: again) }.map(\.revisionID) == [
          again.revisionID, tombstone.revisionID, first.revisionID,
        ])
    }
  }

  @Test func `a tombstone given a body is continued too`() throws {
    try withTemporaryDatastore { store in
      let first = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      let tombstone = try store.deleteDocument(from: first)
      let again = try store.createDocument(from: DocumentDraft(id: tombstone.id, body: ["n": 2]))
      #expect(!again.isDeleted)
      #expect(again.revisionID.generation == 3)
    }
  }

  @Test func `history is newest first, tombstones and bodies with it`() throws {
    try withTemporaryDatastore { store in
      var document = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      var all = [document]
      for number in 2...5 {
        document.body = ["n": .int(Int64(number))]
        document = try store.updateDocument(from: document)
        all.append(document)
      }
      all.append(try store.deleteDocument(from: document))
      let history = try store.read { try $0.revisionHistory(of: all[5]) }
      #expect(history == all.reversed())
      #expect(history.map(\.isDeleted) == [true, false, false, false, false, false])
      #expect(try store.read { try $0.revisionHistory(of: all[2]) } == [all[2], all[1], all[0]])
    }
  }

  @Test func `every kept revision is read by its id`() throws {
    try withTemporaryDatastore { store in
      let first = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      var changed = first
      changed.body = ["n": 2]
      let second = try store.updateDocument(from: changed)
      let tombstone = try store.deleteDocument(from: second)
      for revision in [first, second, tombstone] {
        #expect(try store.read { try $0.document(withID: "a", revisionID: revision.revisionID) } == revision)
      }
    }
  }

  @Test func `a compacted revision keeps its place in history, and is not found`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let first = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      let second = try store.updateDocument(from: first)
      try withDatabase(of: "store", in: directory) { try $0.execute("UPDATE revisions SET body = NULL") }
      let history = try store.read { try $0.revisionHistory(of: second) }
      #expect(history.map(\.revisionID) == [second.revisionID, first.revisionID])
      #expect(history.map(\.body) == [["n": 1], [:]])
      #expect(history.map(\.hasBody) == [true, false])
      let revision = first.revisionID
      #expect(
        datastoreError { try store.read { try $0.document(withID: "a", revisionID: revision) } }?.code
          == .notFound)
      #expect(datastoreError { try store.updateDocument(from: history[1]) }?.code == .missingBody)
    }
  }

  @Test func `an update by ids alone is an update`() throws {
    try withTemporaryDatastore { store in
      let first = try store.createDocument(from: DocumentDraft(id: "a", body: ["hello": "world"]))
      let second = try store.write {
        try $0.updateDocument(withID: "a", revisionID: first.revisionID, body: ["hi": "mike"])
      }
      #expect(second.revisionID.description == "2-be2c05cd85b8468ce92b04e001b0e923")
      #expect(
        datastoreError {
          try store.write { try $0.updateDocument(withID: "a", revisionID: first.revisionID, body: [:]) }
        }?
        .code
          == .conflict
      )
    }
  }

  @Test func `several documents come in the order asked, without the unknown, deleted ones flagged`() throws {
    try withTemporaryDatastore { store in
      for id in ["a", "b", "c"] { try store.createDocument(from: DocumentDraft(id: id, body: [:])) }
      try store.deleteDocument(withID: "b")
      let found = try store.documents(withIDs: ["c", "x", "b", "", "a", "c"])
      #expect(found.map(\.id) == ["c", "b", "a", "c"])
      #expect(found.map(\.isDeleted) == [false, true, false, false])
      #expect(try store.documents(withIDs: []) == [])
    }
  }

  struct Page: Sendable, CustomTestStringConvertible {
    let offset: Int
    let limit: Int?
    let isDescending: Bool
    let ids: [String]
    var testDescription: String {
      "offset \(offset), limit \(limit.map(String.init) ?? "none"), \(isDescending)"
    }
  }

  static let pages = [
    Page(offset: 0, limit: nil, isDescending: false, ids: ["B", "a", "c", "d", "é"]),
    Page(offset: 0, limit: nil, isDescending: true, ids: ["é", "d", "c", "a", "B"]),
    Page(offset: 1, limit: 2, isDescending: false, ids: ["a", "c"]),
    Page(offset: 1, limit: 2, isDescending: true, ids: ["d", "c"]),
    Page(offset: 4, limit: 2, isDescending: false, ids: ["é"]),
    Page(offset: 5, limit: 2, isDescending: false, ids: []),
    Page(offset: 0, limit: 0, isDescending: false, ids: []),
    Page(offset: -1, limit: 1, isDescending: false, ids: ["B"]),
    Page(offset: .min, limit: .min, isDescending: false, ids: []),
    Page(offset: 0, limit: -1, isDescending: false, ids: []),
    Page(offset: .max, limit: .max, isDescending: true, ids: []),
    Page(offset: 3, limit: .max, isDescending: false, ids: ["d", "é"]),
    Page(offset: .min, limit: nil, isDescending: true, ids: ["é", "d", "c", "a", "B"]),
  ]

  @Test(arguments: pages) func `a page of all documents counts documents that live`(_ page: Page) throws {
    try withTemporaryDatastore { store in
      for id in ["d", "é", "b", "a", "B", "c"] {
        try store.createDocument(from: DocumentDraft(id: id, body: [:]))
      }
      try store.deleteDocument(withID: "b")
      let found = try store.read {
        try $0.allDocuments(
          offset: page.offset, limit: page.limit, descending: page.isDescending)
      }
      #expect(found.map(\.id) == page.ids)
      #expect(try store.read { try $0.documentCount() } == 5)
    }
  }

  @Test func `members keep the order in which they were written`() throws {
    try withTemporaryDatastore { store in
      let body: JSONObject = ["z": 1, "a": ["y": 1, "b": 2], "é": 3, "m": nil]
      try store.createDocument(from: DocumentDraft(id: "a", body: body))
      let read = try store.document(withID: "a").body
      #expect(read.keys == ["z", "a", "é", "m"])
      #expect(read["a"]?.objectValue?.keys == ["y", "b"])
    }
  }

  @Test func `values come back as they were`() throws {
    try withTemporaryDatastore { store in
      let body: JSONObject = [
        "int": 9_223_372_036_854_775_807, "least": .int(.min), "double": 0.1,
        "tiny": .double(.leastNonzeroMagnitude),
        "big": .double(.greatestFiniteMagnitude), "text": "\u{0}\u{1F}\"\\/\n\u{2028}💩e\u{301}", "null": nil,
        "empty": "", "array": [true, false, [], [:]], "": 1,
      ]
      try store.createDocument(from: DocumentDraft(id: "a", body: body))
      let read = try store.document(withID: "a").body
      #expect(read == body)
      #expect(read["int"] == .int(.max))
      #expect(read["least"] == .int(.min))
    }
  }

  @Test func `a body nested as deep as is allowed is kept`() throws {
    try withTemporaryDatastore { store in
      var value: JSONValue = 1
      for _ in 0..<511 { value = .array([value]) }
      try store.createDocument(from: DocumentDraft(id: "a", body: ["a": value]))
      #expect(try store.document(withID: "a").body == ["a": value])
    }
  }

  @Test func `reads of several statements see one state`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 0]))
      let failures = Mutex<[String]>([])
      onThreads(2) { number in
        do {
          if number == 0 {
            for count in 1...300 {
              try store.updateDocument(withID: "a") { $0.body = ["n": .int(Int64(count))] }
            }
          } else {
            for _ in 0..<600 {
              let document = try store.document(withID: "a")
              guard
                try store.read({ try $0.document(withID: "a", revisionID: document.revisionID) }) == document
              else {
                failures.withLock { $0.append("\(document)") }
                continue
              }
            }
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
      #expect(failures.withLock(\.self) == [])
      let document = try store.document(withID: "a")
      #expect(try store.read { try $0.revisionHistory(of: document) }.count == 301)
    }
  }
}
