import CDTDatastore
import CDTImport
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// The examples of `docs/api-tour.md`, each as it stands there.
@Suite struct ApiTourTests {

  @Test func `ten tasks`() async throws {
    let path = try temporaryDirectory()
    defer { removeDirectory(path) }
    let (file, jsonLines) = ("\(path)/map.png", "\(path)/todos.jsonl")
    try Data("a map".utf8).write(to: URL(filePath: file))
    try Data(#"{"_id":"milk","completed":false}"#.utf8).write(to: URL(filePath: jsonLines))
    let text = "Buy oat milk"
    let (shown, continuation) = AsyncStream<String>.makeStream()
    @Sendable func show(_ id: String, _ isDeleted: Bool) { continuation.yield(id) }

    let manager = try DatastoreManager(directory: path)
    let store = try await manager.datastore(named: "todos")

    struct Todo: Codable {
      var description: String
      var completed = false
      var created = Date.now
    }

    let draft = try DocumentDraft(id: "milk", encoding: Todo(description: "Buy milk"))
    let milk = try await store.createDocument(from: draft)
    print(milk.id, milk.revisionID.generation)  // milk 1
    #expect(milk.revisionID.generation == 1)

    do {
      let todo = try await store.document(withID: "milk")
      print(todo.body["description"]?.stringValue ?? "")
    } catch let error as DatastoreError where error.code == .notFound {
      print("nothing to do")
    }

    try await store.updateDocument(withID: "milk") { todo in
      todo.body["completed"] = true
    }

    var todo = try await store.document(withID: "milk")
    while true {
      todo.body["description"] = text
      do {
        todo = try await store.updateDocument(from: todo)
        break
      } catch let error as DatastoreError where error.code == .conflict {
        todo = try await store.document(withID: "milk")
      }
    }
    #expect(todo.body["description"] == "Buy oat milk" && todo.body["completed"] == true)
    try await store.createDocument(from: DocumentDraft(encoding: Todo(description: "Bake")))

    let since = Date.now - 86_400
    let recent = try await store.find(["created": ["$gte": since], "completed": false])
    #expect(recent.count == 1)

    let late = try await store.find(
      Todo.self, where: { !$0.completed && $0.created < since }, sort: \.created.descending)
    #expect(late.isEmpty)

    try await store.ensureIndexed(["completed", .descending("created")])
    let page = try await store.find(
      ["completed": false], skip: 20, limit: 10, sort: ["completed", .descending("created")])
    #expect(page.isEmpty)

    let open = try await store.find(Todo.self, ["completed": false], sort: ["created"])
    print(open.map(\.description))
    #expect(open.map(\.description) == ["Bake"])

    let observer = Task {
      for try await changes in store.liveChanges() {
        for change in changes.documents { show(change.id, change.isDeleted) }
      }
    }
    var ids = shown.makeAsyncIterator()
    #expect(await ids.next() == "milk")

    var picnic = try await store.createDocument(from: DocumentDraft(id: "picnic", body: [:]))
    picnic.attachments["map.png"] = DocumentAttachment(file: file, name: "map.png", contentType: "image/png")
    picnic = try await store.updateDocument(from: picnic)
    let map = try await picnic.attachments["map.png"]?.data()
    #expect(map == Data("a map".utf8))

    for (text, edited) in [("1-a", 2), ("1-b", 1)] {
      let revisionID = try #require(RevisionID(text))
      let body = JSONObject(["edited": edited])
      try await store.write {
        try $0.forceInsert(DocumentRevision(id: "party", revisionID: revisionID, body: body))
      }
    }
    for id in try await store.read({ try $0.conflictedDocumentIDs() }) {
      try await store.write { transaction in
        try transaction.resolveConflicts(for: id) { _, leaves in
          leaves.max { ($0.body["edited"]?.intValue ?? 0) < ($1.body["edited"]?.intValue ?? 0) }
        }
      }
    }
    #expect(try await store.document(withID: "party").body["edited"] == 2)

    var importer = DocumentImporter(into: store)
    importer.onConflict = .replace
    let report = try await importer.run([jsonLines])
    print(report.imported, report.replaced)
    #expect(report.imported == 0 && report.replaced == 1)

    try await store.write { transaction in
      for name in ["bread", "butter", "jam"] {
        try transaction.createDocument(from: DocumentDraft(id: name, body: ["completed": false]))
      }
    }
    #expect(try await store.count(["completed": false]) == 5)

    try await manager.closeDatastore(named: "todos")
    try await observer.value
  }

  @Test func `every example of the page is code of this file`() throws {
    try expectExamples(of: "api-tour.md", in: #filePath, atLeast: 13)
  }
}
